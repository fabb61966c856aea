"""Parsing and export of one PROF folder: which files it gets, and every way in which that goes wrong."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from tools import database, summaries, tables
from tools.capture import Capture, read
from tools.chips import cann
from tools.faults import asked, faults, seeded

OUTPUT, LOG = "mindstudio_profiler_output", "mindstudio_profiler_log"
TABLES = {
    "op_summary": tables.op_summary,
    "task_time": tables.task_time,
    "op_statistic": summaries.op_statistic,
    "api_statistic": summaries.api_statistic,
    "msprof_tx": tables.msprof_tx,
}


def export(prof: Path, verbs: dict) -> bool:
    """Write the files of a folder; False, with a line for the user, where that failed. `verbs` beat what was kept."""
    time.sleep(float(os.environ.get("FAKE_CANN_EXPORT_S", "0")))
    try:
        options = dict(json.loads((prof / "host/data/sample.json").read_text()), **verbs)
        # What was lost stays lost, whatever is asked of a later process.
        os.environ["FAKE_CANN_FAULT"] = options["faults"]
        capture = read(prof)
    except (OSError, ValueError):
        print("[ERROR] No valid profiling data in %s, nothing is exported." % prof.name)
        return False
    if _fails(prof):
        print("[ERROR] Export data in %s failed." % prof.name)
        return False
    _write(prof, capture, options)
    if "second_export" in faults():
        half = len(capture.kernels) // 2
        again = faults()["second_export"] == "short"
        _write(prof, replace(capture, kernels=capture.kernels[:half]) if again else capture, options)
    return True


def wanted(capture: Capture, options: dict) -> list:
    """The names of the tables that flags and data call for."""
    level = options["task-time"]
    names = []
    if level != "off":
        names += ["op_summary"] if capture.kernels else []
        names += ["task_time"]
        names += ["op_statistic"] if capture.kernels and level != "l0" else []
    if summaries.levels(options):
        names.append("api_statistic")
    if options["msproftx"] == "on" and tables.wanted(capture.marks, options) and "no_msprof_tx" not in faults():
        names.append("msprof_tx")
    return [name for name in names if name not in _missing()]


def _missing() -> tuple:
    return (faults()["csv_missing"] or "op_summary",) if "csv_missing" in faults() else ()


def _fails(prof: Path) -> bool:
    """Whether this export is one of the first n of its folder, which fail."""
    tally = prof / "host/data/exports"
    before = int(tally.read_text()) if tally.exists() else 0
    tally.write_text(str(before + 1))
    return before < asked("export_fails")


def _write(prof: Path, capture: Capture, options: dict) -> None:
    (prof / LOG).mkdir(exist_ok=True)
    if options["type"] == "text":
        (prof / OUTPUT).mkdir(exist_ok=True)
        for name in wanted(capture, options):
            header, rows = TABLES[name](capture, options)
            _spoil(name, _slices(prof / OUTPUT, name, [header], rows)[-1])
        (prof / OUTPUT / "README.txt").write_text("What the files of this folder are is said in the manual.\n")
        _timeline(_free(prof / OUTPUT, "msprof_%s.json"), capture)
    if options["type"] == "db" or cann() >= (9,):
        database.write(_free(prof, "msprof_%s.db"), capture, options)
    for device in prof.glob("device_*"):
        database.intermediate(device / "sqlite", capture)
        if options.get("clear") == "on":
            shutil.rmtree(device / "sqlite")


def _slices(folder: Path, name: str, head: list, rows: Iterable) -> list:
    """One file, or numbered parts of which none is unnumbered."""
    room = int(os.environ.get("FAKE_CANN_SLICE_ROWS", "1000000"))
    rows = iter(rows)
    first = list(itertools.islice(rows, room + 1))
    if len(first) <= room:
        return [_lines(_free(folder, name + "_%s.csv"), head + first)]
    rest = itertools.chain(first, rows)
    parts = iter(lambda: list(itertools.islice(rest, room)), [])
    stamp = _stamp(name)
    return [_lines(folder / ("%s_slice_%d_%s.csv" % (name, n, stamp)), head + part) for n, part in enumerate(parts)]


def _lines(path: Path, lines: list) -> Path:
    with open(path, "w", newline="") as file:
        file.write("\n".join(lines) + "\n")
    return path


def _free(folder: Path, pattern: str) -> Path:
    """A name that no earlier export has taken."""
    now = time.time()
    while (folder / (pattern % _stamp(pattern, now))).exists():
        now += 1
    return folder / (pattern % _stamp(pattern, now))


def _stamp(name: str, now: object = None) -> str:
    """Seconds in the names of one export may differ by one."""
    late = seeded("stamp", name).randrange(2)
    return time.strftime("%Y%m%d%H%M%S", time.localtime((time.time() if now is None else now) + late))


def _spoil(name: str, path: Path) -> None:
    """The faults of single files, op_summary's where none is named."""
    here = {fault for fault, which in faults().items() if (which or "op_summary") == name}
    text = path.read_text()
    if "csv_empty" in here:
        path.write_text("")
    elif "csv_header_only" in here:
        path.write_text(text[: text.index("\n") + 1])
    elif "csv_torn" in here:
        last = text.rstrip("\n").rpartition("\n")[2]
        path.write_text(text[: len(text) - 1 - len(last) // 2])


def _timeline(path: Path, capture: Capture) -> None:
    events = [
        {
            "name": k["name"],
            "ph": "X",
            "pid": capture.process["pid"],
            "tid": k["stream"],
            "ts": tables.us(k["start_ns"]),
        }
        for k in capture.kernels
    ]
    path.write_text(json.dumps(events))
