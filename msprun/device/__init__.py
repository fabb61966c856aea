"""Where operators run: one module a kind of device."""

from __future__ import annotations

from pathlib import Path

from msprun.contract import Device
from msprun.device.cpu import Cpu

DEVICES: dict[str, Device] = {"cpu": Cpu()}


def accelerators() -> tuple[str, ...]:
    """Device files of accelerators on this host, NPUs first."""
    dev = Path("/dev")
    return tuple(sorted(str(p) for p in (*dev.glob("davinci[0-9]*"), *dev.glob("nvidia[0-9]*"))))


def detect() -> tuple[str, str]:
    """The kind of device that `device=auto` stands for, and why; decided without torch."""
    seen = accelerators()
    if seen:
        return "cpu", f"{seen[0]} is here, but this version measures on the processor only"
    return "cpu", "no accelerator's device file in /dev"
