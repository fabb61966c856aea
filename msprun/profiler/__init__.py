"""Who takes the times: one module a profiler."""

from __future__ import annotations

from msprun.contract import Profiler
from msprun.profiler.clock import Clock

PROFILERS: dict[str, Profiler] = {"clock": Clock()}
_DEFAULTS = {"cpu": ("clock", "a call on the processor lasts as long as the host's clock says")}


def default_for(kind: str) -> tuple[str, str]:
    """The profiler that `profiler=auto` stands for on a kind of device, and why."""
    return _DEFAULTS[kind]
