"""From a session's files to its accounts: what is wrong with a table is said, what msprun launched is no operator's."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from msprun.measure.reckon import Reckoning, reckon
from msprun.measure.recording import Ran
from msprun.measure.sentinel import Seen
from msprun.model.call import ClockReading, DeviceCall
from msprun.model.plan import Command, Session
from msprun.profiler.msprof import Msprof
from msprun.profiler.torch_npu import TorchNpu

START_NS = 1_780_000_000_000_000_000
HEADER = "Device_id,Task ID,Stream ID,Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us),Block Num"


def session(folder: Path) -> Session:
    place = folder / "sessions" / "1"
    (place / "PROF_1" / "mindstudio_profiler_output").mkdir(parents=True)
    command = Command(argv=("msprof",), cwd=folder, env=(), stdout=place / "out", stderr=place / "err")
    return Session(
        number=1, round="timing", profiler="msprof", cases=(0,), sides=("candidate",), folder=place, command=command,
    )  # fmt: skip


def calls(count: int) -> list[DeviceCall]:
    """A call a millisecond that lasts half of it."""
    begins = [START_NS + n * 1_000_000 for n in range(count)]
    return [
        DeviceCall(
            number=n, case=0, side="candidate", purpose="timed", visit=0, group=n,
            start_ns=begin, end_ns=begin + 500_000,
        )
        for n, begin in enumerate(begins)
    ]  # fmt: skip


def line(number: int) -> str:
    """The one kernel of a call: 20 us."""
    start_us = (START_NS + number * 1_000_000 + 100_000) / 1000
    return f"0,{number},2,add,Add,AI_VECTOR_CORE,{start_us:.3f},20.000,8"


def reckoned(folder: Path, text: str) -> Reckoning:
    made = session(folder)
    (made.folder / "PROF_1/mindstudio_profiler_output/op_summary_20260605161737.csv").write_text(text)
    return reckon(Msprof(), made, Ran(calls=tuple(calls(8))), 1.0, None)


def test_a_whole_table_has_no_remark_and_each_call_its_time(tmp_path: Path) -> None:
    found = reckoned(tmp_path, "\n".join([HEADER, *map(line, range(8)), ""]))
    (side,) = found.accounts.sides
    assert (side.verdict, {time.device_ns for time in side.times}, found.remarks) == ("exact", {20_000}, ())


def test_a_torn_row_is_said_with_file_and_line_and_costs_its_call(tmp_path: Path) -> None:
    found = reckoned(tmp_path, "\n".join([HEADER, *map(line, range(7)), line(7)[:20]]))
    (side,) = found.accounts.sides
    assert (side.verdict, side.calls, side.expected) == ("lost_rows", 7, 8)
    (remark,) = found.remarks
    assert remark.code == "bad_table"
    assert remark.figures["what"].startswith(
        "sessions/1/PROF_1/mindstudio_profiler_output/op_summary_20260605161737.csv:9: "
    )


TASKS = "Device_id,kernel_name,kernel_type,stream_id,task_id,task_time(us),task_start(us),task_stop(us)"


def task(number: int) -> str:
    """The same kernel, and the 2 us that the scheduler adds."""
    start_us = (START_NS + number * 1_000_000 + 100_000) / 1000
    return f"0,add,KERNEL_AIVEC,2,{number},22.000,{start_us - 1:.3f},{start_us + 21:.3f}"


@pytest.mark.parametrize(
    ("tables", "source", "device_ns"),
    [
        (("task_time",), "task_time", 22_000),
        (("op_summary",), "op_summary", 20_000),
        (("op_summary", "task_time"), "op_summary", 20_000),
    ],
    ids=["task_time", "op_summary", "both"],
)
def test_op_summary_goes_before_task_time_and_the_source_is_named(
    tmp_path: Path, tables: tuple[str, ...], source: str, device_ns: int
) -> None:
    """triton-lang/triton-ascend#1409: task_time as a source, whose totals are others."""
    made = session(tmp_path)
    texts = {"op_summary": [HEADER, *map(line, range(8)), ""], "task_time": [TASKS, *map(task, range(8)), ""]}
    for name in tables:
        file = made.folder / "PROF_1/mindstudio_profiler_output" / f"{name}_20260605161737.csv"
        file.write_text("\n".join(texts[name]))
    (side,) = reckon(Msprof(), made, Ran(calls=tuple(calls(8))), 1.0, None).accounts.sides
    assert (side.verdict, side.source) == ("exact", source)
    assert {time.device_ns for time in side.times} == {device_ns}


