"""Names alone: one way to cut the stream, or none."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from msprun.account.names import split
from msprun.account.schedule import Split, schedule
from msprun.account.stream import stream
from tests.account.streams import FACTS, Recording, timeless


def cut(before: str, calls: Sequence[tuple[str, str]], after: str = "") -> str | list[str]:
    """What each call gets of a stream of one-letter kernels, or why there is no way; calls are (side, kernels)."""
    recording = Recording()
    recording.work([(name, 5.0) for name in before])
    for side, kernels in calls:
        recording.call(0, {"r": "reference", "c": "candidate"}[side], "timed", [(name, 5.0) for name in kernels])
    recording.work([(name, 5.0) for name in after])
    rows = stream(recording.kernels)
    found = split(rows, schedule(timeless(recording)), FACTS)
    if not isinstance(found, Split):
        return found.code
    names = np.array([what.name for what in rows.what])[rows.code]
    call = found.call_of(rows.start)
    told = ["".join(names[call == place]) for place in range(len(calls))]
    return [("?" if place in found.unplaced else text) for place, text in enumerate(told)]


def of(side: str, kernels: str, count: int) -> list[tuple[str, str]]:
    return [(side, kernels)] * count


ABBA = [*of("r", "ab", 1), *of("c", "c", 2), *of("r", "ab", 1)]


@pytest.mark.parametrize(
    ("before", "calls", "after", "found"),
    [
        ("", of("r", "abc", 4), "", ["abc"] * 4),
        # What is in front of the first call may be a part of it.
        ("xy", of("r", "abc", 4), "", ["?", "abc", "abc", "abc"]),
        ("", ABBA * 2, "", ["ab", "c", "c", "ab", "ab", "c", "c", "ab"]),
        ("x", ABBA * 2, "", ["?", "c", "c", "ab", "ab", "c", "c", "ab"]),
        ("", of("r", "ab", 2) + of("c", "ab", 2), "", "periods_ambiguous"),
        ("", of("r", "abab", 3), "", "periods_ambiguous"),
        ("abc", of("r", "abc", 4), "", "prologue_repeats"),
        ("c", of("r", "abc", 4), "", "prologue_repeats"),
        ("", of("r", "abc", 4), "x", "no_period"),
        # A call that has lost its only kernel looks like a first call that ran none.
        ("", [("r", ""), *of("r", "a", 3)], "", "no_period"),
        ("", [("r", "xab"), *of("r", "ab", 3)], "", ["?", "ab", "ab", "ab"]),
        ("", [*of("r", "abc", 3), ("r", "ab")], "", "no_period"),
        ("", [("r", "ab"), *of("r", "abc", 3)], "", "no_period"),
        ("", [*of("r", "abc", 2), ("r", "acb"), ("r", "abc")], "", "no_period"),
        ("", of("r", "", 4), "", "no_kernels"),
        # Which of two sides is silent, names do not say.
        ("", [("r", "a"), ("c", ""), ("c", ""), ("r", "a")], "", "periods_ambiguous"),
    ],
)
def test_one_way_or_none(before: str, calls: list[tuple[str, str]], after: str, found: str | list[str]) -> None:
    assert cut(before, calls, after) == found


def test_sessions_of_several_cases_are_for_surer_ways() -> None:
    recording = Recording()
    for case in range(2):
        recording.call(case, "reference", "timed", [("a", 5.0)])
    found = split(stream(recording.kernels), schedule(timeless(recording)), FACTS)
    assert not isinstance(found, Split) and found.code == "several_cases"


def test_flush_without_a_known_kernel_hides_the_calls() -> None:
    recording = Recording()
    for _ in range(3):
        recording.call(0, None, "flush", [("ReduceSum", 90.0)])
        recording.call(0, "reference", "timed", [("a", 5.0)])
    found = split(stream(recording.kernels), schedule(timeless(recording)), FACTS)
    assert not isinstance(found, Split) and found.code == "own_kernels_not_recorded"
