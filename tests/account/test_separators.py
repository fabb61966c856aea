"""Separator kernels are borders where there is one for each, known by name, type and shape."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from msprun.account.schedule import Split, schedule
from msprun.account.separators import part, split
from msprun.account.session import account
from msprun.account.stream import stream
from msprun.model.call import Accounts, Circumstances, Identity, Refusal
from tests.account.streams import SEPARATOR, Recording, interleaved, timeless, times_ns
from tests.account.ways import separated

BOTH = {"reference": [("MatMul", 20.0), ("Neg", 3.0)], "candidate": [("Neg", 11.0)]}


def as_played(recording: Recording) -> None:
    """Nothing."""


def one_lost(recording: Recording) -> None:
    recording.rows.pop(0)


def one_foreign(recording: Recording) -> None:
    recording.rows.append(recording.rows[0] | {"start_ns": recording.rows[0]["start_ns"] - 9_000})


def shapeless(recording: Recording) -> None:
    recording.rows = [row | {"Input Shapes": None} for row in recording.rows]


def too_long(recording: Recording) -> None:
    recording.rows[1]["duration_ns"] = 5_000_000


def played(spoil: Callable[[Recording], Any] = as_played) -> Recording:
    recording = Recording(separates=True)
    for case in range(2):
        interleaved(recording, case, BOTH)
        recording.pause()
        recording.work([("Fill", 40.0)])  # as a case does that is loaded meanwhile
        recording.rest()
    spoil(recording)
    return recording


def cut(recording: Recording, facts: Circumstances) -> Split | Refusal:
    plan = schedule(timeless(recording))
    return split(part(stream(recording.kernels), plan, facts), plan, facts)


def assert_exact(found: Accounts, borders: str) -> None:
    assert (found.borders, {one.verdict for one in found.sides}) == (borders, {"exact"})
    times = {one.side: set(times_ns(one).values()) for one in found.sides}
    assert times == {"reference": {23_000}, "candidate": {11_000}}


@pytest.mark.parametrize(
    ("spoil", "identity", "code"),
    [
        (as_played, SEPARATOR, "found"),
        (as_played, None, "separators_unknown"),
        (as_played, Identity(name="Neg", op_type="Neg", input_shapes="8,9"), "separators_missing"),
        (one_lost, SEPARATOR, "separators_missing"),
        (one_foreign, SEPARATOR, "separators_unknown"),
        (shapeless, SEPARATOR, "separators_unknown"),
        (too_long, SEPARATOR, "kernels_across_separators"),
    ],
)
def test_separators_hold_or_say_why(spoil: Callable[[Recording], Any], identity: Identity | None, code: str) -> None:
    recording = played(spoil)
    found = cut(recording, replace(separated(recording), separator=identity))
    assert (found.code if isinstance(found, Refusal) else "found") == code


def test_quotes_around_shapes_are_no_difference() -> None:
    recording = played()
    recording.rows = [row | {"Input Shapes": f'"{row["Input Shapes"]}"'} for row in recording.rows]
    assert isinstance(cut(recording, separated(recording)), Split)


def test_what_runs_between_two_requests_belongs_to_nobody() -> None:
    recording = played()
    found = account(recording.kernels, None, timeless(recording), separated(recording))
    assert_exact(found, "separators")
    assert found.outside is not None and found.outside.kernels_ns == 2 * 40_000


def test_a_call_that_never_answered_had_a_separator_too() -> None:
    recording = played()
    lost = recording.calls.pop(5)
    facts = replace(separated(recording), abandoned=(lost.number,))
    assert_exact(account(recording.kernels, None, timeless(recording), facts), "separators")


def test_calls_of_a_request_that_never_answered_stand_behind_all_others() -> None:
    recording = played()
    first = len(recording.calls) + len(recording.pauses)
    calls = timeless(recording)
    for _ in range(3):
        recording.call(1, "candidate", "timed", BOTH["candidate"])
    facts = separated(recording)
    assert_exact(account(recording.kernels, None, calls, replace(facts, unanswered_from=first)), "separators")
    assert account(recording.kernels, None, calls, facts).borders is None


def test_separators_hold_where_the_two_clocks_do_not_agree() -> None:
    recording = played()
    for number, row in enumerate(recording.rows):
        row["start_ns"] += 10**9 + 30_000_000 * (number // 7)
    assert_exact(account(recording.kernels, None, recording.calls, separated(recording)), "separators")


@pytest.mark.parametrize("spoil", [one_lost, one_foreign, shapeless])
def test_where_separators_fail_the_rests_around_them_still_hold(spoil: Callable[[Recording], Any]) -> None:
    recording = played(spoil)
    assert_exact(account(recording.kernels, None, recording.calls, separated(recording)), "gaps")


@pytest.mark.parametrize("spoil", [one_foreign, shapeless])
def test_separators_that_cannot_be_told_from_kernels_leave_nothing_to_names(spoil: Callable[[Recording], Any]) -> None:
    recording = Recording(separates=True)
    interleaved(recording, 0, BOTH)
    recording.pause()
    spoil(recording)
    found = account(recording.kernels, None, timeless(recording), separated(recording))
    assert {one.verdict for one in found.sides} == {"unsplit"}
