"""Outputs against outputs, leaf by leaf: structure, shape, dtype, non-finite pattern, then numbers."""

from operator import attrgetter
from typing import NamedTuple

import torch

from . import accuracy
from .leaves import same_bits


class Verdict(NamedTuple):
    """A state of the protocol, the rule that decided and its figures."""

    state: str
    rule: str
    figures: dict


class Finding(NamedTuple):
    """What the numbers of one leaf say. `severity` is 1 at the limit; `errors` is there for floats under `standard`."""

    passed: bool
    severity: float
    figures: dict
    leaf: int
    errors: accuracy.Errors = None


def judge(reference, candidate, rule, golden):
    """The Verdict on a candidate's leaves. `golden` judges float leaves that fail (see golden.Golden), or is None."""
    differs = first_difference(reference, candidate)
    if differs is not None:
        return differs
    pairs = enumerate(zip(reference, candidate))
    findings = [numbers(place, pair, rule) for place, pair in pairs if has_numbers(pair[0])]
    failed = [finding for finding in findings if not finding.passed]
    worst = max(failed or findings, key=lambda finding: finding.severity, default=None)
    figures = dict(worst.figures, leaves=len(findings)) if worst else {"leaves": 0}
    name = rule["rule"]
    if not failed:
        return Verdict("correct", name, figures)
    if name != "standard" or golden is None or any(finding.errors is None for finding in failed):
        return Verdict("incorrect", name, figures)
    passed, more = golden.judge(failed, candidate, rule["level"])
    decided = "double %s" % rule["level"] if "mare_ratio" in more else name
    return Verdict("correct" if passed else "incorrect", decided, dict(figures, **more))


def has_numbers(leaf):
    """The leaf is more than a container or None."""
    return leaf.tensor is not None or leaf.kind == "text"


def first_difference(reference, candidate):
    """The Verdict on what forbids comparing numbers, or None."""
    here, there = [leaf.structure for leaf in reference], [leaf.structure for leaf in candidate]
    if here != there:
        place = next((i for i, pair in enumerate(zip(here, there)) if pair[0] != pair[1]), min(len(here), len(there)))
        return differs("structure_differs", reference[place:], candidate[place:], describe)
    for state, show in (("shape_differs", attrgetter("shape")), ("dtype_differs", attrgetter("dtype"))):
        for one, other in zip(reference, candidate):
            if show(one) != show(other):
                return differs(state, [one], [other], show)
    for one, other in zip(reference, candidate):
        figures = non_finite(one, other)
        if figures:
            return Verdict("non_finite", "non_finite", figures)
    return None


def differs(state, reference, candidate, show):
    """A Verdict that shows both sides of the first leaf that is not alike."""
    leaf = (reference or candidate)[0]
    return Verdict(
        state,
        state.replace("_differs", ""),
        {
            "leaf": leaf.path,
            "reference": show(reference[0]) if reference else None,
            "candidate": show(candidate[0]) if candidate else None,
        },
    )


def describe(leaf):
    """A node in words: `tuple of 2`, `dict ["a"]`, `tensor`."""
    if leaf.kind in ("list", "tuple"):
        return "%s of %s" % (leaf.kind, leaf.text)
    return "%s %s" % (leaf.kind, leaf.text) if leaf.kind in ("dict", "dataclass") else leaf.kind


def non_finite(one, other):
    """Figures where NaN or infinities of one sign do not stand at the same places, else None."""
    if one.tensor is None or not (one.tensor.is_floating_point() or one.tensor.is_complex()):
        return None
    if same_bits(one.tensor, other.tensor):
        return None
    here, there = pattern(one.tensor), pattern(other.tensor)
    unlike = (here != there).reshape(-1)
    if not bool(unlike.any()):
        return None
    worst = int(unlike.to(torch.uint8).argmax())
    values = [accuracy.double(accuracy.real(leaf.tensor)).reshape(-1)[worst].item() for leaf in (one, other)]
    return {
        "leaf": one.path,
        "worst_index": accuracy.position(worst, here.shape),
        "reference": values[0],
        "candidate": values[1],
        "mismatched": int(unlike.sum()),
        "total": unlike.numel(),
    }


def pattern(tensor):
    """0 where finite, 1 at NaN, 2 and 3 at plus and minus infinity."""
    tensor = accuracy.real(tensor)
    if tensor.element_size() == 1:
        tensor = tensor.to(torch.float32)
    marks = torch.zeros(tensor.shape, dtype=torch.uint8)
    marks[torch.isnan(tensor)] = 1
    marks[tensor == float("inf")] = 2
    marks[tensor == float("-inf")] = 3
    return marks