def test_a_kernel_whose_shapes_were_not_recorded_has_its_time_beside_neighbours_that_have_them(tmp_path: Path) -> None:
    """vllm-project/vllm-ascend#9026: N/A for the shapes of a custom operator."""
    custom = [f"{line(number)},N/A,N/A" for number in range(8)]
    neighbours = [
        line(number).replace("100.000,20", "130.000,5").replace("add,Add", "Mul,Mul") + ',"""8,8""",FLOAT'
        for number in range(8)
    ]
    found = reckoned(tmp_path, "\n".join([f"{HEADER},Input Shapes,Input Data Types", *custom, *neighbours, ""]))
    (side,) = found.accounts.sides
    assert (side.verdict, {time.device_ns for time in side.times}, found.remarks) == ("exact", {25_000}, ())
    assert [(kernel.name, kernel.input_shapes) for kernel in side.kernels] == [("add", None), ("Mul", "8,8")]


DETAILS = "ASCEND_PROFILER_OUTPUT/kernel_details.csv"
PROF = "PROF_000001_20260605161708478_ABCDEFGHIJKLMNOP/mindstudio_profiler_output"
MARKS = (
    "Device_id,pid,tid,category,event_type,payload_type,payload_value,Start_time(us),End_time(us),message_type,message,"
    "domain,mark_id,Device Start_time(us),Device End_time(us)"
)


def torch_npus(folder: Path, tables: dict[str, str]) -> Reckoning:
    """A session of torch_npu's profiler that left these files."""
    made = session(folder)
    for name, text in tables.items():
        file = made.folder / "profile" / "host_77_20260605161708478_ascend_pt" / name
        file.parent.mkdir(parents=True)
        file.write_text(text)
    return reckon(TorchNpu(), made, Ran(calls=tuple(calls(8))), 1.0, None)


def mark(number: int, domain: str) -> str:
    """The range of a call, on the host and 10 us later on the device."""
    offsets = (0, 500_000, 10_000, 510_000)
    start, end, *device = [f"{(START_NS + number * 1_000_000 + offset) / 1000:.3f}" for offset in offsets]
    return f"0,77,77,0,start/end,0,0,{start},{end},0,mr|{number},{domain},{number + 2},{','.join(device)}"


@pytest.mark.parametrize("domain", ["msprun", "default", ""])
def test_markers_of_torch_npus_profiler_are_those_of_the_msprof_inside_of_it(tmp_path: Path, domain: str) -> None:
    kernels = ["Name,Type,Accelerator Core,Start Time(us),Duration(us)"]
    kernels += [",".join(line(number).split(",")[3:8]) for number in range(8)]
    marks = [MARKS, *(mark(number, domain) for number in range(8))]
    tables = {DETAILS: "\n".join([*kernels, ""]), f"{PROF}/msprof_tx_20260605161737.csv": "\n".join([*marks, ""])}
    found = torch_npus(tmp_path, tables)
    (side,) = found.accounts.sides
    assert (side.verdict, side.source, found.accounts.borders) == ("exact", "kernel_details", "markers")
    assert {time.device_ns for time in side.times} == {20_000}


@pytest.mark.parametrize(("unanswered_from", "remarks"), [(8, ()), (None, ("bad_table",))])
def test_a_marker_without_an_end_is_that_of_the_call_that_was_cut_off(
    tmp_path: Path, unanswered_from: int | None, remarks: tuple[str, ...]
) -> None:
    made = session(tmp_path)
    place = made.folder / "PROF_1/mindstudio_profiler_output"
    (place / "op_summary_20260605161737.csv").write_text("\n".join([HEADER, *map(line, range(8)), ""]))
    host_end, device_end = (f"{(START_NS + 8_000_000 + offset) / 1000:.3f}" for offset in (500_000, 510_000))
    cut = mark(8, "msprun").replace(host_end, "").replace(device_end, "")
    marks = [MARKS, *(mark(number, "msprun") for number in range(8)), cut, ""]
    (place / "msprof_tx_20260605161737.csv").write_text("\n".join(marks))
    ran = Ran(calls=tuple(calls(8)), unanswered_from=unanswered_from)
    found = reckon(Msprof(), made, ran, 1.0, None)
    assert tuple(remark.code for remark in found.remarks) == remarks
    assert found.accounts.sides[0].verdict == "exact"


