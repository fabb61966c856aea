"""What is written of sampled counters: a table of every core, and a database of every device and kind of core."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from tools import columns
from tools.capture import Capture
from tools.chips import cann, chip
from tools.prof import device_clock_ns
from tools.samples import Side

DATABASES = {"AIC": "aicore.db", "AIV": "ai_vector_core.db"}
# Counters are called by their numbers; these are those of the pipes, here taken for every group.
EVENTS = ("r8", "ra", "r9", "rb", "rc", "rd", "r54", "r55")


def ai_core(capture: Capture, options: dict) -> tuple:
    """The means of cube cores, or of unsplit ones."""
    return _table(capture, options, "AIC")


def ai_vector_core(capture: Capture, options: dict) -> tuple:
    """The means of vector cores."""
    return _table(capture, options, "AIV")


def _table(capture: Capture, options: dict, kind: str) -> tuple:
    """A row a core and one of their means; cores that never worked have zeros."""
    names = columns.sampled(chip().family, options["sampled"])[kind == "AIV"]
    rows = []
    for side in (side for side in capture.samples if side.kind == kind):
        means = side.summary()
        cores = [("Core%d" % core, [round(value, 3) for value in values]) for core, values in means.items()]
        columned = zip(*(values for _, values in cores))
        cores.append(("Average", [round(sum(column) / len(means), 3) for column in columned]))
        rows += [[str(side.device), name] + _cells(names, side.metrics, values) for name, values in cores]
    shown = slice(0 if cann() >= (8,) else 1, None)
    return ",".join((["Device_id", "Core ID"] + names)[shown]), (",".join(row[shown]) for row in rows)


def _cells(names: list, metrics: list, values: list) -> list:
    """The values of a row; memory_bound is made of others, where there are any."""
    known = dict(zip(metrics, values))
    work = max(known.get("mac_ratio", 0), known.get("vec_ratio", 0))
    known["memory_bound"] = round(known.get("mte2_ratio", 0) / work, 3) if work else "N/A"
    return [str(known[name]) for name in names]


def databases(folder: Path, device: int, capture: Capture) -> None:
    """The files of one device below its sqlite folder."""
    folder.mkdir(exist_ok=True)
    for side in (side for side in capture.samples if side.device == device):
        path = folder / DATABASES[side.kind]
        path.unlink() if path.exists() else None
        with sqlite3.connect(str(path)) as base:
            _readings(base, side)
            _sums(base, side)
        base.close()


def _readings(base: sqlite3.Connection, side: Side) -> None:
    """What was read, in the clock of the device; all counters are texts."""
    count = 10 if chip().family == "950" else 8
    names = ["event%d" % number for number in range(1, count + 1)]
    counters = "".join(", %s TEXT" % name for name in ["task_cyc"] + names)
    base.execute(
        "CREATE TABLE AICoreOriginalData (mode INTEGER, replayid INTEGER, timestamp NUMERIC, coreid INTEGER%s)"
        % counters
    )
    rows = [
        [1, 0, device_clock_ns(at), core, str(cycles)] + [str(n) for n in (events + [0] * count)[:count]]
        for at, core, cycles, events in side.readings
    ]
    base.executemany("INSERT INTO AICoreOriginalData VALUES (%s)" % ",".join("?" * (5 + count)), rows)
    base.execute("CREATE TABLE task_cyc (timestamp INTEGER, pmucount INTEGER, coreid INTEGER)")
    base.execute("INSERT INTO task_cyc SELECT timestamp, task_cyc, coreid FROM AICoreOriginalData")


def _sums(base: sqlite3.Connection, side: Side) -> None:
    """Counters and metrics of each core over the process."""
    events = EVENTS[: len(side.metrics)]
    base.execute("CREATE TABLE EventCount (%stask_cyc NUMERIC, coreid INT)" % "".join(e + " NUMERIC, " for e in events))
    totals = side.totals()
    rows = [counts[: len(events)] + [cycles, core] for core, (cycles, counts) in totals.items()]
    base.executemany("INSERT INTO EventCount VALUES (%s)" % ",".join("?" * (2 + len(events))), rows)
    base.execute("CREATE TABLE MetricSummary (metric TEXT, value NUMERIC, coreid INT)")
    metrics = [("total_time(ms)", cycles / side.mhz / 1000, core) for core, (cycles, _) in totals.items()]
    for core, values in side.summary().items():
        metrics += [(name, value, core) for name, value in zip(side.metrics, values)]
    base.executemany("INSERT INTO MetricSummary VALUES (?, ?, ?)", metrics)
