"""The machine that the figures are true of."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from msgspec import Struct

from msprun.device.cpu import Cpu


class Machine(Struct, frozen=True, kw_only=True):
    """What could not be found is None."""

    cpu: str
    cores: int | None
    memory_bytes: int
    kernel: str
    python: str
    torch: str | None
    hydra: str | None


def describe() -> Machine:
    """This one; nothing heavy is imported to find out."""
    facts = Cpu().facts(1)
    return Machine(
        cpu=facts.name,
        cores=facts.cores,
        memory_bytes=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        kernel=f"{platform.system()} {platform.release()} {platform.machine()}",
        python=platform.python_version(),
        torch=_version("torch"),
        hydra=_version("hydra-core"),
    )


def load() -> tuple[float, ...]:
    """Load averages of the last 1, 5 and 15 minutes."""
    return tuple(float(word) for word in Path("/proc/loadavg").read_text().split()[:3])


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
