"""Borders by rests of the device: before each call it was idle for as long as the worker slept.

A call begins and ends behind a synchronisation, so its kernels lie within its host window. The records tell Unix time,
by the vendor's word and not to the microsecond, so windows may be off by less than half of the shortest rest. How far
is seen from the first kernels of the calls around: none starts before its window. What ends too late for that, or lies
across a border, ends the attempt. Where the records do not tell Unix time, the offset is looked for; where two fit,
there is none.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from msprun.account.schedule import Schedule, Split
from msprun.account.stream import Flags, Ints, Stream
from msprun.model.call import Refusal

# A rest below this cannot be told from the pace of launches, nor from the error of two clocks.
_REST_MIN_NS = 20_000
# Shares of the shortest rest: what cuts the stream, and how far the clocks may be apart.
_CUT, _SLACK = 0.8, 0.4
# Times are rounded, each by itself.
_GRAIN_NS = 2_000
# Calls on each side that tell the offset between the clocks; few, since clocks drift.
_AROUND = 8
# An offset that is looked for needs rests that stand out, and more calls than a prologue resembles by chance.
_OFFSET_REST_MIN_NS, _OFFSET_CALLS_MIN = 200_000, 8
_PROBES = 16
_TRIES = 200
# Further apart than any session is long, two times are of different clocks.
_SESSION_NS = 24 * 3600 * 10**9
_NOTHING = "no_kernels_in_windows"
_NEVER = np.iinfo(np.int64).max // 4


class Windows(Struct, frozen=True, kw_only=True):
    """Host times of each call, and the shortest rest between two of them, ns. `owner` is that of the schedule."""

    begin: Ints
    end: Ints
    rest: int
    owner: Ints

    @property
    def is_side(self) -> Flags:
        return self.owner >= 0

    @property
    def slack(self) -> int:
        return int(_SLACK * self.rest)


def split(stream: Stream, schedule: Schedule, begin: Ints, end: Ints) -> Split | Refusal:
    """The windows `begin` to `end` (host, ns) on the device's clock, where rests stand between them in the stream."""
    rests = begin[1:] - end[:-1]
    rest = int(rests.min()) if len(rests) else 2 * _OFFSET_REST_MIN_NS
    if rest < _REST_MIN_NS or (end < begin).any():
        return _refuse("no_rests", rest_us=rest / 1000)
    windows = Windows(begin=begin, end=end, rest=rest, owner=schedule.owner)
    kernels = stream.where(stream.is_kernel)
    if not len(kernels.start):
        return Split(begin=begin, end=end)
    found = _fit(kernels, windows, 0)
    if isinstance(found, Split) and not _is_silent(kernels, windows, found):
        return found
    shifts = _shifts(kernels, windows)
    if isinstance(found, Split):
        return _refuse("clock_doubtful") if shifts or _is_torn(kernels, windows, found) else found
    if not shifts and found.code == _NOTHING and abs(int(begin[0] - kernels.start[0])) < _SESSION_NS:
        return Split(begin=begin, end=end)
    if len(shifts) == 1 and rest >= _OFFSET_REST_MIN_NS and windows.is_side.sum() >= _OFFSET_CALLS_MIN:
        return _fit(kernels, windows, shifts[0])
    return _refuse("offsets_ambiguous") if len(shifts) > 1 else found


def _fit(kernels: Stream, windows: Windows, shift: int) -> Split | Refusal:
    """The windows, moved by `shift` and to where the first kernels are, if all kernels lie inside or apart."""
    begin, end = windows.begin + shift - windows.slack, windows.end + shift
    pieces = _pieces(kernels, windows.rest)
    call = Split(begin=begin, end=end + windows.slack).call_of(pieces)
    if not (call >= 0).any():
        amid = (pieces > begin[0]) & (pieces < end[-1])
        return _refuse("kernels_between_windows", pieces=int(amid.sum())) if amid.any() else _refuse(_NOTHING)
    end = end + np.minimum(_offset(windows.begin + shift, pieces, call), windows.slack)
    found = Split(begin=begin, end=end)
    mine = found.call_of(kernels.start)
    late = (mine >= 0) & (kernels.end > end[mine] + _GRAIN_NS)
    if late.any():
        return _refuse("kernels_leave_windows", kernels=int(late.sum()))
    ahead = np.append(begin, _NEVER)[np.searchsorted(begin, kernels.start, side="right")]
    across = (mine < 0) & (kernels.end > ahead)
    return _refuse("kernels_across_windows", kernels=int(across.sum())) if across.any() else found


