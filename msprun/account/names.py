"""Borders by names alone: the one way to cut the end of a stream into calls that repeat themselves.

For sessions of one case whose calls are all the same on each side. Two ways that fit are none: there is no vote. What
names cannot show is a lost call whose place is taken by one that is not on the schedule.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from msprun.account.schedule import Schedule, Split
from msprun.account.stream import Flags, Ints, Stream
from msprun.model.call import Circumstances, Refusal

# Kernels of one call, at most. Longer calls of like kernels would also fit shorter ones; the prologue gives them away.
_LONGEST = 256
_TRIES = 400


class Pattern(Struct, frozen=True, kw_only=True):
    """What ran (codes, by start), and to which of one or two sides each call belongs, in order."""

    codes: Ints
    side: Ints

    def ends(self, lengths: Ints) -> Ints:
        """Where each call ends if calls of a side have so many kernels, counted from the end of the stream."""
        return len(self.codes) - np.append(np.cumsum(lengths[self.side][::-1])[::-1][1:], 0)


def split(stream: Stream, schedule: Schedule, facts: Circumstances) -> Split | Refusal:
    """The calls at the end of the stream, as many as ran; what precedes them may belong to the first, which then has
    no place.
    """
    if len({case for case, _ in schedule.classes}) != 1 or len(schedule.classes) > 2:
        return _refuse("several_cases")
    ours = _own(stream, schedule, facts)
    if ours is None:
        return _refuse("own_kernels_not_recorded")
    kernels = stream.where(stream.is_kernel & ~ours)
    if not len(kernels.start):
        return _refuse("no_kernels")
    pattern = Pattern(codes=kernels.code, side=schedule.owner[schedule.is_side])
    found = _lengths(pattern)
    return found if isinstance(found, Refusal) else _cut(kernels, schedule, pattern, found)


def _own(stream: Stream, schedule: Schedule, facts: Circumstances) -> Flags | None:
    """Rows of msprun's own kernels; None where it ran some that are not known by identity."""
    rows = {own.purpose: stream.matches(own.identity) for own in facts.own}
    ours = np.zeros(len(stream.start), dtype=bool)
    for purpose in {call.purpose for call in schedule.calls if call.side is None}:
        found = rows.get(purpose)
        if found is None:
            return None
        ours |= found
    return ours


def _cut(kernels: Stream, schedule: Schedule, pattern: Pattern, lengths: Ints) -> Split:
    """From the start of a call's first kernel to that of its last."""
    calls, ends = np.flatnonzero(schedule.is_side), pattern.ends(lengths)
    begins = ends - lengths[pattern.side]
    filled = begins < ends
    begin, end = np.zeros(len(schedule), np.int64), np.full(len(schedule), -1, np.int64)
    begin[calls[filled]], end[calls[filled]] = kernels.start[begins[filled]], kernels.start[ends[filled] - 1]
    if begins[0] == 0:
        return Split(begin=begin, end=end)
    begin[calls[0]], end[calls[0]] = 0, -1
    return Split(begin=begin, end=end, unplaced=(int(calls[0]),))


def _lengths(pattern: Pattern) -> Ints | Refusal:
    """Kernels of a call of each side, the only ones under which its calls are all alike."""
    candidates = _candidates(pattern)
    fitting: list[Ints] = []
    for lengths in candidates[:_TRIES]:
        fitting += [lengths] if len(fitting) < 2 and _fits(pattern, lengths) else []
    # What was not tried may fit as well.
    if len(fitting) > 1 or len(candidates) > _TRIES:
        return _refuse("periods_ambiguous")
    if not fitting:
        return _refuse("no_period")
    return _refuse("prologue_repeats") if _repeats(pattern, fitting[0]) else fitting[0]


def _candidates(pattern: Pattern) -> Ints:
    """Lengths, a row for each way, under which calls of a side end with the same kernel. 0 is a silent side."""
    counts = np.bincount(pattern.side)
    sizes = [np.arange(min(_LONGEST, len(pattern.codes) // count) + 1) for count in counts]
    ways = np.stack(np.meshgrid(*sizes, indexing="ij"), axis=-1).reshape(-1, len(counts))
    ways = ways[(ways.sum(axis=1) > 0) & (ways @ counts <= len(pattern.codes))]
    ends = np.full(len(ways), len(pattern.codes))
    last = np.full(ways.shape, -1)
    for side in pattern.side[::-1]:
        mine = ways[:, side]
        code = np.where(mine > 0, pattern.codes[ends - 1], -1)
        alike = (last[:, side] == -1) | (mine == 0) | (code == last[:, side])
        last[:, side] = code
        ways, ends, last = ways[alike], (ends - mine)[alike], last[alike]
    return np.asarray(ways)


def _fits(pattern: Pattern, lengths: Ints) -> bool:
    """Do all calls of each side run the same kernels in the same order?"""
    ends = pattern.ends(lengths)
    for side, length in enumerate(lengths):
        rows = pattern.codes[ends[pattern.side == side][:, None] - np.arange(length, 0, -1)]
        if length and (rows != rows[-1]).any():
            return False
    return True


def _repeats(pattern: Pattern, lengths: Ints) -> bool:
    """Does what precedes the calls go on as they do? Then it may be calls as well, or a torn one."""
    ends = pattern.ends(lengths)
    before = int(ends[0] - lengths[pattern.side[0]])
    if not before:
        return False
    return any(
        length and pattern.codes[before - 1] == pattern.codes[ends[pattern.side == side][-1] - 1]
        for side, length in enumerate(lengths)
    )


def _refuse(code: str, **figures: object) -> Refusal:
    return Refusal(method="names", code=code, figures=figures)
