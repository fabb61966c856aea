"""The unified database of an export, schema 1.0 or 1.2 by release, and the intermediate one of a device."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from tools import tables
from tools.capture import Capture
from tools.chips import cann, chip
from tools.faults import faults

NO_CONNECTION = 4000000000
PARTS = ("MAJOR", "MINOR", "MICRO")


class Strings(dict):
    """Numbers for texts, in the order of their first use."""

    def __missing__(self, text: str) -> int:
        self[text] = len(self)
        return self[text]


def write(path: Path, capture: Capture, options: dict) -> None:
    """A database with the tables that have rows; times in ns, names as numbers into STRING_IDS."""
    with sqlite3.connect(str(path)) as base:
        strings = Strings()
        _facts(base, capture, options["group"])
        if options["task-time"] != "off":
            _tasks(base, capture, strings)
        if options["task-time"] not in ("off", "l0"):
            _kernels(base, capture, strings)
        _samples(base, capture, strings)
        if options["msproftx"] == "on":
            _marks(base, tables.wanted(capture.marks, options), capture, strings)
        _table(base, "STRING_IDS", "id, value", [(number, text) for text, number in strings.items()])
    base.close()


def intermediate(folder: Path, capture: Capture) -> None:
    """What the parser keeps between its steps."""
    folder.mkdir(exist_ok=True)
    path = folder / "ascend_task.db"
    path.unlink() if path.exists() else None
    with sqlite3.connect(str(path)) as base:
        rows = [(k["stream"], k["task"], k["start_ns"], k["duration_ns"]) for k in capture.kernels]
        _table(base, "AscendTask", "stream_id, task_id, start_time, duration", rows)
    base.close()


def _table(base: sqlite3.Connection, name: str, names: str, rows: list) -> None:
    if rows:
        base.execute("CREATE TABLE %s (%s)" % (name, names))
        base.executemany("INSERT INTO %s VALUES (%s)" % (name, ",".join("?" * len(rows[0]))), rows)


def _facts(base: sqlite3.Connection, capture: Capture, group: object) -> None:
    version = (1, 2, 0) if cann() >= (9,) else (1, 0, 0)
    meta = [("SCHEMA_VERSION", ".".join(map(str, version)))]
    meta += [("SCHEMA_VERSION_" + part, str(number)) for part, number in zip(PARTS, version)]
    _table(base, "META_DATA", "name, value", meta)
    _table(base, "NPU_INFO", "id, name", [(capture.process["device"], chip().soc)])
    _table(base, "SESSION_TIME_INFO", "startTimeNs, endTimeNs", [capture.span_ns])
    _table(base, "RANK_DEVICE_MAP", "rankId, deviceId", [(-1, capture.process["device"])])
    # Without counters the track says the rated clock all along, whatever the clock was.
    mhz = capture.kernels[0]["mhz"] if group and capture.kernels else chip().mhz
    _table(base, "AICORE_FREQ", "deviceId, timestampNs, freq", [(capture.process["device"], capture.span_ns[0], mhz)])


def _tasks(base: sqlite3.Connection, capture: Capture, strings: Strings) -> None:
    rows = []
    for number, task in enumerate(capture.kernels + capture.copies):
        kind = tables.RUNTIME_KINDS.get(task["kind"], task["kind"])
        end = task["start_ns"] + task["duration_ns"]
        ids = (task.get("stream", 0), task.get("task", 0), int(tables.NO_MODEL))
        process = (capture.process["device"], NO_CONNECTION, number, capture.process["pid"], strings[kind], 0)
        rows.append((task["start_ns"], end) + process + ids)
    for number, mark in enumerate(capture.marks, 1):
        for name in ("device_start_ns", "device_end_ns"):
            if mark.get(name) is not None:
                owner = (capture.process["device"], NO_CONNECTION + number, len(rows), capture.process["pid"])
                rows.append((mark[name], mark[name] + 20) + owner + (strings["MsTx"], 0, 0, 0, int(tables.NO_MODEL)))
    names = "startNs, endNs, deviceId, connectionId, globalTaskId, globalPid, taskType, contextId"
    _table(base, "TASK", names + ", streamId, taskId, modelId", rows)


def _kernels(base: sqlite3.Connection, capture: Capture, strings: Strings) -> None:
    rows = []
    for number, kernel in enumerate(capture.kernels):
        texts = [kernel.get("inputs") or "N/A", kernel.get("dtypes") or "N/A"]
        numbers = (strings[kernel["name"]], number, kernel["block_num"], kernel.get("mix_block_num") or 0)
        rest = (kernel["kind"], kernel["op_type"], texts[0].strip('"'), texts[1])
        rows.append(numbers + tuple(strings[text] for text in rest))
    blocks = "blockNum, mixBlockNum" if cann() >= (9,) else "blockDim, mixBlockDim"
    names = "name, globalTaskId, %s, taskType, opType, inputShapes, inputDataTypes" % blocks
    _table(base, "COMPUTE_TASK_INFO", names, rows)


def _samples(base: sqlite3.Connection, capture: Capture, strings: Strings) -> None:
    """Readings of sampled counters and their means, in Unix time."""
    timeline, summary = [], []
    for side in capture.samples:
        before: dict = {}
        for at, core, cycles, _ in side.readings:
            # With nothing before it the first reading of a core counts as one of 1 ns, and says absurd things.
            usage = 1e5 * cycles / (side.mhz * (at - before.get(core, at - 1)))
            before[core] = at
            timeline.append((side.device, at, cycles, usage, side.mhz, core, strings[side.kind]))
        for core, values in side.summary().items():
            pairs = zip(side.metrics, values)
            summary += [(side.device, strings[name], value, core, strings[side.kind]) for name, value in pairs]
    _table(base, "SAMPLE_PMU_TIMELINE", "deviceId, timestampNs, totalCycle, usage, freq, coreId, coreType", timeline)
    _table(base, "SAMPLE_PMU_SUMMARY", "deviceId, metric, value, coreId, coreType", summary)


def _marks(base: sqlite3.Connection, marks: list, capture: Capture, strings: Strings) -> None:
    if "no_msprof_tx" in faults():
        return
    pid = capture.process["pid"]
    rows = []
    for mark in marks:
        on_device = mark.get("device_start_ns") is not None
        connection = NO_CONNECTION + 1 + capture.marks.index(mark) if on_device else NO_CONNECTION
        texts = (strings[mark["message"]], pid << 32 | pid, pid << 32 | pid, strings[mark["domain"]], connection)
        rows.append((mark["host_start_ns"], mark["host_end_ns"], 2, mark["id"], 0) + texts)
    names = "startNs, endNs, eventType, rangeId, category, message, globalTid, endGlobalTid, domainId, connectionId"
    _table(base, "MSTX_EVENTS", names, rows)
