"""From what a session left on disk to its accounts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msprun.account.session import account
from msprun.contract import Collector
from msprun.measure.capture import read
from msprun.model.call import Accounts, Circumstances, DeviceCall
from msprun.model.plan import Session


def reckon(
    collector: Collector, session: Session, calls: Sequence[DeviceCall], timeout_s: float
) -> tuple[Accounts, Path | None]:
    """The accounts of every side that was called, and the folder that they were read from."""
    found = read(collector, session, calls, timeout_s)
    kernels = found.kernels.frame if found.kernels else None
    markers = found.markers.frame if found.markers else None
    circumstances = Circumstances(source=found.source, trouble=found.trouble)
    return account(kernels, markers, calls, circumstances), found.folder
