"""What each side took, by every way to find borders and in both orders, and what no way can tell."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from msgspec.structs import replace

from msprun.account import account
from msprun.model.call import Accounts, OwnKernel
from tests.account.streams import (
    FACTS,
    SEPARATOR,
    Recording,
    interleaved,
    rows_of,
    sequential,
    side_of,
    timeless,
    times_ns,
)
from tests.account.ways import (
    AMBIGUOUS,
    BOTH,
    CANDIDATE,
    CLEAR,
    ORDERS,
    REFERENCE,
    by_host_markers,
    by_markers,
    by_names,
    by_sleeps,
    recorded,
)

BOOST = OwnKernel(purpose="boost", identity=replace(SEPARATOR, name="Boost", op_type="Boost"))


@pytest.mark.parametrize(
    ("way", "order"), [(way, order) for way in (*CLEAR, by_names) for order in ORDERS if (way, order) != AMBIGUOUS]
)
def test_every_call_is_the_sum_of_its_kernels(way: Any, order: Any) -> None:
    recording = recorded(way)
    order(recording, 0, BOTH)
    found = way(recording)
    for side, sum_ns, kernels in (("reference", 23_000, 2), ("candidate", 11_000, 1)):
        told = side_of(found, side)
        mine = [call.number for call in recording.calls if call.side == side]
        assert times_ns(told) == dict.fromkeys(mine, sum_ns)
        assert (told.verdict, told.rows, told.calls, told.expected) == ("exact", 6 * kernels, 6, 6)
        assert {time.kernels for time in told.times} == {kernels}


def test_names_do_not_tell_the_first_side_from_a_prologue() -> None:
    recording = Recording()
    sequential(recording, 0, BOTH)
    found = by_names(recording)
    assert {one.verdict for one in found.sides} == {"unsplit"}
    assert "names: periods_ambiguous" in found.figures["reasons"]


def test_what_was_tried_in_vain_is_told() -> None:
    recording = Recording()
    interleaved(recording, 0, BOTH)
    found = by_host_markers(recording)
    assert found.borders == "gaps"
    assert [(refusal.method, refusal.code) for refusal in found.refusals] == [("markers", "no_device_times")]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("way", CLEAR)
def test_silent_side_has_no_kernels_and_the_other_one_its_times(way: Any, order: Any) -> None:
    """triton-lang/triton-ascend#1938: a callable without a kernel gave inf."""
    recording = recorded(way)
    order(recording, 0, {"reference": REFERENCE, "candidate": []})
    order(recording, 1, {"reference": [], "candidate": CANDIDATE})
    found = way(recording)
    verdicts = [(one.case, one.side, one.verdict) for one in found.sides]
    assert sorted(verdicts) == [
        (0, "candidate", "no_kernels"), (0, "reference", "exact"),
        (1, "candidate", "exact"), (1, "reference", "no_kernels"),
    ]  # fmt: skip
    assert set(times_ns(side_of(found, "reference")).values()) == {23_000}
    assert side_of(found, "candidate").times == ()


@pytest.mark.parametrize("way", CLEAR)
def test_operators_of_no_one_three_and_a_varying_number_of_kernels_have_states_of_their_own(way: Any) -> None:
    """triton-lang/triton-ascend#1938: the place of a row was taken for the number of a call."""
    view: list[Any] = []
    host = [("MEMCPY", 7.0, {"kind": "copy", "task_kind": "MEMCPY_ASYNC", "block_num": None})] * 2
    composite = [("Sub", 2.0), ("Exp", 3.0), ("Sum", 4.5)]
    recording = recorded(way)
    # By shape: one kernel for the small case, one more for the large one.
    operators = [view, host, composite, [("Small", 5.0)], [("Split", 40.0), ("Merge", 6.0)]]
    for case, kernels in enumerate(operators):
        interleaved(recording, case, {"reference": REFERENCE, "candidate": kernels}, quads=4)
    for number in range(8):
        recording.call(5, "reference", "timed", REFERENCE)
        recording.call(5, "candidate", "timed", composite[: 2 + number % 2])
    found = way(recording)
    told = [side_of(found, "candidate", case) for case in range(6)]
    assert [one.verdict for one in told] == ["no_kernels", "no_kernels", "exact", "exact", "exact", "varying_kernels"]
    assert [set(times_ns(one).values()) for one in told] == [
        set(), set(), {9_500}, {5_000}, {46_000}, {5_000, 9_500}
    ]  # fmt: skip
    assert [bool(one.copies) for one in told[:3]] == [False, True, False]
    assert {one.verdict for one in found.sides if one.side == "reference"} == {"exact"}


@pytest.mark.parametrize("way", CLEAR)
def test_boosts_flushes_and_restores_belong_to_nobody(way: Any) -> None:
    recording = recorded(way)
    recording.call(0, None, "boost", [("Boost", 900.0)])
    for number in range(8):
        recording.call(0, None, "restore", [("TensorMove", 4.0)])
        recording.call(0, None, "flush", [("ReduceSum", 140.0)])
        side = ("reference", "candidate")[number % 2]
        recording.call(0, side, "timed", BOTH[side])
    found = way(recording)
    assert {one.side: set(times_ns(one).values()) for one in found.sides} == {
        "reference": {23_000},
        "candidate": {11_000},
    }
    assert {one.verdict for one in found.sides} == {"exact"}
    assert found.outside is not None
    assert found.outside.kernels_ns == 900_000 + 8 * 144_000


