"""msprun on an emulated NPU: its times are those of the device's own log, whatever way it finds borders."""

from __future__ import annotations

import contextlib
import fcntl
import os
import random
import shutil
import statistics
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.emulated import Emulated, Ran

pytestmark = [pytest.mark.torch, pytest.mark.timeout(300)]
FEW = ("warmup=2", "repeats=8")
SIDES = ("reference", "candidate")
REFERENCE = 'return kernel("ref_scale", x, 200.0 + 10 * rows)'
CANDIDATE = 'return kernel("new_scale", x, 100.0 + 10 * rows)'
# Rows 2: three kernels a call. Rows 3: the candidate computes on the host and runs nothing on the device.
ALL_KINDS = """
if rows == 2:
    kernel("new_first", x, 50.0)
    kernel("new_second", x, 30.0)
if rows == 3:
    return (x.cpu() * 2).to(x.device)
return kernel("new_scale", x, 100.0 + 10 * rows)
"""
TOLERANCE = 1e-3


def assert_true(made: Emulated, ran: Ran, rows: int, side: str) -> None:
    """Every sample and the median are the truth's, within 0.1 %, of one session after its first call."""
    warmup, timed = 2, 8
    first, *truth = made.truth_ns(rows, side)
    assert len(truth) == warmup + timed and first > 0
    assert ran.elapsed_ns(rows, side, "warmup") == pytest.approx(truth[:warmup], rel=TOLERANCE)
    assert ran.elapsed_ns(rows, side, "timed") == pytest.approx(truth[warmup:], rel=TOLERANCE)
    median_us = statistics.median(truth[warmup:]) / 1000
    assert ran.row(rows)["ref_us" if side == "reference" else "asc_us"] == pytest.approx(median_us, rel=TOLERANCE)


def borders(ran: Ran, rows: int, side: str) -> tuple[str, str | None]:
    """The verdict of one side and how its borders were found."""
    account = ran.row(rows)["accounting"][side]
    return account["verdict"], account.get("borders")


def assert_all_but_the_silent_side(made: Emulated, ran: Ran, way: str) -> None:
    """Rows 1 to 3 of ALL_KINDS, of which the third has no candidate on the device."""
    assert ran.code == 1, ran.err  # a case without a number
    for rows, side in ((1, "reference"), (1, "candidate"), (2, "reference"), (2, "candidate"), (3, "reference")):
        assert_true(made, ran, rows, side)
        assert borders(ran, rows, side) == ("exact", way)
    assert borders(ran, 3, "candidate") == ("no_kernels", way)
    assert (ran.row(3)["asc_us"], ran.row(3)["failure"]["kind"]) == (None, "no_kernels")


def both(one: Emulated, words: Sequence[str], other: Emulated, others: Sequence[str]) -> tuple[Ran, Ran]:
    """Two runs at a time, each on a host of its own: the machine has as many cores."""
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.submit(one.run, *words), pool.submit(other.run, *others)
        return first.result(), second.result()


def without_markers(made: Emulated) -> None:
    """A toolkit whose library of markers is not there."""
    home = made.folder / "home"
    shutil.copytree(made.cann.home, home)
    (home / "lib64" / "libms_tools_ext.so").unlink()
    made.environ |= {"ASCEND_HOME_PATH": str(home), "LD_LIBRARY_PATH": str(home / "lib64")}


def test_20_cases_take_two_sessions_and_their_times_are_the_truth_by_markers(tmp_path: Path) -> None:
    made = Emulated(tmp_path)
    made.operator(range(1, 21), REFERENCE, ALL_KINDS)
    ran = made.run(*FEW, "keep_prof=true")
    assert_all_but_the_silent_side(made, ran, "markers")
    for rows in range(4, 21):
        for side in SIDES:
            assert_true(made, ran, rows, side)
            assert borders(ran, rows, side) == ("exact", "markers")
    assert [command.split()[0] == "msprof" for command in ran.sessions] == [False, True, True]
    assert ran.folder is not None and len(list(ran.folder.glob("sessions/*/PROF_*"))) == 2
    assert {kernel["kind"] for kernel in ran.row(2)["candidate"]["kernels"]} == {"AI_VECTOR_CORE"}
    assert [kernel["count"] for kernel in ran.row(2)["candidate"]["kernels"]] == [1.0, 1.0, 1.0]


def test_times_are_the_truth_by_gaps_where_no_marker_answers(tmp_path: Path) -> None:
    bare, refused = Emulated(tmp_path / "bare"), Emulated(tmp_path / "refused", "no_msproftx")
    for made in (bare, refused):
        made.operator((1, 2, 3), REFERENCE, ALL_KINDS)
    without_markers(bare)
    runs = both(bare, FEW, refused, (*FEW, "order=sequential"))
    for made, ran in zip((bare, refused), runs, strict=True):
        assert_all_but_the_silent_side(made, ran, "gaps")
    assert "libms_tools_ext" in runs[0].result["environment"]["worker"]["markers_why"]