def numbers(place, pair, rule):
    """The Finding on one leaf."""
    one, other = pair
    if one.kind == "text":
        passed = one.text == other.text
        figures = {"leaf": one.path, "mismatched": int(not passed), "total": 1}
        if not passed:
            figures.update(reference=one.text[:80], candidate=other.text[:80])
        return Finding(passed, float(not passed), figures, place)
    if not (one.tensor.is_floating_point() or one.tensor.is_complex()):
        return integers(place, one, other, rule)
    name = accuracy.row(one)
    if rule["rule"] == "close":
        return close(place, one, other, tolerances(rule, name))
    threshold = accuracy.STANDARD[name]
    if rule.get("threshold") is not None:
        threshold = threshold._replace(relative=rule["threshold"])
    return standard(place, one, other, threshold)


def tolerances(rule, name):
    """rtol and atol: given ones, else torch.testing's."""
    rtol, atol = accuracy.CLOSE[name]
    given = rule.get("rtol"), rule.get("atol")
    return rtol if given[0] is None else given[0], atol if given[1] is None else given[1]


def standard(place, one, other, threshold):
    """MERE and MARE against the reference's own output."""
    golden = accuracy.real(one.tensor)
    errors = accuracy.measure(golden, accuracy.real(other.tensor), threshold)
    figures = {
        "leaf": one.path,
        "mere": errors.mere,
        "mare": errors.mare,
        "threshold": threshold.relative,
        "max_abs_error": errors.max_abs,
        "worst_index": accuracy.position(errors.worst, golden.shape),
        "mismatched": errors.mismatched,
        "total": errors.total,
        "small_values": errors.small,
        "small_errors": errors.small_errors,
    }
    numbers_off = max(errors.mere, errors.mare / 10) / threshold.relative
    severity = max(numbers_off, errors.small_errors / accuracy.SMALL_RATIO)
    return Finding(accuracy.passes(errors, threshold), severity, figures, place, errors)


def close(place, one, other, limits):
    """|candidate - reference| <= atol + rtol * |reference|, as torch.testing has it."""
    golden = accuracy.double(accuracy.real(one.tensor))
    actual = accuracy.double(accuracy.real(other.tensor))
    finite = torch.isfinite(golden) & torch.isfinite(actual)
    error = torch.where(finite, (actual - golden).abs(), torch.zeros_like(golden)).reshape(-1)
    allowed = torch.where(finite, limits[1] + limits[0] * golden.abs(), torch.ones_like(golden)).reshape(-1)
    share = torch.where(error == 0, error, error / allowed)
    severity, worst = (share.max(dim=0)) if share.numel() else (torch.tensor(0.0), torch.tensor(0))
    mismatched = int((error > allowed).sum())
    figures = {
        "leaf": one.path,
        "rtol": limits[0],
        "atol": limits[1],
        "max_abs_error": error.max().item() if error.numel() else 0.0,
        "worst_index": accuracy.position(int(worst), golden.shape) if error.numel() else [],
        "mismatched": mismatched,
        "total": error.numel(),
    }
    return Finding(mismatched == 0, severity.item(), figures, place)


def integers(place, one, other, rule):
    """Integers and bools: exact, or within tolerances that were given for `close`."""
    if rule["rule"] == "close" and (rule.get("rtol") or rule.get("atol")):
        return close(place, one, other, (rule.get("rtol") or 0.0, rule.get("atol") or 0.0))
    here, there = signed(one.tensor), signed(other.tensor)
    unlike = here != there
    mismatched = int(unlike.sum())
    figures = {"leaf": one.path, "mismatched": mismatched, "total": here.numel()}
    if mismatched:
        gap = (accuracy.double(one.tensor) - accuracy.double(other.tensor)).abs().reshape(-1)
        worst = int(torch.where(unlike, gap + 1, torch.zeros_like(gap)).argmax())
        exact = abs(int(one.tensor.reshape(-1)[worst]) - int(other.tensor.reshape(-1)[worst]))
        figures.update(max_abs_error=exact, worst_index=accuracy.position(worst, one.tensor.shape))
    return Finding(mismatched == 0, float(mismatched), figures, place)


def signed(tensor):
    """The same bits under a signed type: torch compares few of the unsigned ones."""
    types = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
    return tensor.reshape(-1).view(types[tensor.element_size()])
