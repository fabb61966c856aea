"""Every verdict on streams made by hand, and what is told of the kernels behind a time."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from msprun.account import account
from msprun.model.call import Circumstances, ClockReading
from tests.account.streams import (
    FACTS,
    Recording,
    interleaved,
    sequential,
    side_of,
    times_ns,
)
from tests.account.ways import (
    BOTH,
    CANDIDATE,
    REFERENCE,
    by_markers,
    by_sleeps,
)


@pytest.mark.parametrize(("row", "place", "lost"), [(0, "head", 0), (23, "middle", 15), (-2, "tail", 19)])
@pytest.mark.parametrize("way", [by_markers, by_sleeps])
def test_call_that_lacks_a_kernel_has_lost_it(way: Any, row: int, place: str, lost: int) -> None:
    """meta-pytorch/tritonbench#401, intel/intel-xpu-backend-for-triton#3243: one kernel fewer than launched."""
    recording = Recording()
    interleaved(recording, 0, BOTH, quads=4)
    kept = [recording.calls[lost].side, recording.rows.pop(row)["name"]]
    assert kept[0] == "reference" and kept[1] in ("MatMul", "Add")
    told = side_of(way(recording), "reference")
    assert (told.verdict, told.calls, told.expected) == ("lost_rows", 9, 10)
    assert lost not in times_ns(told)
    assert set(times_ns(told).values()) == {23_000}
    assert told.figures | {"lost_calls": 1, "lost_kernels": 1, "place": place} == told.figures
    assert side_of(way(recording), "candidate").verdict == "exact"


def test_rest_of_a_stream_that_is_lost_is_lost_for_both_sides() -> None:
    """pytorch/pytorch#192021: kernels at one end of a profiler session were dropped."""
    recording = Recording()
    interleaved(recording, 0, BOTH, quads=4)
    ended = [row for row in recording.rows if row["start_ns"] < recording.calls[12].start_ns]
    recording.rows = ended
    found = by_markers(recording)
    for side in ("reference", "candidate"):
        told = side_of(found, side)
        assert (told.verdict, told.calls, told.expected, told.figures["place"]) == ("lost_rows", 6, 10, "tail")


def test_last_case_without_any_record_is_lost_and_not_silent() -> None:
    recording = Recording()
    interleaved(recording, 0, BOTH)
    interleaved(recording, 1, BOTH)
    recording.rows = [row for row in recording.rows if row["start_ns"] < recording.calls[12].start_ns]
    found = by_markers(recording)
    assert [(one.case, one.verdict) for one in found.sides] == [
        (0, "exact"), (0, "exact"), (1, "lost_rows"), (1, "lost_rows"),
    ]  # fmt: skip


def test_one_more_kernel_in_every_second_call_varies() -> None:
    """triton-lang/triton-ascend#1938: the place of a row was taken for the number of a call."""
    recording = Recording()
    for number in range(8):
        recording.call(0, "reference", "timed", REFERENCE)
        recording.call(0, "candidate", "timed", CANDIDATE + [("Tail", 4.0)] * (number % 2))
    told = side_of(by_markers(recording), "candidate")
    assert told.verdict == "varying_kernels"
    assert [time.device_ns for time in told.times] == [11_000, 15_000] * 4


def test_kernel_that_every_third_call_leaves_out_varies_too() -> None:
    recording = Recording()
    for number in range(9):
        recording.call(0, "reference", "timed", REFERENCE[: 1 if number % 3 == 0 else 2])
    told = side_of(by_markers(recording), "reference")
    assert told.verdict == "varying_kernels"
    assert [time.device_ns for time in told.times] == [20_000, 23_000, 23_000] * 3


def test_what_a_first_call_builds_says_nothing_against_the_timed_ones() -> None:
    recording = Recording()
    recording.call(0, "reference", "first", [("Mask", 50.0), *REFERENCE])
    for purpose in ("warmup", "timed", "timed", "timed"):
        recording.call(0, "reference", purpose, REFERENCE)
    told = side_of(by_markers(recording), "reference")
    assert (told.verdict, told.figures["unlike_before_timed"]) == ("exact", 1)
    assert list(times_ns(told).values()) == [73_000, 23_000, 23_000, 23_000, 23_000]
    assert {share.name for share in told.kernels} == {"MatMul", "Add"}