def _pieces(kernels: Stream, rest: int) -> Ints:
    """Where the device begins to work behind a rest, all of its streams together."""
    rested = kernels.start[1:] - np.maximum.accumulate(kernels.end)[:-1] >= _CUT * rest
    return np.append(kernels.start[:1], kernels.start[1:][rested])


def _offset(begin: Ints, pieces: Ints, call: Ints) -> Ints:
    """For each call the most that the device's clock can be ahead, seen from the calls around; 0 where none tells."""
    inside = call >= 0
    most = np.full(len(begin), _NEVER)
    np.minimum.at(most, call[inside], pieces[inside] - begin[call[inside]])
    padded = np.pad(most, _AROUND, constant_values=_NEVER)
    lowest = np.lib.stride_tricks.sliding_window_view(padded, 2 * _AROUND + 1).min(axis=1)
    return np.where(lowest == _NEVER, 0, lowest)


def _is_silent(kernels: Stream, windows: Windows, found: Split) -> bool:
    """Is there a call of an operator without a kernel?"""
    return bool((_counts(found.call_of(kernels.start), windows)[windows.is_side] == 0).any())


def _counts(call: Ints, windows: Windows) -> Ints:
    """Kernels of each call; `call` is that of each kernel, -1 for none."""
    return np.bincount(call[call >= 0], minlength=len(windows.begin))


def _is_torn(kernels: Stream, windows: Windows, found: Split) -> bool:
    """Has a side empty calls beside filled ones, while kernels are to spare for them elsewhere?

    Rows that are lost leave none to spare; a clock that jumps moves them into other calls, or between two.
    """
    call = found.call_of(kernels.start)
    counts = _counts(call, windows)
    is_astray = (call < 0) & (kernels.start > windows.begin[0])
    for owner in range(windows.owner.max(initial=-1) + 1):
        mine = counts[windows.owner == owner]
        filled = mine[mine > 0]
        if 0 < len(filled) < len(mine) and (is_astray.any() or (filled > np.median(filled)).any()):
            return True
    return False


def _shifts(kernels: Stream, windows: Windows) -> list[int]:
    """Offsets other than 0 under which every call of an operator has its kernels; of more than two, the first two.

    Each piece is tried as the one of the call with the shortest window, which leaves the offset least room.
    """
    sides = np.flatnonzero(windows.is_side)
    if not len(sides):
        return []
    slack, pieces = windows.slack, _pieces(kernels, windows.rest)
    shortest = sides[np.argmin((windows.end - windows.begin)[sides])]
    shifts = pieces - windows.begin[shortest]
    shifts = shifts[np.abs(shifts) > slack]
    for probe in sides[np.linspace(0, len(sides) - 1, min(_PROBES, len(sides))).astype(int)]:
        place = np.searchsorted(pieces, windows.begin[probe] + shifts - slack)
        shifts = shifts[np.append(pieces, _NEVER)[place] <= windows.end[probe] + shifts + slack]
    fitting: list[int] = []
    for shift in shifts[:_TRIES].tolist():
        found = _fit(kernels, windows, shift)
        if isinstance(found, Split) and not _is_silent(kernels, windows, found):
            fitting.append(shift)
        if len(fitting) == 2:
            break
    # What was not tried may fit as well.
    return [*fitting, *map(int, shifts[_TRIES : _TRIES + 2])]


def _refuse(code: str, **figures: object) -> Refusal:
    return Refusal(method="gaps", code=code, figures=figures)
