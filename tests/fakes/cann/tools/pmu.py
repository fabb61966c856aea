"""Counters of a kernel: cycles that fit its duration, and made-up but repeatable shares of the units."""

from __future__ import annotations

from functools import lru_cache

from tools import columns
from tools.chips import Chip
from tools.faults import seeded

CORES = ("AI_CORE", "AI_VECTOR_CORE", "MIX_AIC", "MIX_AIV")
# The launch on the device is in Task Duration, not in the time of the cores.
LAUNCH_NS = 1500
COUNTS = ("_fops", "_hit", "_miss", "_victim", "_allocate")


def header(chip: Chip, group: str) -> list:
    """The names of the counter columns of a chip and group, in order."""
    sides = columns.counters(chip.family, group)
    if not chip.split:
        return ["aicore_time(us)", "total_cycles"] + sides[0]
    cube = ["aicore_time(us)", "aic_total_cycles"] + ["aic_" + name for name in sides[0]]
    vector = ["aiv_time(us)", "aiv_total_cycles"] + ["aiv_" + name for name in sides[1]]
    return cube + vector + (["cube_utilization(%)"] if has_utilization(chip, group) else [])


def has_utilization(chip: Chip, group: str) -> bool:
    """The last column of the split chips' default group."""
    return chip.family in ("910B", "A3") and group == "PipeUtilization"


def cells(chip: Chip, group: str, kernel: dict) -> list:
    """The counters of one kernel; N/A where the task has none (AI CPU, random numbers, communication)."""
    sides = columns.counters(chip.family, group)
    if kernel["kind"] not in CORES:
        return ["N/A"] * len(header(chip, group))
    cube = cycles(kernel, 0, chip)
    if not chip.split:
        return _side(sides[0], kernel, cube)
    vector = cycles(kernel, 1, chip)
    found = _side(sides[0], kernel, cube) + _side(sides[1], kernel, vector)
    if has_utilization(chip, group):
        # By the rated clock, whatever the clock was.
        share = 1e5 * cube[1] / (chip.mhz * chip.cubes * kernel["duration_ns"])
        found.append("%.3f" % share if share else "0")
    return found


def blocks(kernel: dict, chip: Chip) -> tuple:
    """Blocks on cube and on vector cores; the suffix of a mixed kernel names the side that Block Num counts."""
    count, other = kernel["block_num"], kernel.get("mix_block_num") or 0
    if not chip.split:
        return count, 0
    return {"AI_CORE": (count, 0), "AI_VECTOR_CORE": (0, count), "MIX_AIC": (count, other)}.get(
        kernel["kind"], (other, count)
    )


def busy_ns(kernel: dict) -> int:
    """How long the cores hold a kernel, at the end of its duration."""
    return max(kernel["duration_ns"] - LAUNCH_NS, kernel["duration_ns"] // 2)


def cycles(kernel: dict, side: int, chip: Chip) -> tuple:
    """(us, cycles) of a side: time = cycles / clock / blocks x rounds, where the cycles are those of all blocks."""
    count, cores = blocks(kernel, chip)[side], (chip.cubes, chip.vectors)[side]
    if not count:
        return 0.0, 0
    rounds = -(-count // cores)
    total = int(busy_ns(kernel) / 1000 * kernel["mhz"] * count / rounds)
    return total / kernel["mhz"] / count * rounds, total


def _side(names: list, kernel: dict, busy: tuple) -> list:
    us, total = busy
    lead = [str(round(us, 3)), str(total)]
    if not total:
        return lead + ["0" if name.endswith(COUNTS) else "0.0" for name in names]
    found = shares(tuple(names), kernel["name"], kernel["block_num"])
    return lead + [str(round(us * share, 3)) if is_time else str(share) for is_time, share in found]


@lru_cache(maxsize=4096)
def shares(names: tuple, kernel: str, blocks: int) -> list:
    """(is a share of the time, figure) of each column: a kernel has the same ones every time that it runs."""
    chance = seeded("pmu", kernel, blocks)
    found, ratios = [], {}
    for name in names:
        pipe = name.replace("_time(us)", "").replace("_ratio", "")
        if name.endswith("_time(us)"):
            ratios[pipe] = round(chance.uniform(0.02, 0.9), 3)
            found.append((True, ratios[pipe]))
        elif name.endswith("_ratio") and pipe in ratios:
            found.append((False, ratios[pipe]))
        elif name == "memory_bound":
            found.append((False, round(ratios["mte2"] / max(ratios["mac"], ratios["vec"]), 4)))
        elif name.endswith("(GB/s)"):
            found.append((False, round(chance.uniform(1, 400), 3)))
        elif name.endswith(("_ratio", "_rate")):
            found.append((False, round(chance.uniform(0, 0.4), 3)))
        else:
            found.append((False, chance.randrange(1, 100000)))
    return found
