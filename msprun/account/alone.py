"""Borders in a session of one side of one case: all kernels between two host times, divided evenly."""

from __future__ import annotations

import numpy as np

from msprun.account.schedule import Schedule, Split
from msprun.account.stream import Stream
from msprun.model.call import Refusal

# The records' clock is the host's to within this; a rest before the first call tells it from what came before.
_SLACK_NS = 200_000
_REST_NS = 1_000_000


def split(stream: Stream, schedule: Schedule) -> Split | Refusal:
    """Equal parts of what ran from the first call to the last, if the parts run the same kernels each.

    Nothing may have run shortly before or after. Without any kernel all calls are empty.
    """
    if len(schedule.classes) != 1 or not schedule.is_side.all():
        return _refuse("not_alone")
    kernels = stream.where(stream.is_kernel)
    if not len(kernels.start):
        return Split(begin=schedule.begin, end=schedule.end)
    first, last = int(schedule.begin[0]) - _SLACK_NS, int(schedule.end[-1]) + _SLACK_NS
    inside = (kernels.start >= first) & (kernels.end <= last)
    near = ~inside & (kernels.end > first - _REST_NS) & (kernels.start < last + _REST_NS)
    mine = kernels.where(inside)
    calls = len(schedule)
    if near.any() or not len(mine.start):
        return _refuse("ends_unclear", kernels=int(near.sum()))
    if len(mine.start) % calls:
        return _refuse("not_divisible", kernels=len(mine.start), calls=calls)
    parts = mine.code.reshape(calls, -1)
    if (np.sort(parts, axis=1) != np.sort(parts[0])).any():
        return _refuse("parts_differ")
    starts = mine.start.reshape(calls, -1)
    return Split(begin=starts[:, 0], end=starts[:, -1])


def _refuse(code: str, **figures: object) -> Refusal:
    return Refusal(method="alone", code=code, figures=figures)
