"""Rests of the device are borders where they agree with the host's windows."""

from __future__ import annotations

import pytest

from msprun.account.gaps import split
from msprun.account.schedule import Split, schedule
from msprun.account.session import account
from msprun.account.stream import stream
from msprun.model.call import Refusal
from tests.account.streams import EPOCH_NS, FACTS, Recording, interleaved, rows_of, sequential, side_of, times_ns

BOTH = {"reference": [("MatMul", 20.0), ("Add", 3.0)], "candidate": [("Fused", 11.0)]}


def played(recording: Recording) -> Split | Refusal:
    plan = schedule(recording.calls)
    return split(stream(recording.kernels), plan, plan.begin, plan.end)


def code(found: Split | Refusal) -> str:
    return found.code if isinstance(found, Refusal) else "found"


def moved(recording: Recording, us: float, drift: float = 0.0) -> None:
    """The device's clock is off by so much, and runs faster by this share."""
    for row in recording.rows:
        row["start_ns"] += round(us * 1000 + drift * (row["start_ns"] - EPOCH_NS))


@pytest.mark.parametrize("us", [-350.0, -20.0, 0.0, 20.0, 350.0, 60e6, -3_600e6, -EPOCH_NS / 1000])
def test_clock_that_is_off_is_no_hindrance(us: float) -> None:
    recording = Recording()
    interleaved(recording, 0, BOTH)
    moved(recording, us)
    found = account(recording.kernels, None, recording.calls, FACTS)
    assert (found.borders, {one.verdict for one in found.sides}) == ("gaps", {"exact"})
    assert set(times_ns(side_of(found, "reference")).values()) == {23_000}


