"""The journal of a run: what a killed run leaves, and what a resumed one reads."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from msprun import journal
from msprun.journal import Again, Journal, Known, Seen
from msprun.measure.tally import is_finished
from msprun.model.failure import Failure
from msprun.model.measurement import Correctness, Sample, SideResult
from msprun.model.result import CaseRow


def _sample(case: int, ns: int) -> Sample:
    return Sample(case=case, side="reference", phase="timed", visit=0, group=0, calls=1, elapsed_ns=ns)


def _row(case: int, **more: object) -> CaseRow:
    row = CaseRow(
        case=case, shape="[2]", dtype="float32", name=f"case{case}", status="measured",
        correctness=Correctness(state="correct"), reference=SideResult(), candidate=SideResult(), stop="narrow",
    )  # fmt: skip
    return replace(row, **more)


def _write(folder: Path, *entries: journal.Entry) -> None:
    book = Journal(folder)
    for entry in entries:
        book.add(entry)
    book.close()


def test_samples_add_up_and_the_last_row_of_a_case_counts(tmp_path: Path) -> None:
    _write(tmp_path, Known(row=_row(0, status="pending")), Seen(samples=(_sample(0, 5), _sample(1, 6))))
    _write(tmp_path, Seen(samples=(_sample(0, 7),)), Known(row=_row(0)))
    memory = journal.read(tmp_path)
    assert [s.elapsed_ns for s in memory.samples[0]] == [5, 7]
    assert [s.elapsed_ns for s in memory.samples[1]] == [6]
    assert memory.rows == {0: _row(0)}


def test_a_case_begun_again_forgets_what_was_seen_of_it_alone(tmp_path: Path) -> None:
    _write(tmp_path, Seen(samples=(_sample(0, 5), _sample(1, 6))), Known(row=_row(0)), Again(case=0))
    _write(tmp_path, Seen(samples=(_sample(0, 8),)))
    memory = journal.read(tmp_path)
    assert [s.elapsed_ns for s in memory.samples[0]] == [8]
    assert [s.elapsed_ns for s in memory.samples[1]] == [6]
    assert memory.rows == {}


def test_a_torn_last_line_is_left_out(tmp_path: Path) -> None:
    _write(tmp_path, Known(row=_row(0)), Known(row=_row(1)))
    path = tmp_path / journal.NAME
    path.write_bytes(path.read_bytes()[:-20])
    assert set(journal.read(tmp_path).rows) == {0}


def test_no_journal_is_an_empty_one(tmp_path: Path) -> None:
    memory = journal.read(tmp_path)
    assert (memory.rows, memory.samples) == ({}, {})


def test_what_is_finished_is_not_done_again() -> None:
    failed = SideResult(failure=Failure(stage="timing", kind="signal", message="died"))
    assert is_finished(_row(0))
    assert is_finished(_row(0, status="checked", stop=None))
    assert is_finished(_row(0, status="skipped", skipped="empty_tensor", stop=None))
    assert is_finished(_row(0, status="failed", stop=None, reference=failed, candidate=failed))
    assert is_finished(_row(0, status="failed", candidate=failed))


def test_what_is_not_finished_is_done_again() -> None:
    failed = SideResult(failure=Failure(stage="first_call", kind="signal", message="died"))
    lost = SideResult(failure=Failure(stage="launch", kind="launch", message="no start"))
    assert not is_finished(_row(0, status="pending", stop=None))
    assert not is_finished(_row(0, stop="interrupted"))
    assert not is_finished(_row(0, status="skipped", skipped="skipped_time", stop=None))
    assert not is_finished(_row(0, status="failed", stop=None, candidate=failed))
    assert not is_finished(_row(0, status="failed", stop=None, reference=lost, candidate=lost))
