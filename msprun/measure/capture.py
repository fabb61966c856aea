"""What a profiled session left on disk: kernels and markers, asked for twice where the first export failed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import cast

from msgspec import Struct

from msprun import process
from msprun.contract import Collector
from msprun.model.call import DeviceCall, TimeSource
from msprun.model.plan import Command, Session
from msprun.reader import READERS
from msprun.reader.prof import Prof, facts
from msprun.reader.reading import Reading
from msprun.reader.tree import profs


class Capture(Struct, frozen=True, kw_only=True):
    """One process's records; `markers` None where the profiler knows none. `trouble` says why there are no kernels.

    `prof` is what msprof noted of the devices, None where it noted nothing.
    """

    source: TimeSource
    kernels: Reading | None
    markers: Reading | None
    trouble: str | None = None
    prof: Prof | None = None


def read(collector: Collector, session: Session, calls: Sequence[DeviceCall], timeout_s: float) -> Capture:
    """The records of the process that made `calls`. An export that left nothing is made once more, offline."""
    found = [_one(collector, folder) for folder in collector.captures(session.folder)]
    if found and not any(one.kernels for one in found):
        for folder in collector.captures(session.folder):
            _export(collector, session, folder, timeout_s)
        found = [_one(collector, folder) for folder in collector.captures(session.folder)]
    source = cast(TimeSource, collector.readers[0])
    nothing = Capture(source=source, kernels=None, markers=None, trouble="no_capture")
    return max(found, key=lambda one: _rows_within(one, calls), default=nothing)


def _one(collector: Collector, folder: Path) -> Capture:
    """The first of a profiler's tables that has rows, else the first that is there; no table behind it is read."""
    there: list[tuple[str, Reading]] = []
    for name in collector.readers:
        reading = READERS[name](folder)
        if reading.files:
            there.append((name, reading))
        if len(reading.frame):
            break
    marker = collector.marker_reader
    markers = READERS[marker](folder) if marker else None
    if not there:
        return Capture(source=cast(TimeSource, collector.readers[0]), kernels=None, markers=markers, trouble="no_table")
    name, kernels = there[-1] if len(there[-1][1].frame) else there[0]
    return Capture(
        source=cast(TimeSource, name),
        kernels=kernels,
        markers=markers if markers is not None and markers.files else None,
        prof=facts(inner[-1]) if (inner := profs(folder)) else None,
    )


def _rows_within(one: Capture, calls: Sequence[DeviceCall]) -> int:
    """Kernels while the calls ran: what an operator started in processes of its own has a capture too."""
    if one.kernels is None or not calls:
        return -1
    start = one.kernels.frame["start_ns"]
    return int(((start >= calls[0].start_ns) & (start <= calls[-1].end_ns)).sum())


def _export(collector: Collector, session: Session, folder: Path, timeout_s: float) -> None:
    words = collector.export(folder)
    if words is None:
        return
    command = Command(
        argv=words,
        cwd=session.folder,
        env=session.command.env,
        stdout=session.folder / "export.log",
        stderr=session.folder / "export.log",
        timeout_s=timeout_s,
    )
    process.run(command)
