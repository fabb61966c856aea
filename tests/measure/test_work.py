"""From the times of a case to its rates, and to no number where they are impossible."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from msprun import soc
from msprun.measure.tally import Tally, row
from msprun.model.case import Case, TensorInput
from msprun.model.measurement import Correctness, Sample
from msprun.model.operator import SIDES, Work
from msprun.model.plan import Plan
from msprun.model.result import CaseRow, WorkFigures
from msprun.stat.aggregate import aggregates, counts
from tests.report import plans
from tests.report.results import all_good

# 900 MB from HBM at 1800 GB/s: 500 us. Operations that take 1000 us at 757.8 TFLOP/s.
BYTES, FLOPS = 900e6, 757.8e9
MOVES = Work(bytes="x.nbytes", flops="x.numel")
COMPUTES = Work(flops="757.8e9")


def planned(work: Work | None, chip: str | None = "Ascend910B1") -> Plan:
    plan = plans.plan(all_good())
    return replace(plan, operator=replace(plan.operator, work=work), soc=soc.find(chip) if chip else None)


def tally(plan: Plan, reference_us: float, candidate_us: float, shape: tuple[int, ...] = (450, 1000, 1000)) -> Tally:
    inputs = (TensorInput(name="x", dtype="float16", shape=shape),)
    made = Tally(Case(index=0, name="big", shape_label="?", dtype_label="?", inputs=inputs), plan, [].append)
    made.is_checked = True
    made.correctness = Correctness(state="correct")
    times = {"reference": reference_us, "candidate": candidate_us}
    made.add([sample(side, times[side], group) for group in range(8) for side in SIDES])
    return made


def sample(side: Any, us: float, group: int) -> Sample:
    return Sample(case=0, side=side, phase="timed", visit=0, group=group, calls=1, elapsed_ns=round(us * 1000))


def codes(known: CaseRow) -> list[str]:
    return [remark.code for remark in known.remarks]


def test_rates_and_floor_stand_in_the_row() -> None:
    known = row(tally(planned(MOVES), 1000.0, 750.0))
    assert known.work is not None and known.status == "measured"
    assert (known.work.bytes, known.work.flops) == (BYTES, 450e6)
    assert (known.work.floor_us, known.work.bound, known.work.level) == (pytest.approx(500), "memory", "hbm")
    assert (known.work.reference_gb_s, known.work.candidate_gb_s) == (pytest.approx(900), pytest.approx(1200))
    assert (known.work.reference_tflop_s, known.work.candidate_tflop_s) == (pytest.approx(0.45), pytest.approx(0.6))
    shares = (known.work.reference_floor_share, known.work.candidate_floor_share)
    assert shares == (pytest.approx(0.5), pytest.approx(2 / 3))  # 500 us of 1000 and of 750
    assert codes(known) == []


def test_an_unknown_processor_has_rates_and_no_floor() -> None:
    known = row(tally(planned(MOVES, chip=None), 1.0, 1.0))
    assert known.work is not None and known.work.reference_gb_s == pytest.approx(900_000)
    assert (known.work.floor_us, known.work.bound, known.work.level) == (None, None, None)
    assert known.status == "measured" and known.accounting["candidate"].verdict == "exact"


def test_a_time_below_half_the_floor_is_no_number() -> None:
    """gpu-mode/reference-kernels#159 and #162: a time near zero won the first rank."""
    known = row(tally(planned(MOVES), 1000.0, 249.0))
    assert known.status == "failed" and known.speedup is known.paired is known.asc_us is None
    assert known.correctness.state == "correct"
    assert known.ref_us == pytest.approx(1000.0) and known.accounting["reference"].verdict == "exact"
    assert known.accounting["candidate"].verdict == "below_floor"
    assert known.failure is not None and (known.failure.stage, known.failure.kind) == ("accounting", "below_floor")
    assert known.failure.message == "249 us a call, but this chip moves its bytes in no less than 500 us"
    assert known.asc_error == known.failure.message and known.ref_error is None
    assert known.candidate is not None and known.candidate.estimate is None and known.candidate.failure == known.failure
    assert known.work is not None and known.work.candidate_gb_s is None and known.work.reference_gb_s is not None


def test_a_reference_below_the_floor_has_no_number_either() -> None:
    known = row(tally(planned(COMPUTES), 499.0, 2000.0))
    assert known.ref_us is known.speedup is None and known.asc_us == pytest.approx(2000.0)
    assert known.ref_error == "499 us a call, but this chip makes its operations in no less than 1000 us"


def test_between_half_and_the_floor_the_number_stays_with_a_remark() -> None:
    known = row(tally(planned(MOVES), 1000.0, 300.0))
    assert known.status == "measured" and known.speedup == pytest.approx(1000 / 300)
    assert codes(known) == ["served_from_l2"] and known.remarks[0].figures["side"] == "candidate"
    assert codes(row(tally(planned(COMPUTES), 2000.0, 600.0))) == ["above_peak"]


def test_a_working_set_that_fits_may_come_from_l2() -> None:
    known = row(tally(planned(Work(bytes="x.nbytes")), 20.0, 10.0, shape=(40, 1000, 1000)))
    assert known.work is not None and known.work.level == "l2" and known.work.floor_us == pytest.approx(10)
    assert codes(known) == []


def test_without_op_work_there_are_no_figures() -> None:
    assert row(tally(planned(None), 1.0, 1.0)).work is None


def test_real_arguments_that_do_not_fit_are_a_remark() -> None:
    known = row(tally(planned(Work(bytes="y.nbytes")), 1.0, 1.0))
    assert known.work is None and known.status == "measured" and codes(known) == ["work_unknown"]
    assert "there is no input 'y'" in known.remarks[0].figures["error"]


def test_outputs_count_when_their_size_is_known() -> None:
    made = tally(planned(Work(bytes="x.nbytes + out.nbytes")), 1000.0, 1000.0)
    assert row(made).work == WorkFigures(bytes=None)
    made.output_bytes = 100
    known = row(made).work
    assert known is not None and known.bytes == BYTES + 100


def test_a_time_that_cannot_be_is_in_no_mean_and_counted_as_a_failure() -> None:
    """gpu-mode/reference-kernels#159 and #162: one shape near zero made the geometric mean zero."""
    good, absurd = row(tally(planned(MOVES), 1000.0, 800.0)), row(tally(planned(MOVES), 1000.0, 0.001))
    assert aggregates([good, absurd]).geomean_speedup == pytest.approx(1.25)
    assert (counts([good, absurd]).measured, counts([good, absurd]).failed) == (1, 1)


def test_right_or_wrong_where_a_time_comes_from_and_the_verdict_are_three_things() -> None:
    """AMD-AGI/GEAK#450 and #316: no proof of a time was written as a failed check, and a real 3.7 was thrown away."""
    known = row(tally(planned(MOVES, chip=None), 3700.0, 1000.0))
    assert known.correctness.state == "correct"
    assert {side: account.verdict for side, account in known.accounting.items()} == dict.fromkeys(SIDES, "exact")
    assert known.paired is not None and known.paired.verdict == "faster"
    unproven = row(tally(planned(MOVES), 3700.0, 200.0))
    assert unproven.correctness.state == "correct" and unproven.asc_error != "incorrect"
    assert unproven.accounting["candidate"].verdict == "below_floor"
