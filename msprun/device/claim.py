"""A device chosen and leased in one go, so that two runs that choose at the same time get two devices."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec import Struct

from msprun.contract import Device
from msprun.lease import Lease, Leases, shared_folder
from msprun.model.plan import DeviceFacts
from msprun.schema import Run


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


def claim(device: Device, run: Run, environ: Mapping[str, str], name: str, say: Callable[[str], None]) -> Claim:
    """Choose and lease a device for the run of this name; `say` hears whom it waits for.

    Where the choice is free and somebody was faster, another one is chosen; where all are leased, or the device was
    named, it waits `lease.wait_s`. Raises ConfigError or MachineError as `select` and `Leases.take` do.
    """
    facts = device.select(run, environ)
    if facts.lease is None:
        return Claim(facts=facts)
    leases = Leases(shared_folder(None if run.lease.dir is None else Path(run.lease.dir)), name)
    while facts.id_source == "auto":
        assert facts.lease is not None
        lease = leases.try_take(facts.lease)
        if lease is not None:
            return Claim(facts=facts, lease=lease, leases=leases)
        again = device.select(run, environ)
        if again.lease == facts.lease or again.lease is None:
            break
        facts = again
    assert facts.lease is not None
    return Claim(facts=facts, lease=leases.take(facts.lease, run.lease.wait_s, say), leases=leases)
