"""Which remarks a case gets."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from msprun.model.measurement import Estimate, OperatorTime, Sample, SideResult
from msprun.model.operator import OLD_AND_NEW
from msprun.model.plan import Schedule
from msprun.stat.estimate import estimate, paired
from msprun.stat.remarks import Evidence, case_remarks

Make = Callable[..., Sample]
Groups = Callable[..., list[Sample]]
Plans = Callable[..., Schedule]


def evidence(samples: list[Sample], plan: Schedule, **more: object) -> Evidence:
    return Evidence(
        samples=tuple(samples), pair=paired(samples, plan.order), schedule=plan, **({"sides": {}} | more)  # type: ignore[arg-type]
    )  # fmt: skip


def codes(samples: list[Sample], plan: Schedule, **more: object) -> list[str]:
    return [remark.code for remark in case_remarks(evidence(samples, plan, **more))]


def told(*operators: str, us: float | None = 1.0, **more: object) -> SideResult:
    listed = tuple(OperatorTime(name=name, calls=1, duration_us=1.0) for name in operators)
    return SideResult(operators=listed, operators_us=us, **more)  # type: ignore[arg-type]


def test_steady_samples_need_no_remark(groups: Groups, schedule: Plans) -> None:
    assert codes(groups([10] * 30, [5] * 30), schedule()) == []


def test_nothing_measured_needs_no_remark(sample: Make, schedule: Plans) -> None:
    assert codes([], schedule()) == []
    assert codes([sample("reference", 9, phase="warmup")], schedule()) == []


def test_few_groups_say_what_to_type(groups: Groups, schedule: Plans) -> None:
    samples = groups([10] * 5, [5] * 5)
    (explicit,) = case_remarks(evidence(samples, schedule(repeats=5)))
    assert (explicit.code, explicit.figures, explicit.next) == ("few_samples", {"seen": 5, "needed": 6}, "repeats=auto")
    (auto,) = case_remarks(evidence(samples, schedule()))
    assert auto.next == "budget_s=8"
    assert codes(groups([10] * 6, [5] * 6), schedule(repeats=6)) == []


def test_few_samples_of_one_side(sample: Make, schedule: Plans) -> None:
    assert codes([sample("reference", 10, i) for i in range(5)], schedule(repeats=5)) == ["few_samples"]
    assert codes([sample("reference", 10, i) for i in range(6)], schedule(repeats=6)) == []


def test_sequential_order_is_said(groups: Groups, schedule: Plans, sample: Make) -> None:
    assert codes(groups([10] * 9, [5] * 9), schedule(order="sequential")) == ["sequential_order"]
    assert codes([sample("reference", 10, i) for i in range(9)], schedule(order="sequential")) == []


def test_a_step_of_the_clock_is_a_drift_of_both_sides_and_no_two_populations(groups: Groups, schedule: Plans) -> None:
    """meta-pytorch/tritonbench#1159: throttled by 18 % half way; the ratio of neighbours does not care."""
    times = [100.0] * 15 + [118.0] * 15
    samples = groups(times, times)
    assert codes(samples, schedule()) == ["drift", "drift"]
    assert paired(samples, "interleaved").verdict == "same"  # type: ignore[union-attr]


def test_the_same_operators_on_both_sides_are_told_unless_the_code_is_meant_to_be_the_same(
    groups: Groups, schedule: Plans
) -> None:
    """meta-pytorch/BackendBench#90: a candidate that calls the operator which it should replace."""
    samples, sides = (
        groups([10] * 9, [10] * 9),
        {"reference": told("aten::softmax"), "candidate": told("aten::softmax")},
    )
    assert codes(samples, schedule(), sides=sides) == ["same_kernels"]
    assert codes(samples, schedule(), sides=sides, is_same_code=True) == []
    assert codes(samples, schedule(), sides=sides | {"candidate": told("aten::exp", "aten::sum")}) == []


def test_a_candidate_without_operators_is_told_unless_it_brings_compiled_code(groups: Groups, schedule: Plans) -> None:
    samples, sides = groups([10] * 9, [5] * 9), {"reference": told("aten::add"), "candidate": told(us=0.0)}
    assert codes(samples, schedule(), sides=sides) == ["no_own_kernels"]
    assert codes(samples, schedule(), sides=sides, has_extension=True) == []
    assert codes(samples, schedule(), sides=sides | {"candidate": told(us=None)}) == []  # nobody looked


def test_more_than_ten_times_as_fast_is_looked_at(groups: Groups, schedule: Plans) -> None:
    assert codes(groups([99] * 9, [10] * 9), schedule()) == []
    (seen,) = case_remarks(evidence(groups([101] * 9, [10] * 9), schedule()))
    assert (seen.code, round(seen.figures["speedup"], 9)) == ("too_good", 10.1)


def test_operators_that_explain_less_than_half_are_told_for_each_side(groups: Groups, schedule: Plans) -> None:
    """Ascend/triton-ascend#8 and triton-lang/triton-ascend#298: a time that is mostly the cost of calling."""
    sides = {
        "reference": told("aten::add", operators_coverage=0.5),
        "candidate": told("aten::mul", operators_coverage=0.49),
    }
    (seen,) = case_remarks(evidence(groups([10] * 9, [9] * 9), schedule(), sides=sides))
    assert (seen.code, seen.figures) == ("low_coverage", {"side": "candidate", "coverage": 0.49})


def test_a_first_call_of_30_ms_is_a_start_up_cost_and_in_no_average(
    groups: Groups, schedule: Plans, sample: Make
) -> None:
    """ROCm/rocm-libraries#5089: samples of 30000, 12, 12, 11 us."""
    timed = [sample("reference", us, i) for i, us in enumerate([12, 12, 11] * 4)]
    known = estimate(timed)
    assert isinstance(known, Estimate) and known.mean_us < 12.1
    sides = {"reference": SideResult(estimate=known, first_call_us=30000.0)}
    (seen,) = case_remarks(evidence(timed, schedule(), sides=sides))
    assert (seen.code, seen.figures["first_us"], seen.figures["median_us"]) == ("first_call", 30000.0, 12.0)
    for usual in (9000.0, 1100.0, None):  # what every first call is, and nothing known
        assert codes(timed, schedule(), sides={"reference": SideResult(estimate=known, first_call_us=usual)}) == []
    slow = estimate([sample("reference", 500, i) for i in range(9)])
    assert codes(timed, schedule(), sides={"reference": SideResult(estimate=slow, first_call_us=30000.0)}) == []


def test_remarks_on_the_older_build_name_it(groups: Groups, schedule: Plans, sample: Make) -> None:
    samples: list[Sample] = []
    for visit, us in enumerate((10.0, 11.0, 12.0)):
        samples += groups([20] * 8, [10] * 8, visit=visit)
        samples += [sample("against", us, group, visit=visit) for group in range(8)]
    told = case_remarks(evidence(samples, schedule()))
    assert [(r.code, r.figures["side"]) for r in told] == [("drift", "against"), ("visits_differ", "against")]
    assert told[1].figures["most"] / told[1].figures["least"] == pytest.approx(1.2)


def test_few_groups_with_the_older_build_are_told(groups: Groups, schedule: Plans, sample: Make) -> None:
    samples = groups([20] * 9, [10] * 9) + [sample("against", 15, group) for group in range(4)]
    pair = paired(samples, "interleaved", OLD_AND_NEW)
    (told,) = case_remarks(evidence(samples, schedule(), old_pair=pair))
    assert (told.code, told.figures["seen"]) == ("few_samples", 4)
