"""Operators of a call, and looks at contents that no call has seen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from msprun.launch import Reply
from msprun.measure.breakdown import break_down
from msprun.measure.tally import Tally, row
from msprun.model.case import Case
from msprun.model.failure import Failure
from msprun.model.measurement import Correctness, FreshCall, OperatorTime, Sample
from msprun.model.operator import SIDES
from tests.report import plans
from tests.report.results import all_good

Looks = Callable[[int], tuple[float | None, float]]


class Crew:
    """Answers looks of each side by number: (fresh_us, wall_us), or a failure."""

    def __init__(self, **sides: Looks | Failure) -> None:
        self.sides = sides
        self.asked: list[str] = []
        self.varying = ""

    def ready(self, tally: Tally, side: str) -> Reply:
        return Reply()

    def ask(self, do: str, stage: str, tally: Tally, *, side: str) -> Reply:
        assert (do, stage) == ("breakdown", "breakdown")
        known = self.sides[side]
        if isinstance(known, Failure):
            return Reply(failure=known)
        fresh_us, wall_us = known(self.asked.count(side))
        self.asked.append(side)
        operators = [{"name": "aten::mul", "calls": 1, "duration_us": 30.0}]
        body = {"operators": operators, "operators_us": 30.0, "wall_us": wall_us, "fresh_us": fresh_us}
        return Reply(body={**body, "kernels_vary": side == self.varying})


def even(number: int) -> tuple[float, float]:
    return 52.0 + number, 50.0


def looked_at(crew: Crew, case_timeout_s: float = 60.0) -> Tally:
    plan = plans.plan(all_good())
    plan = replace(plan, limits=replace(plan.limits, case_timeout_s=case_timeout_s))
    tally = Tally(Case(index=0, name="c", shape_label="[2]", dtype_label="float32"), plan, [].append)
    tally.is_checked, tally.correctness = True, Correctness(state="correct")
    tally.add([_sample(side, group) for group in range(12) for side in SIDES])
    break_down(crew, tally)  # type: ignore[arg-type]
    return tally


def _sample(side: Any, group: int) -> Sample:
    return Sample(case=0, side=side, phase="timed", visit=0, group=group, calls=1, elapsed_ns=40_000)


def uneven(tally: Tally) -> list[dict[str, Any]]:
    return [remark.figures for remark in row(tally).remarks if remark.code == "uneven_calls"]


def test_operators_and_their_share_of_a_call_are_kept() -> None:
    tally = looked_at(Crew(reference=even, candidate=even))
    told = row(tally).candidate
    assert told is not None and told.operators == (OperatorTime(name="aten::mul", calls=1, duration_us=30.0),)
    assert (told.operators_us, told.operators_coverage) == (30.0, pytest.approx(0.6))
    assert told.fresh == (FreshCall(fresh_us=52.0, again_us=50.0),)


def test_one_look_is_enough_where_fresh_contents_take_as_long() -> None:
    crew = Crew(reference=even, candidate=lambda n: (74.0, 50.0))
    assert uneven(looked_at(crew)) == [] and crew.asked == ["reference", "candidate"]


def test_a_candidate_that_is_quick_on_repeated_inputs_only_is_told() -> None:
    """gpu-mode/kernelbot#501: results are replayed under a fingerprint of the contents."""
    crew = Crew(reference=even, candidate=lambda n: (400.0 + n, 20.0))
    assert uneven(looked_at(crew)) == [{"side": "candidate", "fresh_us": 406.0, "again_us": 20.0}]
    assert crew.asked == ["reference", "candidate"] * 12


def test_contents_that_cost_both_sides_alike_are_no_cheat() -> None:
    slow = lambda n: (200.0, 50.0)  # noqa: E731
    assert uneven(looked_at(Crew(reference=slow, candidate=slow))) == []


def test_a_call_that_a_neighbour_disturbed_is_forgiven() -> None:
    crew = Crew(reference=even, candidate=lambda n: (900.0 if n == 0 else 55.0, 50.0))
    assert uneven(looked_at(crew)) == [] and len(crew.asked) == 24


def test_contents_that_cannot_change_say_nothing() -> None:
    crew = Crew(reference=even, candidate=lambda n: (None, 50.0))
    tally = looked_at(crew)
    assert uneven(tally) == [] and tally.sides["candidate"].fresh == []


def test_a_side_that_fails_here_keeps_its_times_and_is_told() -> None:
    failure = Failure(stage="breakdown", kind="exception", message="no profiler")
    known = row(looked_at(Crew(reference=failure, candidate=lambda n: (400.0, 20.0))))
    assert known.status == "measured" and known.ref_us == 40.0
    assert ("no_breakdown", {"side": "reference", "error": "no profiler"}) in [
        (r.code, r.figures) for r in known.remarks
    ]


def test_looking_on_ends_where_it_takes_too_long() -> None:
    crew = Crew(reference=even, candidate=lambda n: (4e6, 2e4))
    assert uneven(looked_at(crew, case_timeout_s=-1.0)) == [] and crew.asked == ["reference", "candidate"]


def test_calls_of_other_operators_are_told_and_the_same_ones_are_not() -> None:
    """meta-pytorch/tritonbench#401, intel/intel-xpu-backend-for-triton#3243: one kernel fewer than launched."""
    crew = Crew(reference=even, candidate=even)
    assert {remark.code for remark in row(looked_at(crew)).remarks} == {"same_kernels"}
    crew.varying = "candidate"
    told = [(remark.code, remark.figures) for remark in row(looked_at(crew)).remarks]
    assert ("kernels_vary", {"side": "candidate"}) in told and len(told) == 2
