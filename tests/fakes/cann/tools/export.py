"""Parsing and export of one PROF folder: which files it gets, and every way in which that goes wrong."""

from __future__ import annotations

import csv
import itertools
import json
import os
import shutil
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from tools import database, details, samples, summaries, tables, utilization
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
    "ai_core_utilization": utilization.ai_core,
    "ai_vector_core_utilization": utilization.ai_vector_core,
    "l2_cache": details.l2_cache,
    "aicpu": details.aicpu,
}


def export(prof: Path, verbs: dict) -> bool:
    """Write the files of a folder; False, with a line for the user, where that failed. `verbs` beat what was kept."""
    time.sleep(float(os.environ.get("FAKE_CANN_EXPORT_S", "0")))
    parsed = parse(prof, verbs)
    if parsed is None:
        return False
    capture, options = parsed
    if _fails(prof):
        print("[ERROR] Export data in %s failed." % prof.name)
        return False
    _write(prof, capture, options)
    if "second_export" in faults():
        half = len(capture.kernels) // 2
        again = faults()["second_export"] == "short"
        _write(prof, replace(capture, kernels=capture.kernels[:half]) if again else capture, options)
    if options.get("clear") == "on":
        for device in prof.glob("device_*"):
            shutil.rmtree(device / "sqlite")
    return True


def parse(prof: Path, verbs: dict) -> object:
    """(capture, options) of a folder, which gets its intermediate databases; None, and a line, where no data are."""
    try:
        options = dict(json.loads((prof / "host/data/sample.json").read_text()), **verbs)
        # Only who exports says so; a collection writes tables.
        options["summary-format"] = verbs.get("summary-format", "csv")
        # What was lost stays lost, whatever is asked of a later process.
        os.environ["FAKE_CANN_FAULT"] = options["faults"]
        capture = read(prof)
        capture = replace(capture, samples=samples.sides(capture, options))
    except (OSError, ValueError):
        print("[ERROR] No valid profiling data in %s, nothing is exported." % prof.name)
        return None
    for device in prof.glob("device_*"):
        database.intermediate(device / "sqlite", capture)
        utilization.databases(device / "sqlite", int(device.name.partition("_")[2]), capture)
    return capture, options


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
    kinds = {side.kind for side in capture.samples}
    names += ["ai_core_utilization"] if "AIC" in kinds else []
    names += ["ai_vector_core_utilization"] if "AIV" in kinds else []
    names += ["l2_cache"] if options.get("l2") == "on" and details.before_l2(capture) else []
    names += ["aicpu"] if options.get("aicpu") == "on" and details.on_processor(capture) else []
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
            kind = options["summary-format"]
            _spoil(name, _slices(prof / OUTPUT, (name, kind), header, rows)[-1])
        (prof / OUTPUT / "README.txt").write_text("What the files of this folder are is said in the manual.\n")
        kernels = capture.kernels if options["task-time"] != "off" else []
        _timeline(_free(prof / OUTPUT, "msprof_%s.json"), kernels, capture.process["pid"])
    if options["type"] == "db" or cann() >= (9,):
        database.write(_free(prof, "msprof_%s.db"), capture, options)


def _slices(folder: Path, table: tuple, header: str, rows: Iterable) -> list:
    """One file, or numbered parts of which none is unnumbered. `table` is its name and how files end."""
    name, kind = table
    write = _document if kind == "json" else _lines
    room = int(os.environ.get("FAKE_CANN_SLICE_ROWS", "1000000"))
    rows = iter(rows)
    first = list(itertools.islice(rows, room + 1))
    if len(first) <= room:
        return [write(_free(folder, "%s_%%s.%s" % table), header, first)]
    rest = itertools.chain(first, rows)
    parts = iter(lambda: list(itertools.islice(rest, room)), [])
    stamp = _stamp(name)
    return [
        write(folder / ("%s_slice_%d_%s.%s" % (name, n, stamp, kind)), header, part) for n, part in enumerate(parts)
    ]


def _lines(path: Path, header: str, rows: list) -> Path:
    with open(path, "w", newline="") as file:
        file.write("\n".join([header] + rows) + "\n")
    return path


def _document(path: Path, header: str, rows: list) -> Path:
    """The same as an object for each row."""
    names, *cells = csv.reader([header] + rows)
    path.write_text("[\n%s\n]\n" % ",\n".join(json.dumps(dict(zip(names, row))) for row in cells))
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


def _timeline(path: Path, kernels: list, pid: int) -> None:
    events = [
        {"name": k["name"], "ph": "X", "pid": pid, "tid": k["stream"], "ts": tables.us(k["start_ns"])} for k in kernels
    ]
    path.write_text(json.dumps(events))
