"""A device chosen and leased in one go, so that two runs that choose at the same time get two devices."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from msprun import schema
from msprun.lease import Lease, Leases, shared_folder
from msprun.model.plan import DeviceFacts

_TURN_S = 10.0


class Claim(Struct, frozen=True, kw_only=True):
    """A chosen device; `lease` and `leases` are None for one that is shared as it is."""

    facts: DeviceFacts
    lease: Lease | None = None
    leases: Leases | None = None

    @property
    def fds(self) -> tuple[int, ...]:
        """What every process that uses the device is given."""
        return () if self.lease is None else self.lease.fds

    def close(self) -> None:
        """Give it back; children that still run keep it until they end."""
        if self.lease is not None:
            self.lease.release()


def claim(
    first: DeviceFacts, again: Callable[[], DeviceFacts], rules: schema.Lease, name: str, say: Callable[[str], None]
) -> Claim:
    """Lease the device that was chosen `first` for the run of this name; `say` hears whom it waits for.

    Where the choice was free and somebody was faster, it is made `again`; where all are leased, or the device was
    named, it waits `lease.wait_s`. Raises ConfigError or MachineError as `Device.select` and `Leases.take` do.
    """
    if first.lease is None:
        return Claim(facts=first)
    leases = Leases(shared_folder(None if rules.dir is None else Path(rules.dir)), name)
    if first.id_source != "auto":
        return Claim(facts=first, lease=leases.take(first.lease, rules.wait_s, say), leases=leases)
    return _any(first, again, leases, rules.wait_s, say)


def _any(
    first: DeviceFacts,
    again: Callable[[], DeviceFacts],
    leases: Leases,
    wait_s: float,
    say: Callable[[str], None],
) -> Claim:
    """The first choice, else another one; where all are leased whichever is free again first, looked at in turns."""
    end, facts, is_told = time.monotonic() + wait_s, first, False
    for wait_for_s in itertools.chain((0.0,), itertools.repeat(_TURN_S)):
        assert facts.lease is not None
        left_s = max(0.0, end - time.monotonic())
        if wait_for_s and left_s and not is_told:
            say(f"every device is leased; waiting for {leases.told(facts.lease)}")
            is_told = True
        lease = leases.wait(facts.lease, min(wait_for_s, left_s))
        if lease is not None:
            return Claim(facts=facts, lease=lease, leases=leases)
        if wait_for_s and not left_s:
            break
        facts = again()
    assert facts.lease is not None
    raise leases.refusal(facts.lease, wait_s)
