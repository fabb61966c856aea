"""What sounds too good, or does not fit what is known of a call: each line, and its honest neighbour."""

from __future__ import annotations

from typing import Any

import pytest

from msprun.model.measurement import OperatorTime, Paired, SideResult
from msprun.stat.doubt import low_coverage, no_own_kernels, same_kernels, too_good


def side(*operators: tuple[str, int], **more: Any) -> SideResult:
    listed = tuple(OperatorTime(name=name, calls=calls, duration_us=5.0) for name, calls in operators)
    return SideResult(operators=listed, **({"operators_us": 5.0 * len(operators)} | more))


def pair(speedup: float | None) -> Paired:
    return Paired(speedup=speedup, low=None, high=None, verdict="unresolved", quads=9)


def test_more_than_ten_times_as_fast_is_doubted() -> None:
    seen = too_good(pair(10.01))
    assert seen is not None and (seen.code, seen.figures) == ("too_good", {"speedup": 10.01})


@pytest.mark.parametrize("known", [None, pair(None), pair(10.0), pair(0.01)])
def test_ten_times_is_believed_and_a_slow_candidate_too(known: Paired | None) -> None:
    assert too_good(known) is None


def test_a_call_that_operators_do_not_explain_is_told() -> None:
    """pytorch/pytorch#181043: what a host does beside the operators is no small part of short calls."""
    seen = low_coverage(side(("aten::add", 1), operators_coverage=0.49), "candidate")
    assert seen is not None and (seen.code, seen.figures) == ("low_coverage", {"side": "candidate", "coverage": 0.49})


@pytest.mark.parametrize(
    "known",
    [
        side(("aten::add", 1), operators_coverage=0.5),
        side(("aten::add", 1), operators_coverage=None),  # nobody looked
        side(operators_coverage=0.0),  # no operator at all has a remark of its own
    ],
)
def test_half_of_a_call_is_enough(known: SideResult) -> None:
    assert low_coverage(known, "reference") is None


def test_the_same_operators_as_often_are_told_with_their_number() -> None:
    """meta-pytorch/BackendBench#90: does the candidate really replace the original?"""
    seen = same_kernels(side(("aten::mm", 2), ("aten::add", 1)), side(("aten::add", 1), ("aten::mm", 2)))
    assert seen is not None and (seen.code, seen.figures) == ("same_kernels", {"calls": 3})


@pytest.mark.parametrize(
    ("reference", "candidate"),
    [
        (side(("aten::mm", 2)), side(("aten::mm", 1))),  # less often
        (side(("aten::mm", 1)), side(("aten::bmm", 1))),
        (side(("aten::mm", 1), ("aten::add", 1)), side(("aten::mm", 1))),  # fused
        (side(), side()),  # both are code that torch does not see
    ],
)
def test_other_operators_or_none_are_not_the_same(reference: SideResult, candidate: SideResult) -> None:
    assert same_kernels(reference, candidate) is None


def test_a_candidate_that_runs_nothing_is_told() -> None:
    """meta-pytorch/tritonbench#401: a profile without any event is no success."""
    seen = no_own_kernels(side(operators_us=0.0))
    assert seen is not None and (seen.code, seen.figures) == ("no_own_kernels", {})


@pytest.mark.parametrize("known", [side(("aten::add", 1)), side(operators_us=None)])
def test_an_operator_or_nobody_who_looked_is_nothing_to_tell(known: SideResult) -> None:
    assert no_own_kernels(known) is None