def test_times_are_the_truth_behind_flushes_with_a_lost_head_and_where_the_clock_jumps(tmp_path: Path) -> None:
    marked, hosted = Emulated(tmp_path / "marked"), Emulated(tmp_path / "hosted", "msprof_tx_host_only")
    for made in (marked, hosted):
        made.operator((1, 2), REFERENCE, ALL_KINDS)
    runs = both(marked, (*FEW, "cache=flush", "order=sequential"), hosted, (*FEW, "cache=flush"))
    for made, ran, way in zip((marked, hosted), runs, ("markers", "gaps"), strict=True):
        assert ran.code == 0, ran.err
        for rows in (1, 2):
            for side in SIDES:
                assert_true(made, ran, rows, side)
                assert borders(ran, rows, side) == ("exact", way)
    jumping = Emulated(tmp_path / "jumping", "no_msprof_tx,clock_jump")
    headless = Emulated(tmp_path / "headless", "lost_head:54")  # up to the first warm-up call
    for made in (jumping, headless):
        made.operator((2,), REFERENCE, ALL_KINDS)
    jumped, cut = both(jumping, FEW, headless, (*FEW, "retry=0"))
    for side in SIDES:
        assert borders(jumped, 2, side) == ("exact", "names")
        assert_true(jumping, jumped, 2, side)
        assert cut.elapsed_ns(2, side, "timed") == pytest.approx(headless.truth_ns(2, side)[3:], rel=TOLERANCE)
    assert {borders(cut, 2, side) for side in SIDES} == {("exact", "markers"), ("lost_rows", "markers")}


def test_an_operator_has_the_same_time_in_every_order_count_and_isolation(tmp_path: Path) -> None:
    variants = (("repeats=3",), ("order=sequential",), ("isolation=side",), ("isolation=case", "cases=[1]"))
    hosts = [Emulated(tmp_path / str(number), noise=0) for number in range(len(variants))]
    for made in hosts:
        made.operator((1, 4), REFERENCE, CANDIDATE)
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda made, words: made.run(*FEW, *words, timeout_s=200), hosts, variants))
    for ran in found:
        assert ran.code == 0, ran.err
        assert (ran.row(4)["ref_us"], ran.row(4)["asc_us"]) == (240.0, 140.0)
        assert {borders(ran, 4, side)[0] for side in SIDES} == {"exact"}
    # The check's, then one for both sides, or by turns (A B B A) one a side.
    assert [len(ran.sessions) for ran in found] == [2, 2, 5, 5]


def test_torch_npus_profiler_takes_its_place_where_there_is_no_msprof_and_says_so(tmp_path: Path) -> None:
    made, wrapped = Emulated(tmp_path / "alone"), Emulated(tmp_path / "wrapped")
    for host in (made, wrapped):
        host.operator((1, 2, 3), REFERENCE, ALL_KINDS)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "npu-smi").symlink_to(shutil.which("npu-smi", path=made.environ["PATH"]) or "")
    rest = made.environ["PATH"].split(os.pathsep)[1:]
    made.environ["PATH"] = os.pathsep.join([str(tmp_path / "bin"), *rest])
    # What an msprof around msprun itself sets, with which the profiler does nothing: no session sees it.
    wrapped.environ["PROFILER_SAMPLECONFIG"] = "{}"
    ran, inner = both(made, FEW, wrapped, (*FEW, "profiler=torch_npu", "order=sequential"))
    assert_all_but_the_silent_side(wrapped, inner, "gaps")
    assert_all_but_the_silent_side(made, ran, "gaps")
    assert {ran.row(rows)["accounting"]["reference"]["source"] for rows in (1, 2, 3)} == {"kernel_details"}
    assert "no_msprof" in {remark["code"] for remark in ran.result["remarks"]}
    assert ran.result["provenance"]["profiler.kind"] == {
        "value": "torch_npu", "source": "auto", "why": "there is no msprof on PATH",
    }  # fmt: skip
    assert all("msprof" not in command.split()[0] for command in ran.sessions)


def test_a_run_that_is_killed_leaves_no_process_lease_or_lock(tmp_path: Path) -> None:
    chance = random.Random(5)
    for number in range(6):
        made = Emulated(tmp_path / str(number))
        made.operator((1,), REFERENCE, CANDIDATE)
        child = made.start("warmup=2", "repeats=3000")
        if number % 2:  # while msprof collects
            await_true(lambda made=made: list(made.folder.glob("runs/*/sessions/1/PROF_*")), 60)  # type: ignore[misc]
        time.sleep(chance.uniform(0.2, 3.0))
        assert child.poll() is None
        child.kill()
        child.communicate()
        await_true(lambda made=made: not living(made.cann.state), 10)  # type: ignore[misc]
        assert is_free(made.cann.state / "channel-0.lock")
        assert is_free(made.folder / "lease" / "npu0.lock")


def await_true(condition: Callable[[], object], seconds: float) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.05)


def living(state: Path) -> list[str]:
    """Command lines of processes that know the device whose state lies in this folder."""
    wanted, found = f"FAKE_CANN_STATE={state}".encode(), []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if wanted in (process / "environ").read_bytes().split(b"\0"):
                found.append((process / "cmdline").read_text().replace("\0", " "))
    return found


def is_free(lock: Path) -> bool:
    """Whether nobody holds the lock on a file; one that was never made is free."""
    if not lock.exists():
        return True
    with lock.open("r+b") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True
