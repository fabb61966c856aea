"""Which sessions serve which cases, sides and visits, where timing has sessions of its own."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from msgspec import Struct

from msprun.model.operator import Side

CASES = 16  # of a session: what an export that fails takes with it stays bearable


class Batch(Struct, frozen=True, kw_only=True):
    """One session's work. `visits` None means all visits of the schedule; else the one that its samples belong to."""

    cases: tuple[int, ...]
    sides: tuple[Side, ...]
    visit: int | None = None


def batches(cases: Sequence[int], sides: tuple[Side, ...], isolation: str, collector: str | None) -> tuple[Batch, ...]:
    """The sessions in their order; none where one worker checks and times.

    `shared`: up to 16 cases each, all sides. `side`: one side of up to 16 cases; `case`: one side of one case. Whole
    sessions then alternate as A B B A, so each side is seen by two processes, and each pair is a visit.
    """
    if isolation == "shared":
        return tuple(Batch(cases=part, sides=sides) for part in _parts(cases)) if collector else ()
    parts = _parts(cases) if isolation == "side" else [(case,) for case in cases]
    return tuple(
        Batch(cases=part, sides=(side,), visit=visit)
        for part in parts
        for visit, order in enumerate((sides, sides[::-1]))
        for side in order
    )


def _parts(cases: Sequence[int]) -> list[tuple[int, ...]]:
    """As few parts of at most 16 as it takes, about equally long."""
    count = ceil(len(cases) / CASES) or 1
    size = ceil(len(cases) / count) or 1
    return [tuple(cases[at : at + size]) for at in range(0, len(cases), size)]
