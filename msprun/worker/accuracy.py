"""How far numbers lie apart.

Rule and table: hicann/cannbot-skills, ops-precision-standard. The error of an element is |actual - golden| /
(|golden| + 1e-7); MERE is its mean, MARE its maximum. Elements of small golden value are left out of both and counted
where their absolute error exceeds a limit of its own. The table ends at fp32; for float64 we take 2**-23, about
torch.testing's 1e-7, and keep the table's steps from it.
"""

from typing import NamedTuple

import torch

CHUNK = 1 << 20
SMALL_DENOMINATOR = 1e-7
SMALL_RATIO = 2


class Threshold(NamedTuple):
    """Of one dtype: pass if MERE < relative and MARE < 10 * relative; `small` and `small_error` are absolute values."""

    relative: float
    small: float
    small_error: float


STANDARD = {
    "float16": Threshold(2**-10, 2**-11, 2**-16),
    "bfloat16": Threshold(2**-7, 2**-8, 2**-16),
    "float32": Threshold(2**-13, 2**-14, 2**-30),
    "float64": Threshold(2**-23, 2**-24, 2**-40),
    "float8_e4m3": Threshold(2**-3, 2**-4, 2**-6),
    "float8_e5m2": Threshold(2**-2, 2**-3, 2**-5),
}
CLOSE = {
    "float16": (1e-3, 1e-5),
    "bfloat16": (1.6e-2, 1e-5),
    "float32": (1.3e-6, 1e-5),
    "float64": (1e-7, 1e-7),
    "float8_e4m3": (2**-3, 2**-6),
    "float8_e5m2": (2**-2, 2**-5),
}


class Errors(NamedTuple):
    """Over the finite elements of one leaf: `worst` is a flat position, `rms` the golden numbers' root mean square."""

    mere: float
    mare: float
    rmse: float
    rms: float
    max_abs: float
    worst: int
    mismatched: int
    total: int
    small: int
    small_errors: int


def float_name(dtype):
    """The table row of a floating or complex dtype."""
    name = str(dtype).replace("torch.", "")
    name = {"complex32": "float16", "complex64": "float32", "complex128": "float64"}.get(name, name)
    if name.startswith("float8"):
        return "float8_e4m3" if name.startswith("float8_e4m3") else "float8_e5m2"
    return name if name in STANDARD else "float32"


def row(leaf):
    """The table row of a leaf; Python floats count as float32, since most come from .item() of one."""
    return "float32" if leaf.kind == "number" else float_name(leaf.tensor.dtype)


def real(tensor):
    """A tensor whose elements are real: complex numbers as pairs in a last dimension of two."""
    return torch.view_as_real(tensor) if tensor.is_complex() else tensor


def double(tensor):
    """As float64; float8 has no direct way there in all torches."""
    return tensor.to(torch.float32).to(torch.float64) if tensor.element_size() == 1 else tensor.to(torch.float64)


def measure(golden, actual, threshold):
    """The Errors of one real tensor against another of the same shape, in chunks of float64."""
    golden, actual = golden.reshape(-1), actual.reshape(-1)
    sums = {"relative": 0.0, "square": 0.0, "golden": 0.0}
    counts = {"normal": 0, "finite": 0, "small": 0, "small_errors": 0, "mismatched": 0}
    most = {"mare": 0.0, "max_abs": 0.0, "worst": 0}
    for start in range(0, golden.numel(), CHUNK):
        g, a = double(golden[start : start + CHUNK]), double(actual[start : start + CHUNK])
        add_chunk((g, a), start, threshold, (sums, counts, most))
    finite = max(counts["finite"], 1)
    return Errors(
        mere=sums["relative"] / max(counts["normal"], 1),
        mare=most["mare"],
        rmse=(sums["square"] / finite) ** 0.5,
        rms=(sums["golden"] / finite) ** 0.5,
        max_abs=most["max_abs"],
        worst=most["worst"],
        mismatched=counts["mismatched"],
        total=golden.numel(),
        small=counts["small"],
        small_errors=counts["small_errors"],
    )


def add_chunk(pair, start, threshold, totals):
    """Add one chunk to the running sums, counts and maxima."""
    (g, a), (sums, counts, most) = pair, totals
    finite = torch.isfinite(g) & torch.isfinite(a)
    size = torch.where(finite, g.abs(), torch.zeros_like(g))
    error = torch.where(finite, (a - g).abs(), torch.zeros_like(g))
    small = finite & (size < threshold.small)
    relative = torch.where(small, torch.zeros_like(g), error / (size + SMALL_DENOMINATOR))
    bad = torch.where(small, error > threshold.small_error, relative >= 10 * threshold.relative)
    sums["relative"] += relative.sum().item()
    sums["square"] += (error * error).sum().item()
    sums["golden"] += (size * size).sum().item()
    counts["finite"] += int(finite.sum())
    counts["small"] += int(small.sum())
    counts["normal"] += int((finite & ~small).sum())
    counts["small_errors"] += int((small & bad).sum())
    counts["mismatched"] += int(bad.sum())
    most["max_abs"] = max(most["max_abs"], error.max().item())
    weight = torch.where(small, error * (10 * threshold.relative / threshold.small_error), relative)
    peak, place = weight.max(dim=0)
    if start == 0 or peak.item() > most.get("peak", 0.0):
        most["peak"], most["worst"] = peak.item(), start + int(place)
    most["mare"] = max(most["mare"], relative.max().item())


def passes(errors, threshold):
    """The single benchmark: MERE, MARE and at most two small values off, for the reference itself has none."""
    return (
        errors.mere < threshold.relative
        and errors.mare < 10 * threshold.relative
        and errors.small_errors <= SMALL_RATIO
    )


def position(flat, shape):
    """The index in each dimension of a flat position; empty where there are no elements."""
    if 0 in shape:
        return []
    index = []
    for size in reversed(shape):
        flat, place = divmod(flat, size)
        index.append(place)
    return index[::-1]
