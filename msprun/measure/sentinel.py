"""The device beside what we do on it: who else uses it, how fast it runs, whether all is given back."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import TypeVar

from msgspec import Struct

from msprun.contract import Device
from msprun.device import busy
from msprun.device.claim import Claim
from msprun.model.call import ClockReading
from msprun.model.measurement import Remark
from msprun.model.npu import Use
from msprun.model.plan import DeviceFacts, Plan

SOURCE = "npu-smi"
_HUNG_S = 5.0
_EVERY_S = 1.0  # a look takes a tenth of a second of the host, and none of the device

_Answer = TypeVar("_Answer")


class Seen(Struct, frozen=True, kw_only=True):
    """What was seen around a session. `is_shared` is None where nobody tells who uses the device."""

    remarks: tuple[Remark, ...]
    is_shared: bool | None
    clock: tuple[ClockReading, ...]


class Sentinel:
    """Asked before, during and after each session; `say` hears whom it waits for."""

    def __init__(self, device: Device, plan: Plan, claimed: Claim | None, say: Callable[[str], None]) -> None:
        self._device = device
        self._claim = claimed
        self._plan = plan
        self._say = say
        self._before: Use | None = None
        self._latest: Use | None = None
        self._looked_s = -math.inf
        self._clock: list[ClockReading] = []
        self._next = 0.0
        self._is_deaf = False

    def before(self) -> None:
        """Wait until nobody else uses the device, as far as `device.busy` asks for. Raises MachineError."""
        plan = self._plan
        name = f"{plan.device.kind} {plan.device.id}"
        self._before = busy.admit(self._recent, name, plan.access.busy, plan.access.wait_s, self._say)
        self._clock.clear()

    def during(self) -> None:
        """Read the clock, at most once a second."""
        now = time.monotonic()
        if now < self._next:
            return
        at_ns = time.time_ns()
        pulse = self._ask(self._device.pulse)
        self._next = time.monotonic() + _EVERY_S
        if pulse is not None and pulse.clock_mhz is not None:
            self._clock.append(ClockReading(source=SOURCE, mhz=pulse.clock_mhz, rated_mhz=pulse.rated_mhz, at_ns=at_ns))

    def sick(self, why: str) -> None:
        """Have other runs leave the device alone: fresh processes fail on it. It is never reset."""
        if self._claim is not None and self._claim.leases is not None and self._claim.facts.lease is not None:
            self._claim.leases.mark_sick(self._claim.facts.lease, why)

    @property
    def patience_s(self) -> float:
        """How long somebody else's profiler is waited for."""
        return self._plan.access.wait_s if self._plan.access.busy == "wait" else 0.0

    def tell(self, text: str) -> None:
        """Say something to whoever waits for the run."""
        self._say(text)

    def after(self, leader: int) -> Seen:
        """What a session that is over means for its times; `leader` is the pid that led it."""
        after = busy.settled(self._look, self._before)
        remarks = busy.remarks(self._before, after, {leader})
        is_shared = any(remark.code == "shared_device" for remark in remarks)
        return Seen(remarks=remarks, is_shared=None if after is None else is_shared, clock=tuple(self._clock))

    def _look(self) -> Use | None:
        self._latest = self._ask(self._device.use)
        self._looked_s = time.monotonic()
        return self._latest

    def _recent(self) -> Use | None:
        """What a look behind the session before told a moment ago, if that speaks for beginning, or what one tells now.

        They take seconds on large hosts.
        """
        known = self._latest if time.monotonic() - self._looked_s < _EVERY_S else None
        return known if known is not None and busy.why_busy(known, ()) is None else self._look()

    def _ask(self, question: Callable[[DeviceFacts], _Answer | None]) -> _Answer | None:
        """The tool's answer; one that has hung once is not asked again: it would hang each time."""
        if self._is_deaf:
            return None
        began = time.monotonic()
        answer = question(self._plan.device)
        self._is_deaf = answer is None and time.monotonic() - began > _HUNG_S
        return answer
