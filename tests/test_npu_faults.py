"""Everything that can go wrong on an emulated NPU, and what msprun makes of each: one table."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from tests.emulated import Emulated, Ran

SLOW_S = 600
AT_A_TIME = 3  # some of them wait for a time limit and need no core
FEW = ("warmup=2", "repeats=8")
REFERENCE = 'return kernel("ref_scale", x, 200.0 + 10 * rows)'
CANDIDATE = 'return kernel("new_scale", x, 100.0 + 10 * rows)'
# A kernel of its own name for each case, so that a fault can mean one of them.
BY_CASE = 'return kernel("new_%d" % rows, x, 100.0)'
# Dies in its fifth call below a collector: by a signal, or with an exit code that looks like success.
DEADLY = """
if self.calls == 5 and "FAKE_CANN_COLLECT" in os.environ and rows > 1:
    os.kill(os.getpid(), 9) if rows == 2 else os._exit(0)
return kernel("new_scale", x, 100.0)
"""
LARGE = """
if self.calls == 1:
    self.held = torch.zeros(60 << 20, dtype=torch.uint8, device=x.device)
return kernel("%s", x, 100.0)
"""
# What a side needs until it is let go, in MiB, of the device's 200.
NEEDY = """
if not hasattr(self, "held"):
    self.held = torch.zeros((%s) << 20, dtype=torch.uint8, device=x.device)
return kernel("%s", x, %d.0)
"""
SILENT = """
if rows == 3:
    return x * 2
