"""The files of a `*_ascend_pt` folder: kernel_details.csv, trace_view.json and what tells of the collection."""

import importlib
import json
import os
import sys
from pathlib import Path

RENAMED = {
    "Op Name": "Name",
    "OP Type": "Type",
    "Task Type": "Accelerator Core",
    "Task Start Time(us)": "Start Time(us)",
    "Task Duration(us)": "Duration(us)",
    "Task Wait Time(us)": "Wait Time(us)",
}
LEVEL0 = ("Name", "Type", "Accelerator Core", "Start Time(us)", "Duration(us)", "Wait Time(us)", "Block Num")


class Tools:
    """Parts of the fake msprof, borrowed without leaving a module called `tools` in an operator's process."""

    def __init__(self):
        folder = str(Path(__file__).resolve().parents[3])
        mine = {name: sys.modules.pop(name) for name in list(sys.modules) if name.partition(".")[0] == "tools"}
        sys.path.insert(0, folder)
        try:
            for name in ("tables", "columns", "chips", "pmu", "prof", "capture", "faults"):
                setattr(self, name, importlib.import_module("tools." + name))
        finally:
            sys.path.remove(folder)
            for name in [name for name in sys.modules if name.partition(".")[0] == "tools"]:
                del sys.modules[name]
            sys.modules.update(mine)


class Process:
    """As much of a capture as a row wants to know."""

    def __init__(self, device):
        self.process = {"device": device}


def kernel_details(tools, kernels, steps, recording):
    """The table's text. `steps` are (number, start_ns, end_ns), none without a schedule."""
    config, device = recording.config, recording.device.logic
    chip, version, level0 = tools.chips.chip(), tools.chips.cann(), config.profiler_level == "Level0"
    spelled = tools.columns.fixed(chip.family, version)
    written = [(RENAMED.get(name, name), RENAMED.get(spelling, spelling)) for name, spelling in spelled]
    written = [pair for pair in written if not level0 or pair[0] in LEVEL0]
    group = config.group
    header = ["Step Id"] * bool(steps) + [spelling for _, spelling in written]
    header += tools.pmu.header(chip, group) if group else []
    lines, end = [",".join(header)], None
    for kernel in sorted(kernels, key=lambda kernel: kernel["start_ns"]):
        row = row_of(tools.tables._op_cells(Process(device), kernel, end), level0)
        cells = [step_of(kernel, steps)] * bool(steps) + [row[name] for name, _ in written]
        lines.append(",".join(cells + (tools.pmu.cells(chip, group, kernel) if group else [])))
        end = kernel["start_ns"] + kernel["duration_ns"]
    ending = {"crlf": "\r\n", "lf": "\n"}[os.environ.get("FAKE_CANN_LINES", "crlf")]
    return ending.join(lines) + ending


def row_of(cells, level0):
    """A row of op_summary under the names that torch_npu gives its columns, quoted by its csv module."""
    row = {RENAMED.get(name, name): cell for name, cell in cells.items()}
    for name in ("Input Shapes", "Output Shapes"):
        if row[name] != "N/A":
            row[name] = '"""%s"""' % row[name].strip('"')
    if os.environ.get("FAKE_CANN_QUOTED_TIMES") == "1":
        row["Start Time(us)"] = '"%s"' % row["Start Time(us)"]
    if level0:
        row.update({"Type": "N/A", "Accelerator Core": "N/A", "Block Num": "0"})
    return row


def step_of(kernel, steps):
    """The step in which a kernel was launched, "" for none."""
    found = [number for number, start, end in steps if start <= kernel["host_ns"] < end]
    return str(found[0]) if found else ""


def trace_view(kernels, marks, steps):
    """Events of the Chrome format: kernels, marks of the host and of the device, steps; times in us as text."""
    pid = os.getpid()
    events = [complete(k["name"], k["start_ns"], k["duration_ns"], (1, k["stream"])) for k in kernels]
    for mark in marks:
        args = {"Domain": mark["domain"], "Id": mark["id"]}
        times = mark["host_start_ns"], mark["host_end_ns"] - mark["host_start_ns"]
        events.append(dict(complete(mark["message"], *times, (pid, pid)), args=args, cat="mstx"))
        if mark["device_start_ns"] is not None:
            times = mark["device_start_ns"], mark["device_end_ns"] - mark["device_start_ns"]
            events.append(dict(complete(mark["message"], *times, (1, mark["stream"])), args=args, cat="mstx"))
    events += [complete("ProfilerStep#%d" % n, start, end - start, (pid, pid)) for n, start, end in steps]
    return json.dumps(events)


def complete(name, start_ns, duration_ns, place):
    stamp = "%d.%03d" % divmod(start_ns, 1000)
    return {"name": name, "ph": "X", "ts": stamp, "dur": duration_ns / 1000, "pid": place[0], "tid": place[1]}


def profiler_info(profile, span_ns):
    """profiler_info_0.json: what was asked for, and when."""
    config = profile.config
    words = {
        "_profiler_level": config.profiler_level,
        "_aic_metrics": config._aic_metrics,
        "_l2_cache": config.l2_cache,
        "_msprof_tx": config.mstx,
        "_export_type": config.export_type,
    }
    asked = {"activities": ["ProfilerActivity.CPU", "ProfilerActivity.NPU"], "schedule": profile.schedule_words()}
    return {
        "config": {"common_config": asked, "experimental_config": words},
        "start_info": {"syscnt_enable": True, "freq": 100, "start_monotonic": span_ns[0]},
        "end_info": {"collectionTimeEnd": span_ns[1], "MonotonicTimeEnd": span_ns[1]},
        "torch_npu_version": "2.13.0",
        "rank_id": 0,
    }
