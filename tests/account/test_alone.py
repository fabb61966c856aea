"""One side of one case in a session of its own: an even division between two host times."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from msprun.account.alone import split
from msprun.account.schedule import Split, schedule
from msprun.account.session import account
from msprun.account.stream import stream
from msprun.model.call import Refusal
from tests.account.streams import FACTS, Recording, side_of, times_ns

# ABAB, so that names tell two periods; calls follow each other at once, so that there are no rests.
TWICE = [("Add", 3.0), ("Mul", 4.0)] * 2


def session() -> Recording:
    recording = Recording(rest_us=2.0)
    recording.work([("Fill", 5.0)] * 4)
    recording.rest(20_000)
    for _ in range(5):
        recording.call(0, "reference", "timed", TWICE)
    return recording


def test_calls_are_equal_parts() -> None:
    recording = session()
    found = account(recording.kernels, None, recording.calls, FACTS)
    assert (found.borders, found.sides[0].verdict) == ("alone", "exact")
    assert list(times_ns(side_of(found, "reference")).values()) == [14_000] * 5
    assert found.outside is not None and found.outside.kernels_ns == 20_000


def one_lost(recording: Recording) -> None:
    recording.rows.pop(7)


def one_other(recording: Recording) -> None:
    recording.rows[7] |= {"name": "Sub"}


def late_prologue(recording: Recording) -> None:
    recording.rows[3]["start_ns"] = recording.calls[0].start_ns - 600_000


def wrong_clock(recording: Recording) -> None:
    recording.rows = [row | {"start_ns": row["start_ns"] + 10**9} for row in recording.rows]


@pytest.mark.parametrize(
    ("spoil", "code"),
    [
        (one_lost, "not_divisible"), (one_other, "parts_differ"), (late_prologue, "ends_unclear"),
        (wrong_clock, "ends_unclear"),
    ],
)  # fmt: skip
def test_parts_that_are_not_alike_are_no_calls(spoil: Callable[[Recording], Any], code: str) -> None:
    recording = session()
    spoil(recording)
    found = split(stream(recording.kernels), schedule(recording.calls))
    assert isinstance(found, Refusal) and found.code == code


def test_two_sides_are_not_alone() -> None:
    recording = session()
    recording.call(0, "candidate", "timed", TWICE)
    found = split(stream(recording.kernels), schedule(recording.calls))
    assert isinstance(found, Refusal) and found.code == "not_alone"


def test_nothing_at_all_is_silence() -> None:
    recording = session()
    recording.rows = []
    assert isinstance(split(stream(recording.kernels), schedule(recording.calls)), Split)
    assert account(recording.kernels, None, recording.calls, FACTS).sides[0].verdict == "no_kernels"
