"""Borders by rests of the device: between two calls it was idle at least as long as the host says.

A call begins and ends behind a synchronisation, so its kernels lie within its host window, and the device rests from
one window to the next. The records tell Unix time, by the vendor's word and not to the microsecond: windows are widened
by less than half of the shortest rest, and what lies in them must agree on one offset between the clocks. Where the
records do not tell Unix time, the offset is looked for; where two fit, there is none.
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
# Neighbours that need another offset between the clocks than each other disagree; times are rounded.
_AGREE_NS = 2_000
# A rest with room for work that is not on the schedule: it lies apart from the calls on both sides.
_ROOMY = 1.5
_NEIGHBOURS = 16
# An offset that is looked for needs rests that stand out, and more calls than a prologue resembles by chance.
_OFFSET_REST_MIN_NS, _OFFSET_CALLS_MIN = 200_000, 8
_PROBES = 16
_TRIES = 200
# Further apart than any session is long, two times are of different clocks.
_SESSION_NS = 24 * 3600 * 10**9
_NOTHING = "no_kernels_in_windows"
_NEVER = np.iinfo(np.int64).max // 4


class Windows(Struct, frozen=True, kw_only=True):
    """Host times of each call, and the shortest rest between two of them, ns."""

    begin: Ints
    end: Ints
    rest: int
    is_side: Flags


class Pieces(Struct, frozen=True, kw_only=True):
    """Parts of the stream of kernels between rests."""

    begin: Ints
    end: Ints


def split(stream: Stream, schedule: Schedule, begin: Ints, end: Ints) -> Split | Refusal:
    """The windows `begin` to `end` (host, ns) on the device's clock, where every rest is found in the stream."""
    rests = begin[1:] - end[:-1]
    rest = int(rests.min()) if len(rests) else 2 * _OFFSET_REST_MIN_NS
    if rest < _REST_MIN_NS or (end < begin).any():
        return _refuse("no_rests", rest_us=rest / 1000)
    windows = Windows(begin=begin, end=end, rest=rest, is_side=schedule.is_side)
    pieces = _pieces(stream, rest)
    if not len(pieces.begin):
        return _widened(windows, 0)
    said = _trouble(pieces, windows, 0)
    if said is None and not _silent(pieces, windows, 0):
        return _widened(windows, 0)
    shifts = _shifts(pieces, windows)
    if said is None:
        return _refuse("clock_doubtful") if shifts else _widened(windows, 0)
    if not shifts and said.code == _NOTHING and abs(int(begin[0] - pieces.begin[0])) < _SESSION_NS:
        return _widened(windows, 0)
    if len(shifts) == 1 and rest >= _OFFSET_REST_MIN_NS and windows.is_side.sum() >= _OFFSET_CALLS_MIN:
        return _widened(windows, shifts[0])
    return _refuse("offsets_ambiguous") if len(shifts) > 1 else said


def _pieces(stream: Stream, rest: int) -> Pieces:
    """Kernels by rests of the device, over all of its streams."""
    kernels = stream.where(stream.is_kernel)
    if not len(kernels.start):
        return Pieces(begin=kernels.start, end=kernels.start)
    busy = np.maximum.accumulate(kernels.end)
    cuts = np.flatnonzero(kernels.start[1:] - busy[:-1] >= _CUT * rest) + 1
    return Pieces(begin=kernels.start[np.append(0, cuts)], end=busy[np.append(cuts - 1, len(busy) - 1)])


def _widened(windows: Windows, shift: int) -> Split:
    slack = int(_SLACK * windows.rest)
    return Split(begin=windows.begin + shift - slack, end=windows.end + shift + slack)


def _silent(pieces: Pieces, windows: Windows, shift: int) -> bool:
    """Is there a call of an operator without a piece?"""
    call = _widened(windows, shift).call_of(pieces.begin)
    return bool((np.bincount(call[call >= 0], minlength=len(windows.begin))[windows.is_side] == 0).any())


def _trouble(pieces: Pieces, windows: Windows, shift: int) -> Refusal | None:
    """Why the pieces do not lie in the windows, moved by `shift`; None where they do."""
    moved = _widened(windows, shift)
    call = moved.call_of(pieces.begin)
    inside = call >= 0
    behind = np.searchsorted(moved.begin, pieces.begin, side="right")
    limit = np.where(inside, moved.end[call], np.append(moved.begin, _NEVER)[behind])
    if (pieces.end > limit).any():
        return _refuse("kernels_across_windows", pieces=int((pieces.end > limit).sum()))
    rests = np.concatenate([[_NEVER], windows.begin[1:] - windows.end[:-1], [_NEVER]])
    if (tight := ~inside & (rests[behind] < _ROOMY * windows.rest)).any():
        return _refuse("kernels_between_windows", pieces=int(tight.sum()))
    if not inside.any():
        return _refuse(_NOTHING)
    apart = _disagreement(pieces, windows, call)
    return None if apart <= _AGREE_NS else _refuse("clocks_disagree", by_us=apart / 1000)


def _disagreement(pieces: Pieces, windows: Windows, call: Ints) -> int:
    """How far neighbouring calls are from one offset between the clocks, at worst, ns; at most 0 where there is one.

    A piece allows the offsets that put it into its window. Only neighbours are held against each other, since two
    clocks drift.
    """
    inside = call >= 0
    least = (pieces.end[inside] - windows.end[call[inside]]).astype(np.int64)
    most = (pieces.begin[inside] - windows.begin[call[inside]]).astype(np.int64)
    width = min(_NEIGHBOURS, len(least))
    highest = np.lib.stride_tricks.sliding_window_view(least, width).max(axis=1)
    lowest = np.lib.stride_tricks.sliding_window_view(most, width).min(axis=1)
    return int((highest - lowest).max())


def _shifts(pieces: Pieces, windows: Windows) -> list[int]:
    """Offsets other than 0 under which every call of an operator has its kernels; of more than two, the first two.

    Each piece is tried as the one of the call with the shortest window, which leaves the offset least room.
    """
    sides = np.flatnonzero(windows.is_side)
    if not len(sides):
        return []
    slack = int(_SLACK * windows.rest)
    shortest = sides[np.argmin((windows.end - windows.begin)[sides])]
    shifts = pieces.begin - windows.begin[shortest]
    shifts = shifts[np.abs(shifts) > slack]
    for probe in sides[np.linspace(0, len(sides) - 1, min(_PROBES, len(sides))).astype(int)]:
        place = np.searchsorted(pieces.begin, windows.begin[probe] + shifts - slack)
        shifts = shifts[np.append(pieces.begin, _NEVER)[place] <= windows.end[probe] + shifts + slack]
    found: list[int] = []
    for shift in shifts[:_TRIES].tolist():
        if _trouble(pieces, windows, shift) is None and not _silent(pieces, windows, shift):
            found.append(shift)
        if len(found) == 2:
            break
    # What was not tried may fit as well.
    return [*found, *map(int, shifts[_TRIES : _TRIES + 2])]


def _refuse(code: str, **figures: object) -> Refusal:
    return Refusal(method="gaps", code=code, figures=figures)
