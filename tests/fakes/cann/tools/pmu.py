"""Counters of a kernel: cycles that fit its duration, and made-up but repeatable shares of the units."""

from __future__ import annotations

import random

from tools import columns
from tools.chips import Chip
from tools.faults import seeded

CORES = ("AI_CORE", "AI_VECTOR_CORE", "MIX_AIC", "MIX_AIV")
# The launch on the device is in Task Duration, not in the time of the cores.
LAUNCH_NS = 1500


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
    if not chip.split:
        return _side(sides[0], kernel, _cycles(kernel, kernel["block_num"], chip.cubes))
    cubes, vectors = _blocks(kernel)
    cube, vector = _cycles(kernel, cubes, chip.cubes), _cycles(kernel, vectors, chip.vectors)
    found = _side(sides[0], kernel, cube) + _side(sides[1], kernel, vector)
    if has_utilization(chip, group):
        # By the rated clock, whatever the clock was.
        share = 1e5 * cube[1] / (chip.mhz * chip.cubes * kernel["duration_ns"])
        found.append("%.3f" % share if share else "0")
    return found


def _blocks(kernel: dict) -> tuple:
    """Blocks on cube and on vector cores; the suffix of a mixed kernel names the side that Block Num counts."""
    blocks, other = kernel["block_num"], kernel.get("mix_block_num") or 0
    return {"AI_CORE": (blocks, 0), "AI_VECTOR_CORE": (0, blocks), "MIX_AIC": (blocks, other)}.get(
        kernel["kind"], (other, blocks)
    )


def _cycles(kernel: dict, blocks: int, cores: int) -> tuple:
    """(us, cycles): time = cycles / clock / blocks x rounds, where the cycles are those of all blocks."""
    if not blocks:
        return 0.0, 0
    busy_us = max(kernel["duration_ns"] - LAUNCH_NS, kernel["duration_ns"] // 2) / 1000
    rounds = -(-blocks // cores)
    cycles = int(busy_us * kernel["mhz"] * blocks / rounds)
    return cycles / kernel["mhz"] / blocks * rounds, cycles


def _side(names: list, kernel: dict, busy: tuple) -> list:
    us, cycles = busy
    found, ratios = [str(round(us, 3)), str(cycles)], {}
    # The same kernel has the same shares every time that it runs.
    chance = seeded("pmu", kernel["name"], kernel["block_num"])
    for name in names:
        if name.endswith("_time(us)"):
            pipe = name[: -len("_time(us)")]
            ratios[pipe] = round(chance.uniform(0.02, 0.9), 3) if cycles else 0.0
            found.append(str(round(us * ratios[pipe], 3)))
        elif name.endswith("_ratio") and name[: -len("_ratio")] in ratios:
            found.append(str(ratios[name[: -len("_ratio")]]))
        elif name == "memory_bound":
            found.append(str(round(ratios["mte2"] / max(ratios["mac"], ratios["vec"]), 4)))
        else:
            found.append(_other(name, chance, cycles))
    return found


def _other(name: str, chance: random.Random, cycles: int) -> str:
    if not cycles:
        return "0" if name.endswith(("_fops", "_hit", "_miss", "_victim", "_allocate")) else "0.0"
    if name.endswith("(GB/s)"):
        return str(round(chance.uniform(1, 400), 3))
    if name.endswith(("_ratio", "_rate")):
        return str(round(chance.uniform(0, 0.4), 3))
    return str(chance.randrange(1, 100000))
