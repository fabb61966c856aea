"""What pages say about a result as a whole."""

from __future__ import annotations

from types import ModuleType

import msgspec

from msprun.report.overview import overview


def test_failure_that_both_sides_share_is_told_once(made: ModuleType) -> None:
    failure = made.Failure(stage="launch", kind="exit", message="no torch")
    both = made.SideResult(failure=failure)
    view = overview(made.result(made.row(0, "failed", failure=failure, reference=both, candidate=both)))
    assert [(found.side, found.failure) for found in view.failures] == [(None, failure)]


def test_failure_of_each_side_is_told(made: ModuleType) -> None:
    one, other = (made.Failure(stage="timing", kind="exit", message=word) for word in "ab")
    row = made.row(
        0, "failed", failure=other, reference=made.SideResult(failure=one), candidate=made.SideResult(failure=other)
    )
    assert [found.side for found in overview(made.result(row)).failures] == ["reference", "candidate"]


def test_same_remark_of_many_cases_is_told_once(made: ModuleType) -> None:
    remark = made.Remark(code="drift", figures={"change": 0.1})
    rows = [made.row(n, "pending", remarks=(remark, remark)) for n in (2, 5)]
    (noted,) = overview(made.result(*rows)).remarks
    assert (noted.code, noted.cases) == ("drift", (2, 5))


def test_remark_of_the_run_has_no_cases(made: ModuleType) -> None:
    assert overview(made.mixed()).remarks[0].cases == ()


def test_worst_cases_are_wrong_then_failed_then_slow(made: ModuleType) -> None:
    assert [row.case for row in overview(made.mixed()).worst] == [3, 4, 1]


def test_command_falls_back_to_what_the_result_knows(made: ModuleType) -> None:
    result = msgspec.structs.replace(made.mixed(), request={})
    assert overview(result).command == ("msprun", "mode=quick", "op=/ops/toy_norm", "seed=7")


def test_stop_reasons_are_counted(made: ModuleType) -> None:
    assert overview(made.mixed()).stops == (("budget", 1), ("narrow", 1), ("no_progress", 1))


def test_failed_cases_are_not_called_unchecked(made: ModuleType) -> None:
    assert overview(made.all_failed()).not_checked == 0
    assert overview(made.all_failed()).state is None
