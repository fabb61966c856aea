"""Which NPU is taken when nobody names one: healthy, free, and with the least load."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from msprun.errors import MachineError
from msprun.lease import Sick
from msprun.model.npu import Chip, Process

# A process that only holds a context on a device keeps this much of its memory, and the device hardly any work.
BESIDE_MB = 512
# Of the memory. Drivers keep 5 to 11 % for themselves on an idle device, 9 % of a slice.
BUSY_SHARE = 0.2
BUSY_PERCENT = 5.0
_FIT = ("OK", "Warning", "UNKNOWN")  # the last where a container may not ask


class Candidate(Struct, frozen=True, kw_only=True):
    """A visible device: `id` is torch's number in the caller's shell, `processes` None where they are not known."""

    id: int
    chip: Chip
    processes: tuple[Process, ...] | None
    is_leased: bool
    sick: Sick | None


def pick(candidates: Sequence[Candidate]) -> tuple[Candidate, str]:
    """The best one and why. Raises MachineError where none is fit for work."""
    fit = [one for one in candidates if one.chip.health in _FIT and one.sick is None]
    if not fit:
        told = ", ".join(f"{one.id} {one.sick.why if one.sick else one.chip.health}" for one in candidates)
        raise MachineError(
            f"no visible NPU is healthy: {told}", "look at npu-smi info; device.id=N measures there all the same"
        )
    free = [one for one in fit if not one.is_leased]
    best = min(free or fit, key=_cost)
    count = len(candidates)
    if count == 1:
        return best, "it is the only one"
    if not free:
        return best, f"all {len(fit)} are leased; of these it has the least load"
    return best, f"of {count} it is {_how(best)}"


def processes_of(chip: Chip, processes: Sequence[Process] | None) -> tuple[Process, ...] | None:
    """Who uses a chip. Where the table has no chips a card's processes are everybody's on it."""
    if processes is None:
        return None
    return tuple(p for p in processes if p.npu_id == chip.npu_id and p.chip_id in (None, chip.chip_id))


def share(used: int | None, total: int | None) -> float | None:
    """Used of total, None where that is not known."""
    return None if used is None or not total else used / total


def _cost(one: Candidate) -> tuple[bool, bool, float, float, int]:
    """Worse health, somebody's work, load, memory, number: in this order. What is not known is taken for nothing."""
    heavy = any((p.memory_mb or 0) >= BESIDE_MB for p in one.processes or ())
    memory = share(one.chip.memory_used_mb, one.chip.memory_total_mb) or 0.0
    return one.chip.health != "OK", heavy, one.chip.aicore_percent or 0.0, round(memory, 2), one.id


def _how(one: Candidate) -> str:
    load = "load not told" if one.chip.aicore_percent is None else f"AI core {one.chip.aicore_percent:g} %"
    memory = share(one.chip.memory_used_mb, one.chip.memory_total_mb)
    used = "" if memory is None else f", memory {memory:.0%}"
    return f"the healthy one with the least load ({load}{used})" if one.chip.health == "OK" else f"{one.chip.health}"
