"""Remarks on what sounds too good, or does not fit what is known of a call."""

from __future__ import annotations

from collections import Counter

from msprun.model.measurement import Paired, Remark, SideResult
from msprun.model.operator import Side

# KernelBench's line: a speed-up beyond it is looked at by a person.
TOO_GOOD = 10.0
COVERED = 0.5


def too_good(pair: Paired | None) -> Remark | None:
    """More than ten times as fast."""
    if pair is None or pair.speedup is None or pair.speedup <= TOO_GOOD:
        return None
    return Remark(code="too_good", figures={"speedup": pair.speedup})


def low_coverage(seen: SideResult, side: Side) -> Remark | None:
    """Torch operators explain less than half of a call: the rest is Python, or work that torch does not see."""
    if seen.operators_coverage is None or seen.operators_coverage >= COVERED or not seen.operators:
        return None
    return Remark(code="low_coverage", figures={"side": side, "coverage": seen.operators_coverage})


def same_kernels(reference: SideResult, candidate: SideResult) -> Remark | None:
    """Both sides call the same torch operators equally often: perhaps the candidate calls what it shall replace."""
    ours, theirs = (Counter({o.name: o.calls for o in side.operators}) for side in (candidate, reference))
    if not ours or ours != theirs:
        return None
    return Remark(code="same_kernels", figures={"calls": ours.total()})


def no_own_kernels(candidate: SideResult) -> Remark | None:
    """A call of the candidate ran no torch operator at all, though its operators were looked for."""
    if candidate.operators_us is None or candidate.operators:
        return None
    return Remark(code="no_own_kernels")