@pytest.mark.parametrize("us", [400.0, 1_700.0, 5_000.0])
def test_clock_that_jumps_between_calls_gives_no_times(us: float) -> None:
    recording = Recording(rest_us=40.0)
    for _ in range(40):
        recording.call(0, "reference", "timed", BOTH["reference"])
    for row in recording.rows[len(recording.rows) // 2 :]:
        row["start_ns"] += round(us * 1000)
    assert code(played(recording)) == "clock_doubtful"
    found = account(recording.kernels, None, recording.calls, FACTS)
    assert (found.borders, {one.verdict for one in found.sides}) == ("names", {"exact"})
    assert set(times_ns(side_of(found, "reference")).values()) == {23_000}


def test_rows_that_are_lost_leave_the_others_their_calls() -> None:
    recording = Recording()
    interleaved(recording, 0, BOTH, quads=6)
    recording.rows = recording.rows[5:]
    found = account(recording.kernels, None, recording.calls, FACTS)
    assert (found.borders, {one.verdict for one in found.sides}) == ("gaps", {"lost_rows"})


def test_clock_may_drift() -> None:
    recording = Recording()
    interleaved(recording, 0, BOTH, quads=60)
    moved(recording, -100.0, drift=1e-3)  # 0.26 ms in a quarter of a second
    assert code(played(recording)) == "found"


def test_first_call_may_stop_for_long_between_its_kernels() -> None:
    recording = Recording()
    recording.call(0, "reference", "first", BOTH["reference"], inner_us=3e6)
    interleaved(recording, 0, BOTH)
    found = account(recording.kernels, None, recording.calls, FACTS)
    assert times_ns(side_of(found, "reference"))[0] == 23_000


def test_work_that_is_not_on_the_schedule_may_lie_apart_between_cases() -> None:
    recording = Recording()
    recording.work([("Fill", 5.0)] * 3)
    recording.rest()
    for case in range(2):
        interleaved(recording, case, BOTH)
        recording.rest()
        recording.work([("Fill", 5.0), ("Cast", 7.0)], inner_us=300.0)
        recording.rest()
    found = account(recording.kernels, None, recording.calls, FACTS)
    assert {one.verdict for one in found.sides} == {"exact"}
    assert found.outside is not None and found.outside.kernels_ns == 15_000 + 2 * 12_000


def test_calls_that_follow_each_other_at_once_have_no_borders() -> None:
    recording = Recording(rest_us=5.0)
    interleaved(recording, 0, BOTH)
    assert code(played(recording)) == "no_rests"


def test_kernels_right_before_a_call_are_not_told_from_it() -> None:
    recording = Recording()
    recording.work([("Fill", 5.0)] * 3)
    interleaved(recording, 0, BOTH)
    assert code(played(recording)) == "kernels_leave_windows"


@pytest.mark.parametrize(("behind_us", "kernel_us", "verdict"), [(40.0, 5.0, "exact"), (4.0, 40.0, "unsplit")])
def test_kernels_behind_a_call_are_told_from_it_by_the_clock(behind_us: float, kernel_us: float, verdict: str) -> None:
    recording = Recording()
    interleaved(recording, 0, BOTH)
    recording.now_us -= recording.rest_us - behind_us
    recording.work([("Restore", kernel_us)])
    recording.rest()
    interleaved(recording, 1, BOTH)
    moved(recording, 120.0)
    found = account(recording.kernels, None, recording.calls, FACTS)
    assert {one.verdict for one in found.sides} == {verdict}


def test_kernels_of_silent_calls_on_a_clock_that_is_off_are_not_passed_over() -> None:
    recording = Recording()
    for _ in range(4):
        recording.call(0, "reference", "timed", BOTH["reference"])
        recording.call(0, "candidate", "timed", [])
    moved(recording, 500.0)
    assert code(played(recording)) == "kernels_between_windows"


def test_kernel_that_runs_into_the_next_call_is_refused() -> None:
    recording = Recording()
    interleaved(recording, 0, BOTH)
    recording.rows[3]["duration_ns"] = 1_500_000
    assert code(played(recording)) == "kernels_leave_windows"


def test_kernel_that_runs_into_a_call_is_refused() -> None:
    recording = Recording()
    interleaved(recording, 0, BOTH)
    recording.work([("Fill", 1_500.0)])
    recording.now_us -= 1_000.0
    interleaved(recording, 1, BOTH)
    assert code(played(recording)) == "kernels_across_windows"


def test_silent_side_is_found_by_the_clock_and_never_guessed() -> None:
    recording = Recording()
    sequential(recording, 0, {"reference": BOTH["reference"], "candidate": []})
    assert code(played(recording)) == "found"
    moved(recording, -EPOCH_NS / 1000)
    assert code(played(recording)) == "no_kernels_in_windows"


def test_records_that_fit_elsewhere_too_are_doubtful() -> None:
    recording = Recording()
    for _ in range(8):
        recording.call(0, "reference", "timed", [("Add", 3.0)])
    # Two calls later, on a clock that may be wrong by as much: the first two windows seem empty.
    period_us = (recording.calls[1].start_ns - recording.calls[0].start_ns) / 1000
    moved(recording, 2 * period_us)
    assert code(played(recording)) == "clock_doubtful"


def test_offset_is_not_looked_for_by_a_few_calls() -> None:
    recording = Recording()
    for _ in range(3):
        recording.work([("Fill", 5.0)], inner_us=2013.0)
    for _ in range(3):
        recording.call(0, "reference", "timed", [], rest_us=2000.0)
    # Each window is 18 us long, and so the prologue would do for the calls.
    assert code(played(recording)) == "no_kernels_in_windows"


def test_session_in_which_nothing_runs_is_silent_whatever_ran_before() -> None:
    recording = Recording()
    recording.work([("Fill", 5.0), ("Cast", 9.0)], inner_us=300.0)
    recording.rest()
    for _ in range(6):
        recording.call(0, "candidate", "timed", [])
    found = account(recording.kernels, None, recording.calls, FACTS)
    assert (found.borders, found.sides[0].verdict) == ("gaps", "no_kernels")


def test_offset_is_refused_where_two_would_do() -> None:
    recording = Recording()
    for _ in range(9):
        recording.call(0, "reference", "timed", [("Add", 3.0)])
    recording.calls.pop()
    moved(recording, -3_600e6)
    assert code(played(recording)) == "offsets_ambiguous"


def test_stream_without_kernels_leaves_every_window_empty() -> None:
    recording = Recording()
    interleaved(recording, 0, BOTH)
    plan = schedule(recording.calls)
    found = split(stream(rows_of([])), plan, plan.begin, plan.end)
    assert isinstance(found, Split) and len(found.begin) == len(recording.calls)