return kernel("new_scale", x, 100.0)
"""
EXACT = {"exit": 0, "1 reference": "exact op_summary", "1 candidate": "exact op_summary", "profs": 0}
ONE_LOST = "exact op_summary + lost_rows op_summary"
BY_TASKS = {"exit": 0, "1 reference": "exact task_time", "1 candidate": "exact task_time", "profs": 0}


class Wrong(Struct, frozen=True, kw_only=True):
    """A line of the table: words of FAKE_CANN_FAULT, and what a run under them comes to.

    Expected is `exit`, for a case (its rows) and side the verdict and source of its time or the stage, kind and ACL
    code of its failure, for a case both sides whichever is which; `remarks` are codes that the run must carry,
    `speedups` one a case, `sessions` all that it took, `sick` the marks by which other runs leave the device alone,
    `profs` the folders of the profiler that stay: up to 3, of sessions that brought no sound time.
    """

    fault: str
    expected: dict[str, Any]
    rows: tuple[int, ...] = (1,)
    reference: str = REFERENCE
    candidate: str = CANDIDATE
    words: tuple[str, ...] = ()
    variables: dict[str, object] = {}
    says: tuple[str, ...] = ()
    around: Callable[[Emulated], Callable[[], None]] | None = None

    @property
    def title(self) -> str:
        found = [self.fault, *(f"{name}={value}" for name, value in self.variables.items())]
        return ",".join(filter(None, found)) or f"channel occupied {' '.join(self.words)}"


def occupied(made: Emulated) -> Callable[[], None]:
    """Somebody else collects on the device until a session was refused because of it."""
    lock = os.open(made.cann.state / "channel-0.lock", os.O_RDWR | os.O_CREAT, 0o660)
    fcntl.flock(lock, fcntl.LOCK_EX)
    end = time.monotonic() + SLOW_S / 2

    def let_go() -> None:
        while not any("occupied" in log.read_text() for log in made.folder.glob("runs/*/sessions/*/std*.log")):
            if time.monotonic() > end:
                break
            time.sleep(0.1)
        os.close(lock)

    return let_go


TABLE = (
    # A start that fails is nobody's fault but the machine's: tried again (retry), as is an export (offline).
    Wrong(fault="exit:1:before@collecting@once,export_fails", expected=EXACT),
    # It fails each time: no time, and the signal is named although msprof ends with 0 (it prints strerror of it).
    Wrong(
        fault="signal:11:before@collecting", words=("retry=0",), says=("11",),
        expected={"exit": 1, "1 reference": "launch launch", "1 candidate": "launch launch"},
    ),
    # A death costs the side whose call was running; the others are measured in a fresh session.
    Wrong(
        fault="exit:7:after:30@collecting@once", rows=(1, 2, 3), candidate=DEADLY,
        says=("exit code or signal 7", "exit code or signal 9", "exit code 0"),
        expected={
            "exit": 1, "1": "exact op_summary + timing crash", "2 reference": "exact op_summary",
            "2 candidate": "timing crash", "3 reference": "exact op_summary", "3 candidate": "timing exit", "profs": 3,
        },
    ),
    # An exception poisons the context: a fresh process, never a second try of the guilty side; a hang likewise.
    Wrong(
        fault="exception:new_1:6@collecting,hang_op:new_2:6@collecting", rows=(1, 2, 3), candidate=BY_CASE,
        words=("op_timeout_s=1",),
        expected={
            "exit": 1, "1 candidate": "timing exception 507015", "1 reference": "exact op_summary",
            "2 candidate": "timing exception 507014", "2 reference": "exact op_summary",
            "3 candidate": "exact op_summary", "3 reference": "exact op_summary",
        },
    ),
    # No fresh process gets the device any more: it is sick, and what is left is skipped.
    Wrong(
        fault="exception:new_1:6:breaks@collecting", rows=(1, 2), candidate=BY_CASE, says=("507033",),
        expected={"exit": 1, "1 candidate": "timing exception 507015", "2": "skipped_device", "sick": 1},
    ),
    Wrong(
        fault="hang_process::after:30@collecting@once", words=("case_timeout_s=4",),
        expected={"exit": 1, "1": "exact op_summary + timing timeout"},
    ),
    # A start that hangs is tried again; an msprof that hangs behind its application is ended, its data parsed offline.
    Wrong(
        fault="hang_process::before@collecting@once,msprof_hangs", words=("timeout_s=20",), expected=EXACT,
    ),
    Wrong(fault="msprof_hangs:sigint", words=("timeout_s=20",), expected=EXACT),
    # Every export fails: there are no records to take a time from.
    Wrong(
        fault="export_fails:9", words=("retry=0",),
        expected={"exit": 1, "1 reference": "accounting not_measurable", "1 candidate": "accounting not_measurable"},
    ),
    Wrong(
        fault="disk_full", words=("retry=0",),
        expected={"exit": 1, "1 reference": "accounting not_measurable", "1 candidate": "accounting not_measurable"},
    ),
    # Lost rows leave a number, which says so; in another session they may be there.
    Wrong(
        fault="lost_row:30,lost_tail:1", rows=(1, 2), words=("retry=0",),
        expected={"exit": 0, "1": ONE_LOST, "2": ONE_LOST},
    ),
    Wrong(fault="lost_row:30@once", expected={**EXACT, "profs": 1}),
    Wrong(fault="lost_head:20", words=("retry=0",), expected={"exit": 0, "1": ONE_LOST}),
    # Kernels outside of the borders are nobody's; neither are another process's folder and a second, shorter export.
    Wrong(fault="prologue:5,printf,extra_prof,second_export:short", expected=EXACT),
    Wrong(
        fault="varying:new_scale,silent:mul", rows=(1, 3), candidate=SILENT,
        expected={
            "exit": 1, "1 reference": "exact op_summary", "1 candidate": "varying_kernels op_summary",
            "3 reference": "exact op_summary", "3 candidate": "accounting no_kernels",
        },
    ),
    # op_summary is no table: task_time then serves both sides.
    Wrong(fault="csv_empty", expected=BY_TASKS),
    Wrong(fault="csv_header_only", expected=BY_TASKS),
    Wrong(fault="csv_missing", expected=BY_TASKS),
    # What a row lost or was mended of is said with its file and line.
    Wrong(fault="csv_torn", words=("retry=0",), expected={"exit": 0, "1": ONE_LOST, "remarks": {"bad_table"}}),
    # The one with commas in its name is no row less, but by that name another kernel than the other calls'.
    Wrong(
        fault="shifted_row:29,device_printf", variables={"slice_rows": 25},
        expected={**EXACT, "1 candidate": "varying_kernels op_summary", "remarks": {"bad_table"}},
    ),
    # Neither markers nor rests nor, with two cases, names show borders: separators do, in one more session; where they
    # run on the host, each side of each case has its own sessions.
    Wrong(
        fault="no_msprof_tx,clock_jump", rows=(1, 2),
        expected={**EXACT, "2": "exact op_summary", "sessions": 3, "profs": 1},
    ),
    Wrong(
        fault="no_msprof_tx,clock_jump,silent:neg", rows=(1, 2), words=("repeats=40",),
        expected={**EXACT, "2": "exact op_summary", "sessions": 11, "profs": 2},
    ),
    Wrong(
        fault="low_clock,memory_kept",
        expected={
            "exit": 0, "1 reference": "low_clock op_summary", "1 candidate": "low_clock op_summary",
            "remarks": {"memory_kept"},
        },
    ),
    # Both sides of one case fit into memory, not those of two: cases then follow each other in the session.
    Wrong(
        fault="", variables={"hbm_mb": 200}, rows=(1, 2), reference=LARGE % "ref_scale", candidate=LARGE % "new_scale",
        expected={**EXACT, "2": "exact op_summary"},
    ),
    # No two sides fit together: checked one at a time, then timed in sessions of one side; or one fits nowhere.
    Wrong(
        fault="", variables={"hbm_mb": 200}, rows=(1, 2), says=("sides_apart",),
        reference=NEEDY % (120, "ref_scale", 200), candidate=NEEDY % (120, "new_scale", 100),
        expected={**EXACT, "2": "exact op_summary", "speedups": [2.0, 2.0], "sessions": 1 + 4},
    ),
    Wrong(
        fault="", variables={"hbm_mb": 200}, rows=(1, 2), says=("sides_apart", "give the case smaller inputs"),
        reference=NEEDY % (20, "ref_scale", 200), candidate=NEEDY % ("220 if rows == 2 else 20", "new_scale", 100),
        expected={
            **EXACT, "exit": 1, "2 reference": "exact op_summary", "2 candidate": "first_call out_of_memory",
            "speedups": [2.0, None], "sessions": 2,
        },
    ),
    # Somebody else collects: waited for.
    Wrong(fault="", around=occupied, says=("waiting for the device's profiling channel",), expected=EXACT),
    Wrong(
        fault="", around=occupied, words=("profiler=torch_npu",), says=("waiting for the device's profiling channel",),
        expected={"exit": 0, "1 reference": "exact kernel_details", "1 candidate": "exact kernel_details"},
    ),
    Wrong(fault="no_cann", says=("torch_npu",), expected={"exit": 2}),
)  # fmt: skip


def told(row: dict[str, Any], side: str) -> str:
    """What a row says of one side, in a word or two."""
    if row.get("skipped"):
        return str(row["skipped"])
    if (failure := row[side]["failure"]) is not None:
        return " ".join(str(failure[name]) for name in ("stage", "kind", "acl_code") if failure[name] is not None)
    account = row["accounting"].get(side)
    return f"{account['verdict']} {account['source']}" if account else "nothing"


def seen(ran: Ran, expected: dict[str, Any]) -> dict[str, Any]:
    """What a run came to, in the words of `expected`."""
    found: dict[str, Any] = {"exit": ran.code}
    if ran.folder is None:
        return found
    if "profs" in expected:
        found["profs"] = len(list(ran.folder.glob("sessions/*/PROF_*")))
    if "sick" in expected:
        found["sick"] = len(list((ran.folder.parents[1] / "lease").glob("npu0.*.sick")))
    if "sessions" in expected:
        found["sessions"] = len(ran.sessions)
    if "speedups" in expected:
        rows = ran.result["per_case"]
        found["speedups"] = [row["paired"] and round(row["paired"]["speedup"], 1) for row in rows]
    if "remarks" in expected:
        found["remarks"] = {remark["code"] for remark in ran.result["remarks"]} & expected["remarks"]
    for key in expected.keys() - found.keys():
        number, _, side = key.partition(" ")
        row = ran.row(int(number))
        sides = sorted({told(row, side)} if side else {told(row, one) for one in ("reference", "candidate")})
        found[key] = " + ".join(sides)
    return {key: found[key] for key in expected}


def suffer(folder: Path, wrong: Wrong) -> tuple[dict[str, Any], str]:
    """What a line of the table really comes to, and all that was said."""
    made = Emulated(folder, wrong.fault, **wrong.variables)
    made.operator(wrong.rows, wrong.reference, wrong.candidate)
    with ThreadPoolExecutor(1) as pool:
        afterwards = pool.submit(wrong.around(made)) if wrong.around else None
        ran = made.run(*FEW, *wrong.words, timeout_s=200)
        if afterwards is not None:
            afterwards.result()
    text = "" if ran.folder is None else (ran.folder / "result.json").read_text()
    return seen(ran, wrong.expected), text + ran.out + ran.err


def complaint(wrong: Wrong, found: tuple[dict[str, Any], str]) -> str | None:
    """Where what was seen is not what was expected."""
    missing = [words for words in wrong.says if words not in found[1]]
    if found[0] == wrong.expected and not missing:
        return None
    return f"{wrong.title}\n   expected {wrong.expected}\n   seen     {found[0]}" + (
        f"\n   not said {missing}" if missing else ""
    )


@pytest.mark.torch
@pytest.mark.timeout(SLOW_S)
def test_every_fault_gets_its_verdict_state_or_exit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        found = list(pool.map(lambda place: suffer(tmp_path / str(place), TABLE[place]), range(len(TABLE))))
    with capsys.disabled():
        for wrong, (one, _) in zip(TABLE, found, strict=True):
            print(f"\n| {wrong.title} | {one} |", end="")
    wrongs = [words for wrong, one in zip(TABLE, found, strict=True) if (words := complaint(wrong, one))]
    assert not wrongs, "\n" + "\n".join(wrongs)
