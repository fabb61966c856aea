"""The double benchmark: errors of both sides against the reference model in float64.

Ratios of the candidate's MARE, MERE and RMSE to the reference's own, limits by level; from hicann/cannbot-skills,
ops-precision-standard. The reference's errors count as at least one rounding of the output dtype, since else a
reference that is exact by luck would condemn correct work.
"""

import copy
import os
import signal
import time
from contextlib import contextmanager, suppress

import torch

from . import accuracy, storage
from .walk import replace

LEVELS = {"L0": (10, 2, 2), "L1": (5, 1.5, 1.5), "L2": (2, 1.2, 1.2)}
COST = 4  # float64 takes two to four times as long as float32; half precision on a CPU takes longer than either


class Unavailable(Exception):
    """Why there are no golden outputs."""


class Kept:
    """The golden leaves of a case in a file: several checks ask for those that belong to the same outputs.

    `outputs` is the hash of the reference's outputs that they belong to, `digest` that of the file.
    """

    def __init__(self, path):
        self.path = path
        self.outputs = self.digest = None

    def leaves(self, outputs, make):
        """Those of these outputs, made by `make` where they are not there."""
        if outputs is not None and outputs == self.outputs:
            with suppress(OSError, ValueError):
                leaves, digest = storage.restore(self.path)
                if digest == self.digest:
                    return leaves
        leaves = make()
        if outputs is not None:
            with suppress(OSError):
                self.outputs, self.digest = outputs, storage.store(leaves, self.path)
        return leaves


class Golden:
    """Makes golden leaves when first needed. `run(model, change)` calls the reference's model on changed arguments.

    `keep(make)` answers what is kept, or made.
    """

    def __init__(self, model, run, reference, limits, keep):
        self.model = model
        self.run = run
        self.reference = reference
        self.budget_s, self.first_us = limits
        self.keep = keep

    def judge(self, failed, candidate, level):
        """Whether all failed leaves pass, and the figures of the worst of them."""
        try:
            start = time.perf_counter()
            leaves = self.keep(self.leaves)
            elapsed = time.perf_counter() - start
            results = [self.ratios(finding, candidate[finding.leaf], leaves[finding.leaf], level) for finding in failed]
        except Unavailable as reason:
            return False, {"golden": "unavailable", "golden_reason": str(reason)}
        severity, figures = max(results, key=lambda result: result[0])
        return severity <= 1, dict(figures, golden="float64", golden_s=elapsed, level=level)

    def leaves(self):
        """The outputs of the reference in float64. Raises Unavailable."""
        expected = self.first_us / 1e6 * COST
        if expected > self.budget_s:
            raise Unavailable("float64 would take about %.0f s, the budget is %g s" % (expected, self.budget_s))
        if not isinstance(self.model, torch.nn.Module):
            raise Unavailable("the reference is no torch.nn.Module")
        try:
            with all_cores(), time_limit(self.budget_s):
                model = on_cpu(self.model).double()
                leaves = self.run(model, upcast)
        except TimeoutError:
            raise Unavailable("float64 took longer than the budget of %g s" % self.budget_s) from None
        except Exception as error:
            text = " ".join(str(error).split())[:200]
            raise Unavailable("the reference does not run in float64: %s: %s" % (type(error).__name__, text)) from None
        if [leaf.structure for leaf in leaves] != [leaf.structure for leaf in self.reference]:
            raise Unavailable("the reference gives another structure in float64")
        return leaves

    def ratios(self, finding, candidate, golden, level):
        """Severity (1 at the limit) and figures of one leaf."""
        reference = self.reference[finding.leaf]
        rounding = wider(golden, reference) / 2
        threshold = accuracy.STANDARD[accuracy.row(reference)]
        exact = accuracy.real(golden.tensor)
        ours = accuracy.measure(exact, accuracy.real(candidate.tensor), threshold)
        theirs = accuracy.measure(exact, accuracy.real(reference.tensor), threshold)
        ratios = (
            ours.mare / max(theirs.mare, rounding),
            ours.mere / max(theirs.mere, rounding),
            ours.rmse / max(theirs.rmse, rounding * theirs.rms, 1e-300),
            ours.small_errors / max(theirs.small_errors, 1),
        )
        limits = LEVELS[level] + (accuracy.SMALL_RATIO,)
        names = ("mare_ratio", "mere_ratio", "rmse_ratio", "small_ratio")
        severity = max(ratio / limit for ratio, limit in zip(ratios, limits))
        return severity, dict(zip(names, ratios), **finding.figures)


def on_cpu(model):
    """A copy of a model on the CPU. Its tensors never have a second copy on the device, which may have no room."""
    tensors = [*model.parameters(), *model.buffers()]
    memo = {id(tensor): moved(tensor) for tensor in tensors if tensor.device.type != "cpu"}
    return copy.deepcopy(model, memo).cpu()


def moved(tensor):
    copied = tensor.detach().cpu()
    is_parameter = isinstance(tensor, torch.nn.Parameter)
    return torch.nn.Parameter(copied, tensor.requires_grad) if is_parameter else copied


def wider(golden, reference):
    """The spacing of the output's numbers at 1. Raises Unavailable unless the golden output is finer, of one shape."""
    if golden.shape != reference.shape or golden.tensor.is_complex() != reference.tensor.is_complex():
        raise Unavailable("the reference gives another shape in float64")
    own = torch.finfo(reference.tensor.dtype).eps if reference.kind == "tensor" else 2**-23
    if not golden.tensor.is_floating_point() and not golden.tensor.is_complex():
        raise Unavailable("the reference gives no floats in float64")
    if torch.finfo(golden.tensor.dtype).eps >= own:
        raise Unavailable("the reference computes %s in no wider type" % reference.path)
    return own


def upcast(value):
    """A copy of nested arguments on the CPU with floats in float64, complex in complex128, and dtype objects alike."""
    return replace(value, upcast_leaf)


def upcast_leaf(leaf):
    if isinstance(leaf, torch.Tensor):
        leaf = leaf.detach().cpu().clone()
        wide = widest(leaf.dtype)
        return leaf if leaf.dtype == wide else accuracy.double(leaf) if wide == torch.float64 else leaf.to(wide)
    return widest(leaf) if isinstance(leaf, torch.dtype) else leaf


def widest(dtype):
    if dtype.is_complex:
        return torch.complex128
    return torch.float64 if dtype.is_floating_point else dtype


@contextmanager
def all_cores():
    """All cores for what runs inside: nothing is timed there."""
    before = torch.get_num_threads()
    torch.set_num_threads(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def time_limit(seconds):
    """Raise TimeoutError inside at the next Python instruction once the time is over."""

    def stop(number, frame):
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before or signal.SIG_DFL)