def test_result_that_is_kept_from_the_warmup_leaves_no_kernels() -> None:
    recording = Recording()
    for purpose in ("warmup", "timed", "timed", "timed"):
        recording.call(0, "candidate", purpose, CANDIDATE if purpose == "warmup" else [])
        recording.call(0, "reference", purpose, REFERENCE)
    told = side_of(by_markers(recording), "candidate")
    assert (told.verdict, told.times, told.figures["filled_before_timed"]) == ("no_kernels", (), 1)


def test_copies_are_told_apart_and_never_counted() -> None:
    """flagos-ai/Torch-FL#184: totals with copies and without them were compared."""
    recording = Recording()
    copy = ("MEMCPY", 7.0, {"kind": "copy", "task_kind": "MEMCPY_ASYNC", "block_num": None})
    event = (None, 0.02, {"kind": "other", "task_kind": "EVENT_RECORD", "op_type": None, "block_num": None})
    for _ in range(3):
        recording.call(0, "reference", "timed", [copy, *REFERENCE, event, copy])
    told = side_of(by_sleeps(recording), "reference")
    assert (told.verdict, told.rows) == ("exact", 6)
    assert [(time.device_ns, time.copies_ns, time.span_ns) for time in told.times] == [(23_000, 14_000, 25_000)] * 3
    assert [(share.name, share.count, share.duration_us) for share in told.copies] == [("MEMCPY", 2.0, 14.0)]
    assert [(share.name, share.task_kind, share.count) for share in told.others] == [(None, "EVENT_RECORD", 1.0)]


def test_side_that_only_copies_has_no_kernels() -> None:
    recording = Recording()
    copy = ("MEMCPY", 7.0, {"kind": "copy", "task_kind": "MEMCPY_ASYNC"})
    sequential(recording, 0, {"reference": REFERENCE, "candidate": [copy]})
    told = side_of(by_markers(recording), "candidate")
    assert (told.verdict, told.times, told.copies[0].count) == ("no_kernels", (), 1.0)


def test_ai_cpu_counts_and_is_a_remark() -> None:
    recording = Recording()
    slow = ("Unique", 900.0, {"kind": "ai_cpu", "task_kind": "AI_CPU"})
    for _ in range(3):
        recording.call(0, "reference", "timed", [("Add", 100.0), slow])
    told = side_of(by_markers(recording), "reference")
    assert [(time.device_ns, time.ai_cpu_ns) for time in told.times] == [(1_000_000, 900_000)] * 3
    assert [(remark.code, remark.figures) for remark in told.remarks] == [
        ("ai_cpu", {"side": "reference", "share": 0.9})
    ]


def test_parallel_streams_are_summed_and_their_span_is_shorter() -> None:
    """tile-ai/TileOPs#1850: the sum of kernels and the span of a call on several streams were mixed up."""
    recording = Recording()
    for _ in range(3):
        start = recording.now_us + 10
        recording.call(0, "reference", "timed", [("Half", 10.8), ("Half", 10.8, {"stream": 3})])
        recording.rows[-1]["start_ns"] -= round((12.8 - 4.2) * 1000)
        assert recording.rows[-1]["start_ns"] > recording.rows[-2]["start_ns"] and start
    told = side_of(by_markers(recording), "reference")
    assert [(time.device_ns, time.span_ns) for time in told.times] == [(21_600, 15_000)] * 3


def test_one_name_with_two_numbers_of_blocks_is_two_kernels_and_a_remark() -> None:
    """triton-lang/triton-ascend#732: all kernels of a launcher carried the name of the first one."""
    recording = Recording()
    for _ in range(3):
        recording.call(0, "reference", "timed", [("launcher", 5.0), ("launcher", 80.0, {"block_num": 40})])
    told = side_of(by_markers(recording), "reference")
    assert [(share.block_num, share.duration_us) for share in told.kernels] == [(40, 80.0), (8, 5.0)]
    assert told.remarks[0].code == "one_name" and told.remarks[0].figures["names"] == ["launcher"]


def test_one_name_with_two_shapes_is_nothing_to_remark() -> None:
    recording = Recording()
    other = ("MatMul", 80.0, {"block_num": 40, "Input Shapes": "64,64"})
    recording.call(0, "reference", "timed", [("MatMul", 5.0), other])
    assert side_of(by_markers(recording), "reference").remarks == ()