def test_without_kernel_details_the_op_summary_behind_it_serves(tmp_path: Path) -> None:
    """vllm-project/vllm-ascend#12241: in graph mode there is no kernel_details."""
    text = "\n".join([HEADER, *map(line, range(8)), ""])
    (side,) = torch_npus(tmp_path, {f"{PROF}/op_summary_20260605161737.csv": text}).accounts.sides
    assert (side.verdict, side.source) == ("exact", "op_summary")


def test_a_parser_that_left_no_table_at_all_has_left_nothing_to_measure(tmp_path: Path) -> None:
    """vllm-project/vllm-ascend#8933: no data of the device, and no error was shown."""
    (side,) = torch_npus(tmp_path, {"FRAMEWORK/torch.op_range": ""}).accounts.sides
    assert (side.verdict, side.figures) == ("not_measurable", {"reason": "no_table"})


NOTED = {
    "platform_version": "5", "drvVersion": 467732, "cannVersion": "8.3.RC2",
    "DeviceInfo": [{"ai_core_num": 24, "aiv_num": 48, "aic_frequency": "1800", "aiv_frequency": "1650"}],
}  # fmt: skip


@pytest.mark.parametrize(
    ("rated_mhz", "verdict"), [(None, "low_clock"), (1000.0, "exact")], ids=["not known", "known to npu-smi"]
)
def test_the_chip_is_what_msprof_noted_and_so_is_its_rated_clock(
    tmp_path: Path, rated_mhz: float | None, verdict: str
) -> None:
    """Ascend NPUs clock down when idle; a session of torch_npu's profiler holds msprof's notes inside of it."""
    made = session(tmp_path)
    inner = made.folder / "profile" / "host_77_20260605161708478_ascend_pt" / PROF
    inner.mkdir(parents=True)
    (inner / "op_summary_20260605161737.csv").write_text("\n".join([HEADER, *map(line, range(8)), ""]))
    (inner.parent / "device_0").mkdir()
    (inner.parent / "device_0" / "info.json.0").write_text(json.dumps(NOTED))
    reading = ClockReading(source="npu-smi", mhz=1000.0, rated_mhz=rated_mhz)
    beside = Seen(remarks=(), is_shared=None, clock=(reading,))
    found = reckon(TorchNpu(), made, Ran(calls=tuple(calls(8))), 1.0, beside)
    assert found.accounts.sides[0].verdict == verdict
    assert found.chip == {
        "cube_cores": 24, "vector_cores": 48, "cube_mhz": 1800.0, "vector_mhz": 1650.0, "platform_version": 5,
        "driver": "467732", "cann": "8.3.RC2",
    }  # fmt: skip


def test_blocks_are_held_against_the_cores_that_msprof_noted(tmp_path: Path) -> None:
    """flagos-ai/libtriton_jit#51: a block number above the count of cores."""
    made = session(tmp_path)
    rows = [line(number)[:-1] + "2442" for number in range(8)]
    output = made.folder / "PROF_1" / "mindstudio_profiler_output"
    (output / "op_summary_20260605161737.csv").write_text("\n".join([HEADER, *rows, ""]))
    (output.parent / "device_0").mkdir()
    (output.parent / "device_0" / "info.json.0").write_text(json.dumps(NOTED))
    (side,) = reckon(Msprof(), made, Ran(calls=tuple(calls(8))), 1.0, None).accounts.sides
    (remark,) = side.remarks
    assert (remark.code, remark.figures["blocks"], remark.figures["cores"]) == ("many_blocks", 2442, 48)


def test_a_chip_of_which_nothing_was_noted_is_not_made_up(tmp_path: Path) -> None:
    assert reckoned(tmp_path, "\n".join([HEADER, *map(line, range(8)), ""])).chip == {}
