"""Sample-based counters: every core of a device, read at a steady pace from a process' first moment to its last."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tools import columns, cores, pmu
from tools.capture import Capture
from tools.chips import chip

# Counters that are shares of the cycles or speeds; the others are amounts.
RATES = ("_ratio", "_rate", "(GB/s)")


@dataclass(frozen=True)
class Side:
    """The cores of one kind of a device. `readings` are (Unix ns, core, cycles, events) since the reading before."""

    device: int
    kind: str
    metrics: list
    mhz: int
    readings: list

    def totals(self) -> dict:
        """(cycles, events) of each core over all readings."""
        found: dict = {}
        for _, core, cycles, events in self.readings:
            before = found.get(core, (0, [0] * len(events)))
            found[core] = before[0] + cycles, [sum(pair) for pair in zip(before[1], events)]
        return found

    def summary(self) -> dict:
        """The value of each metric by core: amounts are sums, shares and speeds are means over the busy cycles."""
        return {
            core: [
                event if not name.endswith(RATES) else event / cycles if cycles else 0.0
                for name, event in zip(self.metrics, events)
            ]
            for core, (cycles, events) in self.totals().items()
        }


def sides(capture: Capture, options: dict) -> list:
    """The sides of every device that the process used; none unless samples were asked for."""
    if not options.get("sampled"):
        return []
    found = []
    for process in capture.processes:
        groups = columns.sampled(chip().family, options["sampled"])
        for side, numbers in enumerate(cores.numbers(chip(), process["physical"])):
            if numbers:
                metrics = [name for name in groups[side] if name != "memory_bound"]
                readings = list(_readings(_Grid(capture, options, process), side, numbers, metrics))
                found.append(Side(process["device"], ("AIC", "AIV")[side], metrics, chip().mhz, readings))
    return found


class _Grid:
    """The moments of the readings of one device, and the kernels between them."""

    def __init__(self, capture: Capture, options: dict, process: dict) -> None:
        self.period_ns = 10**9 // options["sample_hz"]
        delay, duration = (float(options.get(name, 0)) for name in ("delay", "duration"))
        opened = options["start_ns"] + int(delay * 1e9)
        self.start_ns = max(process["start_ns"], opened)
        self.end_ns = capture.end_ns
        if duration:
            self.end_ns = min(self.end_ns, opened + int(duration * 1e9))
        self.count = max(0, -(-(self.end_ns - self.start_ns) // self.period_ns))
        mine = (k for k in capture.ran if k.get("device", capture.process["device"]) == process["device"])
        self.kernels = [kernel for kernel in mine if kernel["kind"] in pmu.CORES]

    def between(self, begin_ns: int, end_ns: int) -> Iterator:
        """(reading, ns until it) for each reading that sees a part of an interval."""
        begin, end = max(begin_ns, self.start_ns), min(end_ns, self.end_ns)
        while begin < end:
            number = (begin - self.start_ns) // self.period_ns
            until = min(end, self.start_ns + (number + 1) * self.period_ns)
            yield number, until - begin
            begin = until


def _readings(grid: _Grid, side: int, numbers: list, metrics: list) -> Iterator:
    """Cycles and events by reading and core, rounded so that their sums are those of the kernels."""
    counted = _counted(grid, side, len(numbers), metrics)
    idle = [0] * len(metrics)
    known = [[0.0] * (1 + len(metrics)) for _ in numbers]
    for number in range(grid.count):
        at = grid.start_ns + (number + 1) * grid.period_ns
        grown = _grown(known, counted[number]) if number in counted else None
        for place, core in enumerate(numbers):
            yield (at, core, grown[place][0], grown[place][1:]) if grown else (at, core, 0, idle)


def _grown(known: list, counted: dict) -> list:
    """By core what its counters went up by in one reading; `known`, where they stood exactly, goes up with them."""
    sums = [0.0] * len(known[0])
    grown = []
    for place in range(len(known) - 1, -1, -1):
        sums = [a + b for a, b in zip(sums, counted[place + 1])] if place + 1 in counted else sums
        after = [before + value for before, value in zip(known[place], sums)]
        grown.append([round(new) - round(old) for new, old in zip(after, known[place])])
        known[place] = after
    return grown[::-1]


def _counted(grid: _Grid, side: int, count: int, metrics: list) -> dict:
    """By reading and m: cycles and events that each of the first m cores has more than the one behind them."""
    found: dict = {}
    for kernel in grid.kernels:
        blocks = pmu.blocks(kernel, chip())[side]
        begin = kernel["start_ns"] + kernel["duration_ns"] - pmu.busy_ns(kernel)
        rates = [1.0] + (_rates(kernel, side, metrics) if blocks else [])
        for first, start, end in _shifts(blocks, count, begin, pmu.busy_ns(kernel)):
            for number, ns in grid.between(start, end):
                cycles = ns * kernel["mhz"] / 1000
                sums = found.setdefault(number, {}).setdefault(first, [0.0] * len(rates))
                sums[:] = [value + cycles * rate for value, rate in zip(sums, rates)]
    return found


def _shifts(blocks: int, count: int, begin: int, busy_ns: int) -> list:
    """(m, begin, end) of the times in which the first m cores work: block i is on core i modulo their count.

    What does not fill the last round leaves the later cores idle in it.
    """
    full, rest = divmod(blocks, count)
    rounds = full + bool(rest)
    middle = begin + busy_ns * full // rounds if rounds else begin
    return [(m, start, end) for m, start, end in ((count, begin, middle), (rest, middle, begin + busy_ns)) if m]


def _rates(kernel: dict, side: int, metrics: list) -> list:
    """Events for each cycle of a core: the shares of the kernel's own counters."""
    shares = [value for _, value in pmu.shares(tuple(metrics), kernel["name"], kernel["block_num"])]
    cycles = pmu.cycles(kernel, side, chip())[1]
    return [value if name.endswith(RATES) else value / cycles for name, value in zip(metrics, shares)]
