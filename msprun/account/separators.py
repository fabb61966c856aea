"""Borders by a kernel of msprun's own that runs before every call and after the last one."""

from __future__ import annotations

import numpy as np

from msprun.account.schedule import Schedule, Split
from msprun.account.stream import Stream
from msprun.model.call import Identity, Refusal


def split(stream: Stream, schedule: Schedule, separator: Identity | None) -> Split | Refusal:
    """What starts between two separators, where there is one for every border and nothing runs across them."""
    if separator is None:
        return _refuse("no_separators")
    found = stream.matches(separator)
    if found is None:
        return _refuse("separators_not_recorded")
    places = np.flatnonzero(found & stream.is_kernel)
    if len(places) != len(schedule) + 1:
        return _refuse("separators_miscounted", found=len(places), expected=len(schedule) + 1)
    begin, end = stream.end[places[:-1]], stream.start[places[1:]] - 1
    kernels = stream.where(stream.is_kernel & ~found)
    behind = np.searchsorted(stream.start[places], kernels.start, side="right")
    across = kernels.end > np.append(stream.start[places], np.iinfo(np.int64).max)[behind]
    inside = kernels.start < np.append(np.iinfo(np.int64).min, stream.end[places])[behind]
    if (across | inside).any():
        return _refuse("kernels_across_separators", kernels=int((across | inside).sum()))
    return Split(begin=begin, end=end)


def _refuse(code: str, **figures: object) -> Refusal:
    return Refusal(method="separators", code=code, figures=figures)
