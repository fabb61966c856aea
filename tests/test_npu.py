"""msprun on an emulated NPU: its times are those of the device's own log, whatever way it finds borders."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import random
import re
import shutil
import signal
import statistics
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from msgspec import Struct

from tests.emulated import Emulated, Ran

pytestmark = [pytest.mark.torch, pytest.mark.timeout(600)]
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


def assert_no_times_without_msprof(ran: Ran) -> None:
    """torch_npu's profiler is taken and said, and cannot parse what it collected."""
    chosen = ran.result["provenance"]["profiler.kind"]
    assert (chosen["value"], chosen["why"]) == (
        "torch_npu",
        "there is no msprof, neither on PATH nor below ASCEND_HOME_PATH",
    )
    assert "no_msprof" in {remark["code"] for remark in ran.result["remarks"]}
    for side in SIDES:
        failure = ran.row(1)[side]["failure"]
        assert (ran.code, failure["stage"], failure["kind"]) == (1, "accounting", "not_measurable")
        assert "'msprof' command not found" in failure["message"]
        assert "source set_env.sh of CANN" in failure["hint"]
        assert failure["log"] == "sessions/1/stderr.log"


def without_markers(made: Emulated) -> None:
    """A toolkit whose library of markers is not there."""
    home = made.folder / "home"
    shutil.copytree(made.cann.home, home)
    (home / "lib64" / "libms_tools_ext.so").unlink()
    made.environ |= {"ASCEND_HOME_PATH": str(home), "LD_LIBRARY_PATH": str(home / "lib64")}


def without_msprof(made: Emulated) -> None:
    """PATH holds npu-smi alone, as where a wheel of torch_npu was installed and no toolkit."""
    bare, (full, *rest) = made.folder / "bin", made.environ["PATH"].split(os.pathsep)
    bare.mkdir()
    (bare / "npu-smi").symlink_to(Path(full) / "npu-smi")
    made.environ["PATH"] = os.pathsep.join([str(bare), *rest])


def without_mstx(made: Emulated) -> None:
    """A torch_npu from before its markers."""
    made.environ["FAKE_CANN_MSTX_API"] = "none"


def below_msprof(made: Emulated) -> None:
    """What an msprof around msprun itself sets, with which torch_npu's profiler does nothing: no session may see it."""
    made.environ["PROFILER_SAMPLECONFIG"] = "{}"


def run_all(hosts: Sequence[Emulated], words: Sequence[Sequence[str]]) -> list[Ran]:
    """A run on each host, two at a time: the machine has as many cores."""
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(lambda made, asked: made.run(*FEW, *asked, timeout_s=200), hosts, words))


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
    chip = ran.result["environment"]["worker"]["chip"]
    assert (chip["cube_cores"], chip["vector_cores"], chip["cube_mhz"]) == (24, 48, 1800.0)
    assert {kernel["kind"] for kernel in ran.row(2)["candidate"]["kernels"]} == {"AI_VECTOR_CORE"}
    assert [kernel["count"] for kernel in ran.row(2)["candidate"]["kernels"]] == [1.0, 1.0, 1.0]


# Faults, what is done to the host, words, and how borders are then found.
HOSTS: tuple[tuple[str, Callable[[Emulated], None] | None, tuple[str, ...], str], ...] = (
    ("", without_markers, (), "separators"),
    ("no_msproftx", None, ("order=sequential",), "separators"),
    # Where a device computes the separator on the host, or not at all, the rests around it are left.
    ("silent:neg", without_markers, ("order=sequential",), "gaps"),
    ("msprof_tx_host_only", None, ("cache=flush",), "gaps"),
    ("", None, ("cache=flush", "order=sequential"), "markers"),
    ("", below_msprof, ("profiler=torch_npu", "order=sequential"), "markers"),
    ("", without_mstx, ("profiler=torch_npu",), "separators"),
)


