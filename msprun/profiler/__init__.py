"""Who takes the times: one module a profiler."""

from __future__ import annotations

import os

from msprun import toolkit
from msprun.contract import Collector, Profiler
from msprun.profiler.clock import Clock
from msprun.profiler.msprof import Msprof
from msprun.profiler.torch_npu import TorchNpu

# Those that see what happens on the device, and tell when a session is over.
COLLECTORS: dict[str, Collector] = {"msprof": Msprof(), "torch_npu": TorchNpu()}
PROFILERS: dict[str, Profiler] = {"clock": Clock(), **COLLECTORS}


def default_for(kind: str) -> tuple[str, str]:
    """The profiler that `profiler=auto` stands for on a kind of device, and why."""
    if kind != "npu":
        return "clock", "a call on the processor lasts as long as the host's clock says"
    msprof = toolkit.msprof(os.environ)
    if msprof is not None:
        return "msprof", f"it is {msprof}"
    return "torch_npu", f"there is no msprof, neither on PATH nor below {toolkit.HOME}"
