"""op_statistic and api_statistic: sums over a capture."""

from __future__ import annotations

from tools import columns
from tools.capture import Capture
from tools.faults import seeded
from tools.tables import core, short

# Host calls with their median ns, by level; the first of a level is made once for each kernel.
CALLS = {
    "runtime": (("KernelLaunch", 18000), ("DeviceSynchronize", 40000), ("SetDevice", 70000)),
    "acl": (("aclrtLaunchKernelWithConfig", 21000), ("aclrtSynchronizeDeviceWithTimeout", 41000)),
    "node": (("launch", 26000),),
}


def op_statistic(capture: Capture, options: dict) -> tuple:
    """Durations by type and core, the largest sum first; shapes are merged."""
    found: dict = {}
    for kernel in capture.kernels:
        found.setdefault((kernel["op_type"], core(kernel)), []).append(kernel["duration_ns"])
    everything = sum(map(sum, found.values()))
    lines = []
    for (op_type, kind), times in sorted(found.items(), key=lambda item: -sum(item[1])):
        figures = [sum(times), min(times), sum(times) / len(times), max(times)]
        share = ("%.3f" % (100 * sum(times) / everything)).rstrip("0").rstrip(".")
        cells = [capture.process["device"], op_type, kind, len(times)] + [short(ns) for ns in figures] + [share]
        lines.append(",".join(map(str, cells)))
    return columns.OP_STATISTIC, iter(lines)


def api_statistic(capture: Capture, options: dict) -> tuple:
    """Host calls by level: those of the levels that were asked for."""
    lines = []
    for level in levels(options):
        for number, (name, typical_ns) in enumerate(CALLS[level]):
            count = len(capture.kernels) if number == 0 else 1
            chance = seeded("api", name)
            times = [int(typical_ns * chance.uniform(0.8, 1.4)) for _ in range(min(count, 1000))] or [0]
            mean = sum(times) / len(times)
            variance = sum((ns - mean) ** 2 for ns in times) / len(times) / 1e6
            figures = [short(mean * count), count, short(mean), short(min(times)), short(max(times))]
            lines.append(",".join(map(str, ["host", level, name] + figures + ["%.3f" % variance])))
    return columns.API_STATISTIC, iter(lines)


def levels(options: dict) -> list:
    """The levels of host calls that a command line asks for."""
    asked = {"runtime": options.get("runtime-api") == "on", "acl": options.get("ascendcl") != "off"}
    asked["node"] = options.get("task-time") in ("on", "l1", "l2")
    return [level for level in CALLS if asked[level]]