def test_boost_is_left_out_by_identity_where_only_names_are_known() -> None:
    """triton-lang/triton-ascend#350, flagos-ai/FlagTree#751 and #634: preheat kernels spoiled the rows."""
    recording = Recording()
    shapes = {"Input Shapes": BOOST.identity.input_shapes}
    recording.call(0, None, "boost", [("Boost", 900.0, shapes)])
    interleaved(recording, 0, BOTH)
    assert by_names(recording).borders is None
    found = account(recording.kernels, None, timeless(recording), replace(FACTS, own=(BOOST,)))
    assert found.borders == "names"
    assert set(times_ns(side_of(found, "candidate")).values()) == {11_000}


def test_borders_that_put_a_boost_into_a_call_are_refused() -> None:
    recording = Recording()
    shapes = {"Input Shapes": BOOST.identity.input_shapes}
    recording.call(0, None, "boost", [("Boost", 900.0, shapes)])
    interleaved(recording, 0, BOTH)
    # The marker of the second call holds the boost as well.
    recording.marks[1] |= {"device_start_ns": recording.marks[0]["device_start_ns"]}
    recording.marks.pop(0)
    found = account(recording.kernels, recording.markers, recording.calls, replace(FACTS, own=(BOOST,)))
    assert (found.borders, found.refusals[0].code) == ("gaps", "own_kernels_in_calls")


def without_table(recording: Recording) -> Accounts:
    return account(None, recording.markers, recording.calls, FACTS)


def with_trouble(recording: Recording) -> Accounts:
    return account(recording.kernels, None, recording.calls, replace(FACTS, trouble="export_failed"))


def with_two_devices(recording: Recording) -> Accounts:
    recording.rows[3]["device"] = 1
    return by_markers(recording)


def with_another_device(recording: Recording) -> Accounts:
    return account(recording.kernels, recording.markers, recording.calls, replace(FACTS, device=3))


def without_types(recording: Recording) -> Accounts:
    recording.rows = [row | {"kind": "unknown", "task_kind": None} for row in recording.rows]
    return by_markers(recording)


@pytest.mark.parametrize(
    ("way", "reason"),
    [
        (without_table, "no_records"), (with_trouble, "export_failed"), (with_two_devices, "several_devices"),
        (with_another_device, "other_device"), (without_types, "unknown_task_types"),
    ],
)  # fmt: skip
def test_records_that_cannot_be_read_measure_nothing(way: Any, reason: str) -> None:
    recording = Recording()
    interleaved(recording, 0, BOTH)
    found = way(recording)
    assert {(one.verdict, one.figures["reason"], one.expected) for one in found.sides} == {
        ("not_measurable", reason, 6)
    }


def test_rows_of_other_devices_are_left_out() -> None:
    recording = Recording()
    interleaved(recording, 0, BOTH)
    recording.rows += [row | {"device": 1} for row in recording.rows]
    found = account(recording.kernels, recording.markers, recording.calls, replace(FACTS, device=0))
    assert set(times_ns(side_of(found, "reference")).values()) == {23_000}


def test_table_without_rows_has_no_kernels() -> None:
    """ROCm/rocprofiler-compute#694: a program without any kernel crashed the analysis."""
    recording = Recording()
    interleaved(recording, 0, BOTH)
    recording.rows = []
    for found in (by_markers(recording), by_sleeps(recording), by_names(recording)):
        assert {one.verdict for one in found.sides} == {"no_kernels"}


def test_table_without_even_the_boost_was_not_recorded() -> None:
    recording = Recording()
    recording.call(0, None, "boost", [("Boost", 900.0)])
    interleaved(recording, 0, BOTH)
    recording.rows = []
    assert {(one.verdict, one.figures["reason"]) for one in by_markers(recording).sides} == {
        ("not_measurable", "nothing_recorded")
    }


def test_sides_without_sound_borders_get_no_number_and_every_reason() -> None:
    recording = Recording()
    interleaved(recording, 0, {"reference": [("Add", 3.0)], "candidate": [("Add", 2.0)]})
    found = by_names(recording)
    assert {(one.verdict, one.times, one.borders) for one in found.sides} == {("unsplit", (), None)}
    assert found.figures["reasons"] == [
        "markers: no_markers", "gaps: no_rests", "names: periods_ambiguous",
        "alone: not_alone",
    ]  # fmt: skip


@pytest.mark.parametrize("source", ["op_summary", "task_time", "kernel_details"])
def test_source_is_told_for_every_side(source: Any) -> None:
    """triton-lang/triton-ascend#1409: times came from whatever table there was."""
    recording = Recording()
    interleaved(recording, 0, BOTH)
    found = account(recording.kernels, recording.markers, recording.calls, replace(FACTS, source=source))
    assert {one.source for one in found.sides} == {source}


def test_every_case_has_its_own_account() -> None:
    recording = Recording()
    for case, us in ((3, 5.0), (7, 9.0)):
        interleaved(recording, case, {"reference": [("Add", us)], "candidate": [("Add", us)]})
    found = by_sleeps(recording)
    assert {(one.case, min(times_ns(one).values())) for one in found.sides} == {(3, 5_000), (7, 9_000)}


def test_number_that_comes_twice_is_a_mistake_of_the_caller() -> None:
    recording = Recording()
    recording.call(0, "reference", "timed", REFERENCE)
    with pytest.raises(ValueError, match="number comes twice"):
        account(rows_of(recording.rows), None, recording.calls * 2, FACTS)


def test_frames_may_come_in_any_order() -> None:
    recording = Recording()
    interleaved(recording, 0, BOTH)
    kernels, marks = recording.kernels, recording.markers
    turned = account(kernels.iloc[::-1], pd.DataFrame(marks.iloc[::-1]), recording.calls, FACTS)
    assert turned == account(kernels, marks, recording.calls, FACTS)