def test_times_are_the_truth_however_borders_are_found_and_whoever_collects(tmp_path: Path) -> None:
    hosts = [Emulated(tmp_path / str(number), host[0]) for number, host in enumerate(HOSTS)]
    for made, (_, change, _, _) in zip(hosts, HOSTS, strict=True):
        made.operator((1, 2, 3), REFERENCE, ALL_KINDS)
        if change is not None:
            change(made)
    lacking = Emulated(tmp_path / "lacking")
    lacking.operator((1,), REFERENCE, CANDIDATE)
    without_msprof(lacking)
    *found, bare = run_all([*hosts, lacking], [*(host[2] for host in HOSTS), ("retry=0",)])
    for made, ran, host in zip(hosts, found, HOSTS, strict=True):
        assert_all_but_the_silent_side(made, ran, host[3])
    assert "libms_tools_ext" in found[0].result["environment"]["worker"]["markers_why"]
    inner, silent = found[-2:]
    for ran in (inner, silent):
        assert {row["accounting"]["reference"]["source"] for row in ran.result["per_case"]} == {"kernel_details"}
        assert all("msprof" not in command.split()[0] for command in ran.sessions)
        # 200 us + 10: with counters a kernel would take up to 3.75 times as long.
        assert ran.row(1)["ref_us"] == pytest.approx(210, rel=0.02)
    assert inner.result["environment"]["worker"]["markers"] is True
    assert "no attribute 'mstx'" in silent.result["environment"]["worker"]["markers_why"]
    assert_no_times_without_msprof(bare)


def test_an_operator_has_the_same_time_in_every_order_count_isolation_and_accident(tmp_path: Path) -> None:
    variants = (("repeats=3",), ("order=sequential",), ("isolation=side",), ("isolation=case", "cases=[1]"))
    hosts = [Emulated(tmp_path / str(number), noise=0) for number in range(len(variants))]
    # The clock jumps between calls, so that only names are left; the first warm-up call is not recorded.
    jumping = Emulated(tmp_path / "jumping", "no_msprof_tx,clock_jump")
    headless = Emulated(tmp_path / "headless", "lost_head:20")
    for made in hosts:
        made.operator((1, 4), REFERENCE, CANDIDATE)
    for made in (jumping, headless):
        made.operator((4,), REFERENCE, CANDIDATE)
    *found, jumped, cut = run_all([*hosts, jumping, headless], [*variants, (), ("retry=0",)])
    for ran in found:
        assert ran.code == 0, ran.err
        assert (ran.row(4)["ref_us"], ran.row(4)["asc_us"]) == (240.0, 140.0)
        assert {borders(ran, 4, side) for side in SIDES} == {("exact", "markers")}
    # The check's, then one for both sides, or by turns (A B B A) one a side.
    assert [len(ran.sessions) for ran in found] == [2, 2, 5, 5]
    assert {borders(jumped, 4, side) for side in SIDES} == {("exact", "names")}
    for side in SIDES:
        # By names the very first call has no place, since nothing shows where it begins.
        assert jumped.elapsed_ns(4, side, "timed") == pytest.approx(jumping.truth_ns(4, side)[3:], rel=TOLERANCE)
        assert cut.elapsed_ns(4, side, "timed") == pytest.approx(headless.truth_ns(4, side)[3:], rel=TOLERANCE)
    assert {borders(cut, 4, side) for side in SIDES} == {("exact", "markers"), ("lost_rows", "markers")}


# Hangs in the third case, and may not hear of an interrupt; the check, which has no collector, is spared.
STUCK = """
if rows == 3 and self.calls == 9 and os.environ.get("FAKE_CANN_COLLECT"):
    {}
    time.sleep(600)
return kernel("new_scale", x, 100.0 + 10 * rows)
"""
DEAF = STUCK.format("__import__('signal').pthread_sigmask(0, [2])")
MANY = ("warmup=2", "repeats=1000")


class Stopped(Struct, frozen=True, kw_only=True):
    """A run of four cases that is told to stop while the third is timed; the first two are whole then."""

    number: signal.Signals = signal.SIGINT
    words: tuple[str, ...] = MANY
    candidate: str = CANDIDATE
    fault: str = ""
    again_after_s: float | None = None
    export_s: float = 0


STOPPED = (
    Stopped(),
    Stopped(number=signal.SIGTERM, words=FEW, candidate=STUCK.format("pass"), fault="no_msproftx"),
    Stopped(number=signal.SIGHUP, words=FEW, candidate=DEAF),
    Stopped(number=signal.SIGTERM, words=(*MANY, "profiler=torch_npu")),
    # Once more while msprof still exports.
    Stopped(again_after_s=1.0, export_s=60),
)


