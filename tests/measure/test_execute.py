"""What a side's failures in some cases mean for the others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from msprun.journal import Journal
from msprun.measure.execute import Execution
from msprun.measure.tally import Tally, is_finished
from msprun.model.failure import Failure
from msprun.model.measurement import Sample, SideResult
from msprun.model.operator import ALL_SIDES, SIDES, Side
from tests.report import plans, results


def execution(folder: Path, side: str, **more: Any) -> Execution:
    """A run of four cases, in three of which a side could not be imported."""
    told = results.result(*(results.row(number, "pending") for number in range(4)))
    plan = replace(plans.plan(told), sides=ALL_SIDES, folder=folder, **more)
    made = Execution(plan, None, Journal(folder), lambda row: None)  # type: ignore[arg-type]
    for number in range(3):
        failure = Failure(stage="import", kind="exception", message=f"RuntimeError: built for torch {number}")
        made.rows[number] = replace(made.rows[number], **{side: SideResult(failure=failure)})
    return made


def sample(case: int, side: Side) -> Sample:
    return Sample(case=case, side=side, phase="timed", visit=0, group=0, calls=1, elapsed_ns=4000)


def walked(made: Execution) -> tuple[list[int], Tally]:
    """The cases that a step still reaches, and the last of them."""
    seen: list[int] = []
    last = made.tallies[3]
    made._skip_or(lambda tally: seen.append(tally.case.index), last)
    return seen, last


@pytest.mark.parametrize("side", ["reference", "candidate"])
def test_the_same_failure_in_three_cases_skips_the_rest(tmp_path: Path, side: str) -> None:
    seen, tally = walked(execution(tmp_path, side))
    assert (seen, tally.skipped) == ([], "skipped_same_failure")


def test_of_an_older_build_it_costs_no_other_side(tmp_path: Path) -> None:
    seen, tally = walked(execution(tmp_path, "against"))
    assert (seen, tally.skipped, tally.timed_sides) == ([3], None, ("reference", "candidate"))
    failure = tally.sides["against"].failure
    assert failure is not None and failure.hint is not None and "keep_going=true" in failure.hint


def test_an_interrupt_leaves_what_there_is_of_cases_that_were_not_sampled_to_their_end(tmp_path: Path) -> None:
    made = execution(tmp_path, "candidate")
    (begun, done, untouched, skipped) = made.tallies
    for tally in (begun, done, skipped):
        tally.is_checked = True
        tally.add([sample(tally.case.index, side) for side in SIDES])
    done.stop, skipped.skipped = "narrow", "skipped_time"
    made._break_off()
    assert [tally.stop for tally in made.tallies] == ["interrupted", "narrow", None, None]
    row = made.rows[begun.case.index]
    assert (row.status, row.ref_us, row.asc_us, row.stop) == ("measured", 4.0, 4.0, "interrupted")
    assert not is_finished(row)
    assert made.rows[untouched.case.index].ref_us is None


def test_keep_going_tries_an_older_build_in_every_case(tmp_path: Path) -> None:
    seen, tally = walked(execution(tmp_path, "against", keep_going=True))
    assert (seen, tally.timed_sides) == ([3], ALL_SIDES)
