"""The calls of a session as arrays: what must be found in the stream, and in which order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from msprun.account.stream import Flags, Ints
from msprun.model.call import DeviceCall, Purpose
from msprun.model.operator import Side

Class = tuple[int, Side]


class Schedule(Struct, frozen=True, kw_only=True):
    """Calls in the order in which they ran. `owner` is a place in `classes` (case, side), -1 for msprun's own."""

    calls: tuple[DeviceCall, ...]
    classes: tuple[Class, ...]
    number: Ints
    begin: Ints
    end: Ints
    owner: Ints
    purpose: npt.NDArray[np.str_]

    def __len__(self) -> int:
        return len(self.calls)

    @property
    def is_side(self) -> Flags:
        """Calls of an operator, not msprun's own."""
        return self.owner >= 0

    def of(self, purpose: Purpose) -> Flags:
        """Calls made for this purpose."""
        return np.asarray(self.purpose == purpose)


class Split(Struct, frozen=True, kw_only=True):
    """For each call of a schedule the device times within which its kernels start; `begin` behind `end` means none.

    `unplaced` are calls, as places in the schedule, of which it is not known what they ran.
    """

    begin: Ints
    end: Ints
    unplaced: tuple[int, ...] = ()

    def call_of(self, start: Ints) -> Ints:
        """The call that each start lies in, as its place in the schedule, -1 for none."""
        filled = np.flatnonzero(self.begin <= self.end)
        if not len(filled):
            return np.full(len(start), -1, dtype=np.int64)
        place = np.searchsorted(self.begin[filled], start, side="right") - 1
        call = filled[np.maximum(place, 0)]
        return np.where((place >= 0) & (start <= self.end[call]), call, -1).astype(np.int64)


def schedule(calls: Sequence[DeviceCall]) -> Schedule:
    """The schedule of these calls. Raises ValueError where a number comes twice."""
    if len({call.number for call in calls}) < len(calls):
        raise ValueError("a call's number comes twice")
    classes = tuple(dict.fromkeys((call.case, call.side) for call in calls if call.side is not None))
    places = {known: place for place, known in enumerate(classes)}
    owner = [-1 if call.side is None else places[call.case, call.side] for call in calls]
    return Schedule(
        calls=tuple(calls),
        classes=classes,
        number=np.array([call.number for call in calls], dtype=np.int64),
        begin=np.array([call.start_ns for call in calls], dtype=np.int64),
        end=np.array([call.end_ns for call in calls], dtype=np.int64),
        owner=np.array(owner, dtype=np.int64),
        purpose=np.array([call.purpose for call in calls], dtype=np.str_),
    )
