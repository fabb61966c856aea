"""From a session's files to its accounts: what is wrong with a table is said, what msprun launched is no operator's."""

from __future__ import annotations

from pathlib import Path

from msprun.measure.reckon import Reckoning, reckon
from msprun.measure.recording import Ran
from msprun.model.call import DeviceCall
from msprun.model.plan import Command, Session
from msprun.profiler.msprof import Msprof

START_NS = 1_780_000_000_000_000_000
HEADER = "Device_id,Task ID,Stream ID,Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us),Block Num"


def session(folder: Path) -> Session:
    place = folder / "sessions" / "1"
    (place / "PROF_1" / "mindstudio_profiler_output").mkdir(parents=True)
    command = Command(argv=("msprof",), cwd=folder, env=(), stdout=place / "out", stderr=place / "err")
    return Session(
        number=1, round="timing", profiler="msprof", cases=(0,), sides=("candidate",), folder=place, command=command,
    )  # fmt: skip


def calls(count: int) -> list[DeviceCall]:
    """A call a millisecond that lasts half of it."""
    begins = [START_NS + n * 1_000_000 for n in range(count)]
    return [
        DeviceCall(
            number=n, case=0, side="candidate", purpose="timed", visit=0, group=n,
            start_ns=begin, end_ns=begin + 500_000,
        )
        for n, begin in enumerate(begins)
    ]  # fmt: skip


def line(number: int) -> str:
    """The one kernel of a call: 20 us."""
    start_us = (START_NS + number * 1_000_000 + 100_000) / 1000
    return f"0,{number},2,add,Add,AI_VECTOR_CORE,{start_us:.3f},20.000,8"


def reckoned(folder: Path, text: str) -> Reckoning:
    made = session(folder)
    (made.folder / "PROF_1/mindstudio_profiler_output/op_summary_20260605161737.csv").write_text(text)
    return reckon(Msprof(), made, Ran(calls=tuple(calls(8))), 1.0, None)


def test_a_whole_table_has_no_remark_and_each_call_its_time(tmp_path: Path) -> None:
    found = reckoned(tmp_path, "\n".join([HEADER, *map(line, range(8)), ""]))
    (side,) = found.accounts.sides
    assert (side.verdict, {time.device_ns for time in side.times}, found.remarks) == ("exact", {20_000}, ())


def test_a_torn_row_is_said_with_file_and_line_and_costs_its_call(tmp_path: Path) -> None:
    found = reckoned(tmp_path, "\n".join([HEADER, *map(line, range(7)), line(7)[:20]]))
    (side,) = found.accounts.sides
    assert (side.verdict, side.calls, side.expected) == ("lost_rows", 7, 8)
    (remark,) = found.remarks
    assert remark.code == "bad_table"
    assert remark.figures["what"].startswith(
        "sessions/1/PROF_1/mindstudio_profiler_output/op_summary_20260605161737.csv:9: "
    )
