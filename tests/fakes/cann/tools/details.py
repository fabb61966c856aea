"""l2_cache and aicpu: tables that a switch of their own calls for."""

from __future__ import annotations

from collections.abc import Iterator

from tools import columns, pmu
from tools.capture import Capture
from tools.chips import cann, chip
from tools.faults import seeded
from tools.tables import bare, stamp, us

PROCESSOR = "AI_CPU"


def before_l2(capture: Capture) -> list:
    """The kernels whose requests to L2 were counted; split chips lose the first one."""
    seen = [kernel for kernel in capture.kernels if kernel["kind"] in pmu.CORES]
    return seen[1:] if chip().split else seen


def l2_cache(capture: Capture, options: dict) -> tuple:
    """Shares of the requests to L2 by kernel; split chips do not know the hits."""
    header = columns.L2_CACHE if cann() >= (8,) else columns.L2_CACHE.partition(",")[2]
    return header, _l2_rows(capture, options)


def _l2_rows(capture: Capture, options: dict) -> Iterator[str]:
    for kernel in before_l2(capture):
        chance = seeded("l2", kernel["name"], kernel.get("inputs"))
        hits, victims = (round(chance.uniform(*span), 6) for span in ((0.3, 0.99), (0, 0.25)))
        name = "N/A" if bare(options) else kernel["name"]
        device = [kernel.get("device", capture.process["device"])] if cann() >= (8,) else []
        cells = [kernel["stream"], kernel["task"], "N/A" if chip().split else hits, victims, name]
        yield ",".join(map(str, device + cells))


def on_processor(capture: Capture) -> list:
    """The kernels of the AI CPU."""
    return [kernel for kernel in capture.kernels if kernel["kind"] == PROCESSOR]


def aicpu(capture: Capture, options: dict) -> tuple:
    """What the AI CPU did in each of its kernels; all of it is in the kernel's duration."""
    header = columns.AICPU if cann() >= (8,) else columns.AICPU.partition(",")[2]
    return header, (_processor_line(capture, kernel) for kernel in on_processor(capture))


def _processor_line(capture: Capture, kernel: dict) -> str:
    total = kernel["duration_ns"]
    chance = seeded("aicpu", kernel["name"], kernel["task"])
    dispatch, memcpy = (int(total * chance.uniform(0.02, 0.08)) for _ in range(2))
    task = total - dispatch - int(total * 0.05)
    compute = task - memcpy - int(total * 0.03)
    device = [str(kernel.get("device", capture.process["device"]))] if cann() >= (8,) else []
    times = [us(ns) for ns in (compute, memcpy, task, dispatch, total)]
    place = [str(kernel["stream"]), str(kernel["task"])]
    return ",".join(device + [stamp(kernel["start_ns"]), kernel["name"]] + times + place)
