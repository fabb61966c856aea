"""Borders by a kernel of msprun's own that runs before every call and behind the last one of a request."""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from msprun.account.schedule import Schedule, Split
from msprun.account.stream import Flags, Ints, Stream
from msprun.model.call import Circumstances, Refusal


class Parted(Struct, frozen=True, kw_only=True):
    """The rows of a session: all, which of them are separators (None: cannot be told), and the others."""

    rows: Stream
    is_separator: Flags | None
    rest: Stream


def part(stream: Stream, schedule: Schedule, facts: Circumstances) -> Parted:
    """Take the separators out of a stream. Where they cannot be told from other kernels, they stay in it."""
    found = _known(stream, schedule, facts)
    return Parted(rows=stream, is_separator=found, rest=stream if found is None else stream.where(~found))


def _known(stream: Stream, schedule: Schedule, facts: Circumstances) -> Flags | None:
    """Which rows are separators, none where none ran; None where they cannot be told from other kernels."""
    if not facts.pauses:
        return np.zeros(len(stream.start), dtype=bool)
    found = None if facts.separator is None else stream.matches(facts.separator)
    # More than were launched: an operator runs the very same kernel. A request that never answered had some, too.
    most = len(_numbers(schedule, facts)) if facts.unanswered_from is None else len(stream.start)
    return None if found is None or found.sum() > most else found


def split(parted: Parted, schedule: Schedule, facts: Circumstances) -> Split | Refusal:
    """What starts between two separators, where there is one for every border and nothing runs across them."""
    if parted.is_separator is None:
        return _refuse("separators_unknown")
    stream, at, numbers = parted.rows, np.flatnonzero(parted.is_separator), _numbers(schedule, facts)
    if facts.unanswered_from is not None:
        at = at[: len(numbers)]
    if len(at) != len(numbers):
        return _refuse("separators_missing", found=len(at), expected=len(numbers))
    kernels = parted.rest.where(parted.rest.is_kernel)
    behind = np.searchsorted(stream.start[at], kernels.start, side="right")
    across = kernels.end > np.append(stream.start[at], np.iinfo(np.int64).max)[behind]
    inside = kernels.start < np.append(np.iinfo(np.int64).min, stream.end[at])[behind]
    if (across | inside).any():
        return _refuse("kernels_across_separators", kernels=int((across | inside).sum()))
    mine = np.searchsorted(numbers, schedule.number)
    return Split(begin=stream.end[at[mine]], end=stream.start[at[mine + 1]] - 1)


def _numbers(schedule: Schedule, facts: Circumstances) -> Ints:
    """Of all that has a separator before it: also calls that were begun and never told of."""
    return np.union1d(schedule.number, np.array([*facts.abandoned, *facts.pauses], dtype=np.int64))


def _refuse(code: str, **figures: object) -> Refusal:
    return Refusal(method="separators", code=code, figures=figures)
