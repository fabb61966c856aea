"""Where operators run: one module a kind of device."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

from msprun.contract import Device
from msprun.device.cpu import Cpu
from msprun.device.inventory import device_files, find_tool
from msprun.device.npu import Npu

DEVICES: dict[str, Device] = {"cpu": Cpu(), "npu": Npu()}
_DEV = Path("/dev")


def accelerators() -> tuple[str, ...]:
    """Device files of accelerators on this host, NPUs first."""
    nvidia = sorted(str(path) for path in _DEV.glob("nvidia[0-9]*"))
    return (*(str(_DEV / name) for name in device_files(_DEV)), *nvidia)


def detect() -> tuple[str, str]:
    """The kind of device that `device=auto` stands for, and why; decided without torch."""
    seen = accelerators()
    if seen and "davinci" in seen[0]:
        return "npu", f"{seen[0]} is here"
    tool = find_tool(os.environ)
    if tool is not None:
        return "npu", f"{tool} is here"
    if seen:
        return "cpu", f"{seen[0]} is here, but this version measures on processors and NPUs only"
    if importlib.util.find_spec("torch_npu") is not None:
        return "cpu", "torch_npu is installed, but no NPU is here: neither /dev/davinci* nor npu-smi"
    return "cpu", "no accelerator's device file in /dev"
