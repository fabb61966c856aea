"""What holds for any session."""

from __future__ import annotations

import random
import time
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from msprun.account import account
from msprun.model.call import Accounts
from tests.account.streams import FACTS, Recording, interleaved, times_ns

KINDS = ({}, {"kind": "copy", "task_kind": "MEMCPY_ASYNC"}, {"kind": "ai_cpu", "task_kind": "AI_CPU"})
TASKS = st.lists(
    st.tuples(st.sampled_from("abc"), st.integers(0, 500).map(float), st.sampled_from(KINDS)), max_size=4
)  # fmt: skip
CALLS = st.lists(
    st.tuples(st.integers(0, 1), st.sampled_from(["reference", "candidate", None]), TASKS), min_size=1, max_size=10
)  # fmt: skip


def session(calls: Any, prologue: Any = ()) -> Recording:
    recording = Recording()
    recording.work(prologue)
    recording.rest(30_000)
    for case, side, tasks in calls:
        recording.call(case, side, "timed" if side else "boost", tasks)
    return recording


def both(recording: Recording) -> list[Accounts]:
    """By markers and by rests."""
    return [account(recording.kernels, marks, recording.calls, FACTS) for marks in (recording.markers, None)]


def with_a_side(calls: Any) -> bool:
    return any(side for _, side, _ in calls)


@settings(max_examples=25, deadline=None)
@given(CALLS.filter(with_a_side), st.integers())
def test_order_of_rows_does_not_matter(calls: Any, seed: int) -> None:
    recording = session(calls)
    before = both(recording)
    random.Random(seed).shuffle(recording.rows)
    random.Random(seed).shuffle(recording.marks)
    assert both(recording) == before


@settings(max_examples=25, deadline=None)
@given(CALLS.filter(with_a_side), TASKS)
def test_prologue_changes_no_time(calls: Any, prologue: Any) -> None:
    for alone, after in zip(both(session(calls)), both(session(calls, prologue)), strict=True):
        if alone.borders == after.borders:
            assert [list(times_ns(one).items()) for one in alone.sides] == [
                list(times_ns(one).items()) for one in after.sides
            ]


@settings(max_examples=25, deadline=None)
@given(CALLS.filter(with_a_side), TASKS)
def test_calls_and_what_is_outside_are_all_there_is(calls: Any, prologue: Any) -> None:
    recording = session(calls, prologue)
    kernels = [row for row in recording.rows if row["kind"] != "copy"]
    for found in both(recording):
        if found.outside is not None:
            assert sum(one.rows for one in found.sides) + found.outside.kernels == len(kernels)
            sound = {"exact", "varying_kernels", "no_kernels"}
            if {one.verdict for one in found.sides} <= sound:
                told = sum(call.device_ns for one in found.sides for call in one.times)
                assert told + found.outside.kernels_ns == sum(row["duration_ns"] for row in kernels)


@settings(max_examples=25, deadline=None)
@given(CALLS.filter(with_a_side))
def test_a_time_is_the_truth_or_is_not_told(calls: Any) -> None:
    recording = session(calls)
    for found in both(recording):
        for one in found.sides:
            if one.verdict in ("exact", "lost_rows"):
                assert all(recording.sums_ns[call.number] == call.device_ns for call in one.times)


def test_the_largest_session_is_accounted_quickly() -> None:
    recording = Recording()
    for case in range(16):
        kernels = {side: [(f"{side}{at}", 3.0) for at in range(20)] for side in ("reference", "candidate")}
        interleaved(recording, case, kernels, quads=156)
    rows, marks = recording.kernels, recording.markers
    assert (len(rows), len(recording.calls)) == (200_960, 10_048)
    began = time.process_time()
    found = account(rows, marks, recording.calls, FACTS)
    # Twice what was aimed at, since other work may go on beside it.
    assert time.process_time() - began < 2.0
    assert {one.verdict for one in found.sides} == {"exact"}
