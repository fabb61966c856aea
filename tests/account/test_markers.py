"""Markers are the surest borders, if every one is there once, in order, and no kernel runs across an end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from msprun.account import account
from msprun.account.markers import markers
from msprun.model.call import Refusal
from tests.account.streams import FACTS, Recording, interleaved, side_of, times_ns

BOTH = {"reference": [("MatMul", 20.0), ("Add", 3.0)], "candidate": [("Fused", 11.0)]}


def lacking(recording: Recording) -> None:
    recording.marks.pop(4)


def twice(recording: Recording) -> None:
    recording.marks.append(dict(recording.marks[4]))


def strange(recording: Recording) -> None:
    recording.marks[4] |= {"message": "mr|99"}


def wordy(recording: Recording) -> None:
    recording.marks[4] |= {"message": "hello"}


def overlapping(recording: Recording) -> None:
    recording.marks[4] |= {"device_end_ns": recording.marks[5]["device_end_ns"]}


def swapped(recording: Recording) -> None:
    recording.marks[4]["message"], recording.marks[5]["message"] = "mr|5", "mr|4"


def backwards(recording: Recording) -> None:
    mark = recording.marks[4]
    mark["device_start_ns"], mark["device_end_ns"] = mark["device_end_ns"], mark["device_start_ns"]


def crossed(recording: Recording) -> None:
    recording.marks[4]["device_end_ns"] -= 10_000


def entered(recording: Recording) -> None:
    recording.marks[4]["device_start_ns"] += 15_000


def overtaken(recording: Recording) -> None:
    recording.marks[4] |= {"device_start_ns": None}


def of_others(recording: Recording) -> None:
    recording.marks = [mark | {"domain": "theirs"} for mark in recording.marks]


@pytest.mark.parametrize(
    ("spoil", "code", "figures"),
    [
        (lacking, "markers_missing", {"markers": 1, "numbers": [4]}),
        (twice, "markers_twice", {"markers": 1, "numbers": [4]}),
        (strange, "unknown_markers", {"markers": 1, "messages": ["mr|99"]}),
        (wordy, "unknown_markers", {"markers": 1, "messages": ["hello"]}),
        (overlapping, "markers_overlap", {"markers": 1}),
        (swapped, "markers_overlap", {"markers": 1}),
        (backwards, "markers_backwards", {"markers": 1, "numbers": [4]}),
        (crossed, "kernels_cross_markers", {"kernels": 1}),
        (entered, "kernels_cross_markers", {"kernels": 1}),
        (overtaken, "no_device_times", {}),
        (of_others, "no_markers", {}),
    ],
)
def test_markers_that_do_not_hold_are_refused(spoil: Callable[[Recording], Any], code: str, figures: Any) -> None:
    recording = Recording()
    interleaved(recording, 0, BOTH)
    spoil(recording)
    found = account(recording.kernels, recording.markers, recording.calls, FACTS)
    assert found.refusals[0] == Refusal(method="markers", code=code, figures=figures)
    assert found.borders == "gaps"
    assert set(times_ns(side_of(found, "reference")).values()) == {23_000}


def test_markers_of_calls_that_never_answered_are_passed_over() -> None:
    recording = Recording()
    interleaved(recording, 0, BOTH)
    recording.call(1, "candidate", "timed", [("Dies", 5.0)])
    abandoned = recording.calls.pop().number
    for facts, borders in ((replace(FACTS, abandoned=(abandoned,)), "markers"), (FACTS, "gaps")):
        found = account(recording.kernels, recording.markers, recording.calls, facts)
        assert found.borders == borders
        assert {one.case for one in found.sides} == {0}


@pytest.mark.parametrize(("first", "borders"), [(0, "markers"), (1, "gaps"), (None, "gaps")])
def test_markers_behind_the_last_answer_are_passed_over(first: int | None, borders: str) -> None:
    recording = Recording()
    interleaved(recording, 0, BOTH)
    told = len(recording.calls)
    for _ in range(3):  # one after the other, until somebody interrupted the request
        recording.call(1, "candidate", "timed", [("Slow", 5.0)])
    del recording.calls[told:]
    facts = FACTS if first is None else replace(FACTS, unanswered_from=told + first)
    found = account(recording.kernels, recording.markers, recording.calls, facts)
    assert found.borders == borders
    assert set(times_ns(side_of(found, "reference")).values()) == {23_000}


def test_boost_without_a_marker_is_no_fault() -> None:
    recording = Recording()
    recording.call(0, None, "boost", [("Boost", 900.0)])
    interleaved(recording, 0, BOTH)
    recording.marks.pop(0)
    found = account(recording.kernels, recording.markers, recording.calls, FACTS)
    assert found.borders == "markers" and found.outside is not None
    assert (found.outside.kernels, found.outside.kernels_ns) == (1, 900_000)


def test_probe_and_markers_of_the_operator_are_not_ours() -> None:
    recording = Recording()
    interleaved(recording, 0, BOTH)
    first = recording.marks[0]
    recording.marks += [first | {"message": "mr|probe"}, first | {"message": "step 1", "domain": "default"}]
    assert account(recording.kernels, recording.markers, recording.calls, FACTS).borders == "markers"


@pytest.mark.parametrize("domain", [None, "default"])
def test_markers_without_a_domain_of_their_own_are_known_by_the_message(domain: str | None) -> None:
    recording = Recording()
    interleaved(recording, 0, BOTH)
    recording.marks = [mark | {"domain": domain} for mark in recording.marks]
    recording.marks += [recording.marks[0] | {"message": message} for message in ("step 1", "mr|probe")]
    assert len(markers(recording.markers)) == len(recording.calls)
    assert account(recording.kernels, recording.markers, recording.calls, FACTS).borders == "markers"


def test_kernel_that_starts_on_the_border_of_its_marker_is_inside() -> None:
    recording = Recording()
    interleaved(recording, 0, BOTH)
    for mark, call in zip(recording.marks, recording.calls, strict=True):
        rows = [row for row in recording.rows if call.start_ns <= row["start_ns"] <= call.end_ns]
        mark["device_start_ns"] = rows[0]["start_ns"]
        mark["device_end_ns"] = rows[-1]["start_ns"] + rows[-1]["duration_ns"]
    found = account(recording.kernels, recording.markers, recording.calls, FACTS)
    assert found.borders == "markers"
    assert {one.verdict for one in found.sides} == {"exact"}
