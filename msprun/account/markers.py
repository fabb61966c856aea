"""Borders by device markers: each call ran inside a range of its own, named by its number."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from msgspec import Struct

from msprun.account.schedule import Schedule, Split
from msprun.account.stream import Ints, Stream
from msprun.model.call import Circumstances, Refusal

DOMAIN = "msprun"
# Where torch_npu puts ranges of old versions, which know no domain.
_UNNAMED = "default"
_PROBE = "mr|probe"
_MESSAGE = re.compile(r"mr\|(\d{1,15})")
# Kernel and marker times are rounded to the profiler's grain, each by itself.
_GRAIN_NS = 1000
_NEVER = np.iinfo(np.int64).max // 2
_NAMED = 8


class Marker(Struct, frozen=True, kw_only=True):
    """A range of ours: its message, and the call that this names (None: none), with times in ns.

    `device` is None where the device's side is missing.
    """

    message: str
    number: int | None
    host: tuple[int, int]
    device: tuple[int, int] | None

    @property
    def is_backwards(self) -> bool:
        return any(times is not None and times[1] < times[0] for times in (self.host, self.device))


class Ranges(Struct, frozen=True, kw_only=True):
    """The marker of each call of a schedule: host times, and device times or None where one of them is missing."""

    begin: Ints
    end: Ints
    device: Split | None


def markers(frame: pd.DataFrame | None) -> tuple[Marker, ...]:
    """Markers of our domain in a MARKERS frame; of none and of the default one those with a message of ours."""
    return () if frame is None else tuple(_ours(frame))


def ranges(found: Sequence[Marker], schedule: Schedule, facts: Circumstances) -> Ranges | Refusal:
    """Our markers in the order of the schedule, where every call of an operator has exactly one.

    msprun's own (boosts, flushes) may lack theirs, which are of no use; those of abandoned calls are passed over.
    """
    known = {call.number for call in schedule.calls}
    awaited = known.union(facts.abandoned)
    last = _NEVER if facts.unanswered_from is None else facts.unanswered_from
    strange = [marker for marker in found if marker.number not in awaited]
    if unknown := [marker.message for marker in strange if marker.number is None or marker.number < last]:
        return _refuse("unknown_markers", markers=len(unknown), messages=unknown[:_NAMED])
    placed = {marker.number: marker for marker in found if marker.number in known}
    needed = [call.number for call in schedule.calls if call.side is not None]
    missing = [number for number in needed if number not in placed]
    if len(missing) == len(needed):
        return _refuse("no_markers")
    if missing:
        return _refuse("markers_missing", markers=len(missing), numbers=missing[:_NAMED])
    counted = Counter(marker.number for marker in found if marker.number in known)
    if twice := [number for number, times in counted.items() if times > 1]:
        return _refuse("markers_twice", markers=len(twice), numbers=twice[:_NAMED])
    if wrong := [number for number, marker in placed.items() if marker.is_backwards]:
        return _refuse("markers_backwards", markers=len(wrong), numbers=wrong[:_NAMED])
    return _in_order([placed.get(call.number) for call in schedule.calls], schedule)


def split(stream: Stream, found: Ranges) -> Split | Refusal:
    """The markers' device times, if they are in order, apart, and no kernel runs across one of their ends."""
    device = found.device
    if device is None:
        return _refuse("no_device_times")
    there = np.flatnonzero(device.begin <= device.end)
    begin, end = device.begin[there], device.end[there]
    if (begin[1:] < end[:-1]).any():
        return _refuse("markers_overlap", markers=int((begin[1:] < end[:-1]).sum()))
    kernels = stream.where(stream.is_kernel)
    borders = np.sort(np.concatenate([begin, end]))
    ahead = np.searchsorted(borders, kernels.start, side="right")
    crossing = kernels.end > np.append(borders, _NEVER)[ahead] + _GRAIN_NS
    if crossing.any():
        return _refuse("kernels_cross_markers", kernels=int(crossing.sum()))
    return device


def _ours(frame: pd.DataFrame) -> Iterator[Marker]:
    names = ("message", "domain", "start_ns", "end_ns", "device_start_ns", "device_end_ns")
    for message, domain, *times in zip(*(frame[name].tolist() for name in names), strict=True):
        named = _MESSAGE.fullmatch(str(message))
        if str(message) != _PROBE and (domain == DOMAIN or (named and (pd.isna(domain) or domain == _UNNAMED))):
            begin, end, *device = times
            yield Marker(
                message=str(message), number=int(named[1]) if named else None, host=(begin, end),
                device=None if any(map(pd.isna, device)) else (device[0], device[1]),
            )  # fmt: skip


def _in_order(placed: Sequence[Marker | None], schedule: Schedule) -> Ranges:
    """A call of msprun's own without a marker gets its host times, and none of the device's time."""
    calls = schedule.calls
    host = [(call.start_ns, call.end_ns) if one is None else one.host for one, call in zip(placed, calls, strict=True)]
    device = [(0, -1) if one is None else one.device for one in placed]
    times = np.array([pair for pair in device if pair is not None], dtype=np.int64)
    return Ranges(
        begin=np.array([begin for begin, _ in host], dtype=np.int64),
        end=np.array([end for _, end in host], dtype=np.int64),
        device=Split(begin=times[:, 0], end=times[:, 1]) if len(times) == len(calls) else None,
    )


def _refuse(code: str, **figures: object) -> Refusal:
    return Refusal(method="markers", code=code, figures=figures)
