"""The books of a sweep: written whole, by several at once, and read with care."""

from __future__ import annotations

from pathlib import Path

import pytest

from msprun import sweep
from msprun.errors import ConfigError
from msprun.model.sweep import Ended, Geomean, Job, Sweep, SweepRequest
from msprun.report.json import dumps
from tests.report import results

LOST = Ended(status="failed", exit_code=1, reason="lost")


def made(place: Path, count: int = 2) -> Path:
    jobs = tuple(Job(number=n, overrides=(f"seed={n}",), swept={"seed": str(n)}, folder=str(n)) for n in range(count))
    request = SweepRequest(overrides=(), hydra=(), keys=("seed",), cwd="/", fail_fast=False, files={})
    books = Sweep(schema_version=sweep.SCHEMA_VERSION, msprun_version="0", sweep_id="abc", started_at="now",
                  request=request, jobs=jobs, exit_code=0, complete=False)  # fmt: skip
    sweep.create(place, books, [{"config.yaml": "a: 1\n"}] * count)
    return place


def test_a_new_sweep_has_everything_before_the_first_job(tmp_path: Path) -> None:
    place = made(tmp_path / "runs" / "s")
    assert [job.status for job in sweep.load(place).jobs] == ["not_started"] * 2
    assert [sweep.noted(place / str(n)) for n in range(2)] == [Ended()] * 2
    assert (place / "1" / ".hydra" / "config.yaml").read_text() == "a: 1\n"
    assert (tmp_path / "runs" / ".gitignore").read_text() == "*\n"
    assert len((place / "sweep.csv").read_text().splitlines()) == 3


def test_no_sweep_goes_into_another_ones_folder(tmp_path: Path) -> None:
    made(tmp_path / "s")
    with pytest.raises(ConfigError, match="cannot be written"):
        made(tmp_path / "s")


def test_the_books_gather_statuses_and_figures(tmp_path: Path) -> None:
    place = made(tmp_path / "s", 3)
    (place / "0" / "result.json").write_bytes(dumps(results.all_good()))
    sweep.note(place / "0", Ended(status="done", exit_code=0, elapsed_s=1.5))
    sweep.note(place / "1", Ended(status="refused", exit_code=2, reason="why", next="what"))
    found = sweep.refresh(place, "en")
    assert found == sweep.load(place)
    first, second, third = found.jobs
    good = results.all_good()
    assert first.geomean and first.geomean.speedup == good.geomean_speedup and first.counts == good.counts
    assert (first.elapsed_s, first.reason, second.reason, second.next) == (1.5, None, "why", "what")
    assert (third.status, found.exit_code, found.complete) == ("not_started", 2, False)


def test_the_figure_of_a_single_case_is_the_cases_own(tmp_path: Path) -> None:
    place = made(tmp_path / "s")
    only = results.measured(0, 30.0, 10.0, results.pair(2.9, 2.8, 3.0, "faster"))
    (place / "0" / "result.json").write_bytes(dumps(results.result(only)))
    sweep.note(place / "0", Ended(status="done", exit_code=0))
    job = sweep.refresh(place, "en").jobs[0]
    assert (job.geomean, job.verdict) == (Geomean(speedup=2.9, low=2.8, high=3.0), "faster")


def test_what_says_running_is_lost_when_nothing_runs_any_more(tmp_path: Path) -> None:
    place = made(tmp_path / "s")
    sweep.note(place / "0", Ended(status="running"))
    assert [job.status for job in sweep.refresh(place, "en").jobs] == ["running", "not_started"]
    over = sweep.refresh(place, "en", LOST)
    assert [(job.status, job.reason) for job in over.jobs] == [("failed", "lost"), ("not_started", None)]
    assert sweep.noted(place / "0") == LOST


@pytest.mark.parametrize(
    ("status", "complete", "settled"),
    [("done", True, True), ("failed", True, True), ("running", True, False), ("interrupted", False, False),
     ("failed", False, False)],
)  # fmt: skip
def test_only_a_complete_result_that_was_noted_settles_a_job(
    tmp_path: Path, status: str, complete: bool, settled: bool
) -> None:
    place = made(tmp_path / "s")
    result = results.result(complete=complete)
    (place / "0" / "result.json").write_bytes(dumps(result))
    sweep.note(place / "0", Ended(status=status, exit_code=0))  # type: ignore[arg-type]
    assert sweep.is_settled(place / "0") is settled


def test_a_torn_result_or_status_counts_as_none(tmp_path: Path) -> None:
    place = made(tmp_path / "s")
    (place / "0" / "result.json").write_text('{"task": "to')
    (place / "0" / "status.json").write_text('{"sta')
    assert sweep.refresh(place, "en").jobs[0].status == "not_started"
    assert not sweep.is_settled(place / "0")


def test_a_reopened_sweep_forgets_what_did_not_end_well(tmp_path: Path) -> None:
    place = made(tmp_path / "s")
    sweep.note(place / "0", Ended(status="refused", exit_code=2, reason="why"))
    sweep.refresh(place, "en")
    again = sweep.reopen(place, "en")
    assert [(job.status, job.reason, job.exit_code) for job in again.jobs] == [("not_started", None, None)] * 2
    assert again.exit_code == 0


def test_books_that_are_none_are_refused(tmp_path: Path) -> None:
    place = made(tmp_path / "s")
    (place / "sweep.json").write_text("{}")
    with pytest.raises(ConfigError, match="cannot be read"):
        sweep.load(place)


def test_one_sweep_is_run_by_one_process(tmp_path: Path) -> None:
    place = made(tmp_path / "s")
    with sweep.owned(place), pytest.raises(ConfigError, match="is being run by another"), sweep.owned(place):
        pass
    with sweep.owned(place):
        pass
