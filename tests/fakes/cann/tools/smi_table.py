"""`npu-smi info`: one frame in four layouts, two lines a chip, and the table of processes."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace

from tools.chips import chip
from tools.faults import faults
from tools.state import Place, State, layout


@dataclass(frozen=True)
class Frame:
    """Widths: between the bars, of words in the last cell, of numbers before a slash, of the title."""

    widths: tuple
    words: tuple
    slash: int
    pages: int
    title: int
    version: str


FRAMES = {
    "910B": Frame((27, 15, 52), (12, 18), 5, 5, 33, "25.5.6"),
    "A3": Frame((27, 15, 52), (12, 18), 5, 5, 33, "24.1.rc3.7"),
    "310P": Frame((31, 17, 54), (13, 18), 5, 6, 49, "24.1.0.1"),
    "950": Frame((8, 18, 15, 53), (12, 18), 6, 6, 49, "25.7.rc1"),
}
NAME_WIDTH = 26


def info(places: list) -> str:
    """The whole text."""
    wider = int(os.environ.get("FAKE_CANN_SMI_WIDTH", "0"))
    frame = FRAMES[layout()]
    frame = replace(frame, widths=tuple(width + wider for width in frame.widths))
    inner = sum(frame.widths) + len(frame.widths) - 1
    version = os.environ.get("FAKE_CANN_SMI_VERSION", frame.version)
    lines = [
        "+" + "-" * inner + "+",
        "| " + ("npu-smi " + version).ljust(frame.title) + ("Version: " + version).ljust(inner - frame.title - 1) + "|",
    ]
    lines += [_rule(frame.widths, "-")] + [_row(frame.widths, cells) for cells in _heads(frame)]
    lines.append(_rule(frame.widths, "="))
    for number, place in enumerate(places):
        same = number + 1 < len(places) and places[number + 1].npu == place.npu
        lines += [_row(frame.widths, cells) for cells in _chip(frame, State(place))]
        dies = "+" + "-" * inner + "+" if layout() == "A3" else _rule(frame.widths, "-")
        lines.append(dies if same else _rule(frame.widths, "="))
    if "smi_no_processes" not in faults():
        lines += _processes(frame, inner, places)
    if "smi_warning" in faults():
        lines.append("[WARNING] The driver package is not completely installed, some functions are not available.")
    return "\n".join(lines)


def _rule(widths: tuple, line: str) -> str:
    return "+" + "+".join(line * width for width in widths) + "+"


def _row(widths: tuple, cells: tuple) -> str:
    return "|" + "|".join((" " + cell).ljust(width) for cell, width in zip(cells, widths)) + "|"


def _heads(frame: Frame) -> list:
    first, second = frame.words
    top = "Power(W)".ljust(first) + "Temp(C)".ljust(second) + "Hugepages-Usage(page)"
    load = "NPU Util(%)" if layout() == "950" else "AICore(%)"
    bottom = load.ljust(first) + "Memory-Usage(MB)".ljust(second)
    if layout() == "950":
        return [("NPU ID", "Name", "Health", top), ("", "", "Bus-Id", bottom + "HBM-Usage(MB)")]
    if layout() == "310P":
        return [("NPU     Name", "Health", top), ("Chip    Device", "Bus-Id", bottom)]
    numbers = "Chip  Phy-ID" if layout() == "A3" else "Chip"
    return [("NPU   Name", "Health", top), (numbers, "Bus-Id", bottom + "HBM-Usage(MB)")]


def _chip(frame: Frame, state: State) -> list:
    place, slash = state.place, frame.slash
    first, second = frame.words
    top = state.power.ljust(first) + str(state.temperature).ljust(second) + _pair(0, 0, frame.pages)
    memory = _pair(state.used_mb, state.total_mb, slash)
    load = str(state.load).ljust(first)
    none = _pair(0, 0, 5).ljust(second)
    if layout() == "950":
        named = (str(place.npu), chip().board)
        return [named + (state.health, top), ("", "", state.bus, load + none + memory)]
    if layout() == "310P":
        numbers = str(place.chip).ljust(8) + str(place.logic)
        return [(str(place.npu).ljust(8) + chip().board, state.health, top), (numbers, state.bus, load + memory)]
    numbers = str(place.chip).ljust(6) + (str(place.physical) if layout() == "A3" else "")
    return [(str(place.npu).ljust(6) + chip().board, state.health, top), (numbers, state.bus, load + none + memory)]


def _pair(used: int, total: int, width: int) -> str:
    # A number of five digits touches the slash.
    return str(used).ljust(width) + "/ " + str(total)


def _processes(frame: Frame, inner: int, places: list) -> list:
    widths = (sum(frame.widths[:-2]) + len(frame.widths) - 3,) + frame.widths[-2:]
    split = widths[:2] + (NAME_WIDTH, widths[2] - NAME_WIDTH - 1)
    number = "NPU ID" if layout() == "950" else "NPU     Chip"
    lines = [_rule(widths, "-"), _row(split, (number, "Process id", "Process name", "Process memory(MB)"))]
    lines.append(_rule(widths, "="))
    for card in dict.fromkeys(place.npu for place in places):
        rows = [row for place in places if place.npu == card for row in _living(place)]
        lines += [_row(split, row) for row in rows]
        if not rows:
            lines.append(("| No running processes found in NPU %d" % card).ljust(inner + 1) + "|")
        lines.append(_rule(widths, "="))
    return lines


def _living(place: Place) -> list:
    number = str(place.npu) if layout() == "950" else str(place.npu).ljust(8) + str(place.chip)
    blank = "smi_blank_names" in faults()
    return [
        (number, str(process["pid"]), "" if blank else process.get("name", ""), str(process.get("memory_mb", 0)))
        for process in State(place).processes
    ]
