"""From what a session left on disk to its accounts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from msprun.account.own import boosts, separator
from msprun.account.session import account
from msprun.contract import Collector
from msprun.measure.capture import Capture, read
from msprun.measure.recording import Ran
from msprun.measure.sentinel import Seen
from msprun.model.call import Accounts, Circumstances, ClockReading
from msprun.model.measurement import Remark
from msprun.model.plan import Session
from msprun.reader.prof import Prof

_NO_FAULT = ("left_out", "absent")


class Reckoning(Struct, frozen=True, kw_only=True):
    """The accounts of every side that was called, and what was wrong with the tables behind them.

    `chip` is what the profiler noted of the device: cores, rated clocks (MHz) and versions, as far as they are known.
    """

    accounts: Accounts
    remarks: tuple[Remark, ...]
    chip: dict[str, Any] = {}


def reckon(collector: Collector, session: Session, ran: Ran, timeout_s: float, beside: Seen | None) -> Reckoning:
    """The accounts of a session that is over. `ran` is what it did, `beside` what was seen of the device."""
    calls = ran.calls
    found = read(collector, session, calls, timeout_s)
    kernels = found.kernels.frame if found.kernels else None
    markers = found.markers.frame if found.markers else None
    circumstances = Circumstances(
        source=found.source,
        trouble=found.trouble,
        own=() if kernels is None else boosts(kernels, calls),
        pauses=ran.pauses,
        separator=separator(kernels) if ran.pauses and kernels is not None else None,
        abandoned=ran.abandoned,
        unanswered_from=ran.unanswered_from,
        dropped_rows=0 if found.kernels is None else found.kernels.dropped_rows,
        clock=() if beside is None else tuple(_rated(reading, found.prof) for reading in beside.clock),
        is_shared=None if beside is None else beside.is_shared,
        cores=_cores(found.prof),
    )
    accounts = account(kernels, markers, calls, circumstances)
    return Reckoning(accounts=accounts, remarks=tuple(_faults(found, session, ran)), chip=_chip(found.prof))


def _rated(reading: ClockReading, prof: Prof | None) -> ClockReading:
    """With the rated clock that the profiler noted, where whoever read the clock does not know one."""
    noted = [device.cube_mhz or device.vector_mhz for device in prof.devices] if prof else []
    return reading if reading.rated_mhz or not noted else replace(reading, rated_mhz=noted[0])


def _cores(prof: Prof | None) -> int | None:
    """Of the kind of which the chip has more: old toolkits call kernels of either kind AI_CORE."""
    first = prof.devices[0] if prof and prof.devices else None
    return max(first.cube_cores or 0, first.vector_cores or 0) or None if first else None


def _chip(prof: Prof | None) -> dict[str, Any]:
    if prof is None:
        return {}
    first = to_builtins(prof.devices[0]) if prof.devices else {}
    told = {**first, "driver": prof.driver_version, "cann": prof.cann_version}
    return {name: value for name, value in told.items() if value is not None and name != "device"}


def _faults(found: Capture, session: Session, ran: Ran) -> Iterator[Remark]:
    """Rows and cells that are not as they should be: the first, with its file and line.

    A call that was never answered may have a marker without an end.
    """
    tables = (found.kernels, found.markers if ran.unanswered_from is None else None)
    heard = [c for one in tables if one for c in one.complaints if c.code not in _NO_FAULT]
    if heard:
        root = session.folder.parents[1]
        place = heard[0].file.relative_to(root) if heard[0].file.is_relative_to(root) else heard[0].file
        line = "" if heard[0].line is None else f":{heard[0].line}"
        yield Remark(code="bad_table", figures={"what": f"{place}{line}: {heard[0].what}"})
