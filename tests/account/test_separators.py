"""Separator kernels are borders where there is one for each, known by name, type and shape."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from msprun.account.schedule import Split, schedule
from msprun.account.separators import split
from msprun.account.stream import stream
from msprun.model.call import Identity, Refusal
from tests.account.streams import SEPARATOR, Recording, interleaved, timeless

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


@pytest.mark.parametrize(
    ("spoil", "separator", "code"),
    [
        (as_played, SEPARATOR, "found"),
        (as_played, None, "no_separators"),
        (as_played, Identity(name="Neg", op_type="Neg", input_shapes="8,8"), "separators_miscounted"),
        (one_lost, SEPARATOR, "separators_miscounted"),
        (one_foreign, SEPARATOR, "separators_miscounted"),
        (shapeless, SEPARATOR, "separators_not_recorded"),
        (too_long, SEPARATOR, "kernels_across_separators"),
    ],
)
def test_separators_hold_or_say_why(spoil: Callable[[Recording], Any], separator: Any, code: str) -> None:
    recording = Recording(separates=True)
    interleaved(recording, 0, BOTH)
    recording.separate()
    spoil(recording)
    found = split(stream(recording.kernels), schedule(timeless(recording)), separator)
    assert (found.code if isinstance(found, Refusal) else "found") == code


def test_quotes_around_shapes_are_no_difference() -> None:
    recording = Recording(separates=True)
    interleaved(recording, 0, BOTH)
    recording.separate()
    recording.rows = [row | {"Input Shapes": f'"{row["Input Shapes"]}"'} for row in recording.rows]
    assert isinstance(split(stream(recording.kernels), schedule(timeless(recording)), SEPARATOR), Split)
