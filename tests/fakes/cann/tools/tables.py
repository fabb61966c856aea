"""The CSV tables of one export: each a header and an iterator of lines, as the C++ writer prints them (no quoting)."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

from tools import columns, pmu
from tools.capture import Capture
from tools.chips import cann, chip
from tools.faults import faults, seeded

NO_MODEL = "4294967295"
RUNTIME_KINDS = {
    "AI_CORE": "KERNEL_AICORE", "AI_VECTOR_CORE": "KERNEL_AIVEC", "AI_CPU": "KERNEL_AICPU",
    "MIX_AIC": "KERNEL_MIX_AIC", "MIX_AIV": "KERNEL_MIX_AIV",
}  # fmt: skip


def us(ns: int) -> str:
    """Microseconds with three decimals."""
    return "%d.%03d" % divmod(ns, 1000)


def stamp(ns: int) -> str:
    """A point in time: the tab keeps spreadsheets from rounding it."""
    return us(ns) + "\t"


def short(ns: float) -> str:
    """Microseconds as the summaries print them: no more decimals than there are."""
    return ("%.3f" % (ns / 1000)).rstrip("0").rstrip(".")


def core(kernel: dict) -> str:
    """The type of a kernel in the summaries: old toolkits called vector kernels what they called all."""
    is_old = cann() < (8,) and kernel["kind"] == "AI_VECTOR_CORE"
    return "AI_CORE" if is_old else kernel["kind"]


def bare(options: dict) -> bool:
    """Whether the level is l0: times, and nothing that the host knows."""
    return options.get("task-time") == "l0"


def op_summary(capture: Capture, options: dict) -> tuple:
    """One row a kernel; counters behind where they were collected."""
    spelled = columns.fixed(chip().family, cann())
    group = options.get("group")
    header = [written for _, written in spelled] + (pmu.header(chip(), group) if group else [])
    return ",".join(header), _op_rows(capture, options, [name for name, _ in spelled])


def _op_rows(capture: Capture, options: dict, names: list) -> Iterator[str]:
    ends: dict = {}
    the_chip, group = chip(), options.get("group")
    shifted = int(faults()["shifted_row"] or len(capture.kernels) // 2) if "shifted_row" in faults() else None
    for number, kernel in enumerate(capture.kernels):
        row = _op_cells(capture, kernel, ends.get(kernel["stream"]))
        if bare(options):
            row.update(dict.fromkeys(columns.FIXED[4:8] + columns.FIXED[13:20], "N/A"))
            row.update(dict.fromkeys(columns.FIXED[11:13], "0"))
        if number == shifted:
            row["Op Name"] = "void %s<float, 4>(float*, int)" % row["Op Name"]
        ends[kernel["stream"]] = kernel["start_ns"] + kernel["duration_ns"]
        yield ",".join([row[name] for name in names] + (pmu.cells(the_chip, group, kernel) if group else []))


def _op_cells(capture: Capture, kernel: dict, end: object) -> dict:
    mixed = kernel["kind"].startswith("MIX")
    wait = "0" if end is None else "%.6f" % (max(0, kernel["start_ns"] - end) / 1000)
    direct = kernel.get("inputs") is None
    formats = ";".join(["ND"] * (str(kernel.get("inputs")).count(";") + 1))
    return {
        "Device_id": str(kernel.get("device", capture.process["device"])),
        "Model ID": NO_MODEL,
        "Task ID": str(kernel["task"]),
        "Stream ID": str(kernel["stream"]),
        "Op Name": kernel["name"],
        "OP Type": kernel["op_type"],
        "OP State": kernel.get("state", "dynamic"),
        "Task Type": core(kernel),
        "Task Start Time(us)": stamp(kernel["start_ns"]),
        "Task Duration(us)": us(kernel["duration_ns"]),
        "Task Wait Time(us)": wait,
        "Block Num": str(kernel["block_num"]),
        "Mix Block Num": str(kernel.get("mix_block_num") or 0),
        "HF32 Eligible": "NO",
        "Input Shapes": "N/A" if direct else kernel["inputs"],
        "Input Data Types": "N/A" if direct else kernel["dtypes"],
        "Input Formats": "N/A" if direct else formats,
        "Output Shapes": kernel.get("outputs")
        or ("N/A" if direct else kernel["inputs"].split(";")[0].rstrip('"') + '"'),
        "Output Data Types": kernel.get("output_dtypes") or ("N/A" if direct else kernel["dtypes"].split(";")[0]),
        "Output Formats": "N/A" if direct else "ND",
        "Context ID": "0" if mixed else "N/A",
    }


def task_time(capture: Capture, options: dict) -> tuple:
    """Everything that the scheduler ran; a kernel begins earlier and takes longer here than in op_summary."""
    rows = _set_up(capture) + _marker_tasks(capture)
    is_old = cann() < (8,)
    for task in capture.tasks:
        extra, early = (0, 0) if task["t"] != "kernel" else drift(task)
        known = task["t"] == "kernel" and not bare(options)
        kind = task["kind"] if known and not is_old else RUNTIME_KINDS.get(task["kind"], task["kind"])
        name = task["name"] if known else "N/A"
        place = (task.get("stream", 0), task.get("task", 0))
        rows.append((task["start_ns"] - early, task["duration_ns"] + extra, name, kind) + place)
    return columns.TASK_TIME, (_task_line(capture, row) for row in sorted(rows))


def drift(kernel: dict) -> tuple:
    """(ns longer, ns earlier) of task_time against op_summary, in steps of the counter's 20 ns."""
    chance = zlib.crc32(b"%d %d" % (kernel["start_ns"], kernel["task"]))
    return 20 * (85 + chance % 46), 20 * (45 + chance // 64 % 36)


def _task_line(capture: Capture, row: tuple) -> str:
    start, duration, name, kind, stream, task = row
    cells = (capture.process["device"], name, kind, stream, task, us(duration), stamp(start), stamp(start + duration))
    return ",".join(map(str, cells))


def _set_up(capture: Capture) -> list:
    """The profiler's own tasks, on a stream of its own: before the first task and behind the last."""
    begin, end = capture.span_ns
    tasks = capture.tasks
    room = max(0, (tasks[0]["start_ns"] if tasks else begin + 10**9) - begin)
    stream = (min(task.get("stream", 2) for task in tasks) if tasks else 2) - 2
    chance = seeded("set-up", begin)
    timeout = 20 * chance.randrange(4000, 4700)
    second = begin + min(10_000_000, room // 4)
    return [
        (begin, 20 * chance.randrange(2), "N/A", "PROFILING_ENABLE", stream, 4),
        (second, timeout, "N/A", "TASK_TIMEOUT_SET", stream, 5),
        (second + timeout + 20, 20, "N/A", "EVENT_RECORD", stream, 6),
        (end + 100_000_000, 20 * chance.randrange(2), "N/A", "PROFILING_DISABLE", stream, 7),
    ]


def _marker_tasks(capture: Capture) -> list:
    """Each end of a range on a stream is a task of its own."""
    ends = [
        (mark.get("device_%s_ns" % side), mark.get("stream", 2)) for mark in capture.marks for side in ("start", "end")
    ]
    return [
        (time, 20, "N/A", "PROFILER_TRACE_EX", stream, (40000 + number) % 65536)
        for number, (time, stream) in enumerate(ends)
        if time is not None
    ]


def msprof_tx(capture: Capture, options: dict) -> tuple:
    """One row a mark; device times where it was put on a stream."""
    return columns.MSPROF_TX, (_mark_line(capture, mark) for mark in wanted(capture.marks, options))


def wanted(marks: list, options: dict) -> list:
    """The marks that the domains of the command line leave."""
    within, without = options.get("mstx-domain-include"), options.get("mstx-domain-exclude")
    if within:
        return [mark for mark in marks if mark["domain"] in within.split(",")]
    return [mark for mark in marks if not without or mark["domain"] not in without.split(",")]


def _mark_line(capture: Capture, mark: dict) -> str:
    host_only = "msprof_tx_host_only" in faults()
    times = [mark.get(name) for name in ("host_start_ns", "host_end_ns", "device_start_ns", "device_end_ns")]
    written = ["N/A" if time is None or (host_only and n > 1) else stamp(time) for n, time in enumerate(times)]
    device = "host" if written[2] == "N/A" else str(capture.process["device"])
    thread = mark.get("tid", capture.process["pid"])
    lead = [device, str(capture.process["pid"]), str(thread), "0", mark.get("kind", "start/end"), "0", "0"]
    return ",".join(lead + written[:2] + ["0", mark["message"], mark["domain"], str(mark["id"])] + written[2:])