@pytest.mark.parametrize(
    ("side", "blocks", "cores", "told"),
    [
        ("candidate", 2442, 40, [{"side": "candidate", "name": "grid", "blocks": 2442, "cores": 40}]),
        ("candidate", 321, 40, [{"side": "candidate", "name": "grid", "blocks": 321, "cores": 40}]),
        ("candidate", 320, 40, []),
        ("candidate", 2442, None, []),
        ("reference", 2442, 40, []),  # which is torch's own, and not for its user to mend
    ],
)
def test_a_candidate_with_many_times_as_many_blocks_as_cores_is_remarked(
    side: str, blocks: int, cores: int | None, told: list[dict[str, Any]]
) -> None:
    """flagos-ai/libtriton_jit#51: a block number above the count of cores."""
    recording = Recording()
    for _ in range(3):
        recording.call(0, side, "timed", [("grid", 50.0, {"block_num": blocks}), ("Add", 3.0)])
    facts = replace(FACTS, cores=cores)
    (found,) = account(recording.kernels, recording.markers, recording.calls, facts).sides
    assert [remark.figures for remark in found.remarks if remark.code == "many_blocks"] == told
    assert found.verdict == "exact"


CLOCK = ClockReading(source="npu_smi", mhz=1700.0, rated_mhz=1800.0)


@pytest.mark.parametrize(
    ("facts", "verdict"),
    [
        (replace(FACTS, clock=(replace(CLOCK, mhz=1710.0),)), "low_clock"),
        (replace(FACTS, clock=(replace(CLOCK, mhz=1711.0),)), "exact"),
        (replace(FACTS, clock=(replace(CLOCK, mhz=800.0, rated_mhz=None),)), "exact"),
        (replace(FACTS, is_shared=True), "shared_device"),
        (replace(FACTS, is_shared=False), "exact"),
        (replace(FACTS, is_shared=True, clock=(CLOCK,)), "low_clock"),
        (replace(FACTS, dropped_rows=2), "exact"),
        (replace(FACTS, dropped_rows=3), "lost_rows"),
        (replace(FACTS, dropped_rows=None), "lost_rows"),
    ],
)
def test_circumstances_flag_what_is_exact_otherwise(facts: Circumstances, verdict: str) -> None:
    recording = Recording()
    for _ in range(3):
        recording.call(0, "reference", "timed", REFERENCE)
    told = side_of(account(recording.kernels, recording.markers, recording.calls, facts), "reference")
    assert told.verdict == verdict
    assert list(times_ns(told).values()) == [23_000] * 3


def test_clock_without_a_source_is_not_recorded() -> None:
    recording = Recording()
    recording.call(0, "reference", "timed", REFERENCE)
    assert side_of(by_markers(recording), "reference").figures["clock"] is None


def test_worse_verdicts_go_before_circumstances() -> None:
    recording = Recording()
    sequential(recording, 0, {"reference": REFERENCE, "candidate": []})
    found = account(
        recording.kernels, recording.markers, recording.calls, replace(FACTS, is_shared=True, clock=(CLOCK,))
    )
    assert [one.verdict for one in found.sides] == ["low_clock", "no_kernels"]


def test_unknown_tasks_in_a_silent_side_leave_it_unmeasured() -> None:
    recording = Recording()
    graph = ("Graph", 30.0, {"kind": "unknown", "task_kind": "FFTS_PLUS"})
    sequential(recording, 0, {"reference": REFERENCE, "candidate": [graph]})
    told = side_of(by_markers(recording), "candidate")
    assert (told.verdict, told.remarks[0].code, told.others[0].name) == ("not_measurable", "unknown_tasks", "Graph")


def test_same_starts_and_rows_without_a_length_are_counted_once_each() -> None:
    recording = Recording()
    for _ in range(3):
        recording.call(0, "reference", "timed", [("Add", 0.0), ("Add", 0.0)], inner_us=0.0)
    told = side_of(by_markers(recording), "reference")
    assert [(time.device_ns, time.kernels, time.span_ns) for time in told.times] == [(0, 2, 0)] * 3


def test_mix_kernel_that_stands_there_twice_counts_once() -> None:
    recording = Recording()
    mix = {"task_kind": "MIX_AIC"}
    for _ in range(3):
        recording.call(0, "reference", "timed", [("Flash", 87.0, mix)])
    recording.rows += [row | {"duration_ns": 12_000} for row in recording.rows]
    told = side_of(by_markers(recording), "reference")
    assert list(times_ns(told).values()) == [87_000] * 3 and told.rows == 3