def stop(made: Emulated, how: Stopped) -> tuple[Ran, float]:
    """A run that is stopped, and the seconds from the last word to its end."""
    made.operator((1, 2, 3, 4), REFERENCE, how.candidate)
    child = made.start(*how.words)
    await_true(lambda: third_case_is_timed(made), 90)
    for wait_s in (0, how.again_after_s):
        if wait_s is not None:
            time.sleep(wait_s)
            child.send_signal(how.number)
            told_s = time.monotonic()
    out, err = child.communicate(timeout=60)
    assert "Traceback" not in err, err
    took_s = time.monotonic() - told_s
    folder = next(made.folder.glob("runs/*/result.json")).parent
    return Ran(code=child.returncode, out=out, err=err, folder=folder), took_s


def third_case_is_timed(made: Emulated) -> bool:
    """By the answers of the sessions behind the check."""
    logs = made.folder.glob("runs/*/sessions/[1-9]/results.jsonl")
    return any(re.search(r'\[\d+,2,"(reference|candidate)","call"', log.read_text()) for log in logs)


def assert_nothing_is_left(made: Emulated) -> None:
    await_true(lambda: not living(made.cann.state), 10)
    # A process that ends has no environment any more a moment before its files are closed.
    for lock in (made.cann.state / "channel-0.lock", made.folder / "lease" / "npu0.lock"):
        await_true(lambda lock=lock: is_free(lock), 2)  # type: ignore[misc]


def assert_whole_cases_are_true(made: Emulated, ran: Ran) -> None:
    """The cases that were whole have the truth's times, and the others none."""
    for rows, side in ((1, "reference"), (1, "candidate"), (2, "reference"), (2, "candidate")):
        truth = made.truth_ns(rows, side)[1:]
        assert ran.elapsed_ns(rows, side, "warmup") + ran.elapsed_ns(rows, side, "timed") == pytest.approx(
            truth, rel=TOLERANCE
        )
        assert ran.row(rows)["accounting"][side]["verdict"] == "exact"
    assert [ran.row(rows)["stop"] for rows in (1, 2, 3, 4)] == ["explicit", "explicit", None, None]
    assert [ran.row(rows)["status"] for rows in (3, 4)] == ["pending", "pending"]
    assert (ran.result["complete"], ran.result["exit_code"]) == (False, 130)


def assert_goes_on(made: Emulated, ran: Ran) -> None:
    """What is taken up again measures only what is missing."""
    assert ran.folder is not None
    times = [ran.row(rows)["ref_us"] for rows in (1, 2)]
    done = made.run(f"resume={ran.folder}")
    assert done.code == 0, done.err
    assert [done.row(rows)["status"] for rows in (1, 2, 3, 4)] == ["measured"] * 4
    assert [done.row(rows)["ref_us"] for rows in (1, 2)] == times
    last = max(made.folder.glob("runs/*/sessions/*/job.json"), key=lambda file: int(file.parent.name))
    assert [case["index"] for case in json.loads(last.read_text())["cases"]] == [2, 3]


def test_a_run_that_is_stopped_keeps_its_times_and_leaves_no_process_lease_or_lock(tmp_path: Path) -> None:
    hosts = [Emulated(tmp_path / str(number), how.fault, export_s=how.export_s) for number, how in enumerate(STOPPED)]
    with ThreadPoolExecutor(2) as pool:
        ended = list(pool.map(stop, hosts, STOPPED))
    for made, how, (ran, took_s) in zip(hosts, STOPPED, ended, strict=True):
        assert ran.code == 130
        assert "interrupted: reading what was measured; once more to stop at once" in ran.out
        assert_nothing_is_left(made)
        if how.again_after_s is None:
            assert_whole_cases_are_true(made, ran)
        else:
            assert took_s < 2
            assert {row["status"] for row in ran.result["per_case"]} == {"pending"}
    assert_goes_on(hosts[0], ended[0][0])
    kill_at_any_moment(tmp_path / "killed")


def kill_at_any_moment(folder: Path) -> None:
    """Runs that have no time for anything; what they held is free."""
    chance = random.Random(5)
    for number in range(6):
        made = Emulated(folder / str(number))
        made.operator((1,), REFERENCE, CANDIDATE)
        child = made.start("warmup=2", "repeats=3000")
        if number % 2:  # while msprof collects
            await_true(lambda made=made: list(made.folder.glob("runs/*/sessions/1/PROF_*")), 60)  # type: ignore[misc]
        time.sleep(chance.uniform(0.2, 3.0))
        assert child.poll() is None
        child.kill()
        child.communicate()
        assert_nothing_is_left(made)


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
