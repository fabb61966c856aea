"""Which sessions serve which cases, sides and visits, where timing has sessions of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import ceil
from types import MappingProxyType

from msgspec import Struct

from msprun.model.operator import Side

CASES = 16  # of a session: what an export that fails takes with it stays bearable
# CANN's manuals ask for collections below five minutes, and an export takes longer with every row.
SESSION_S = 240.0
SESSION_ROWS = 200_000


class Cost(Struct, frozen=True, kw_only=True):
    """What a case is expected to take of a session: seconds, and rows of the profiler's tables."""

    seconds: float
    rows: int


class Batch(Struct, frozen=True, kw_only=True):
    """One session's work. `visits` None means all visits of the schedule; else the one that its samples belong to."""

    cases: tuple[int, ...]
    sides: tuple[Side, ...]
    visit: int | None = None


_NOTHING = Cost(seconds=0.0, rows=0)


def batches(
    cases: Sequence[int],
    sides: tuple[Side, ...],
    isolation: str,
    collector: str | None,
    costs: Mapping[int, Cost] = MappingProxyType({}),
) -> tuple[Batch, ...]:
    """The sessions in their order; none where one worker checks and times.

    `costs` are those of the cases that are known: where they sum up to more than a session may take, it is parted.

    `shared`: up to 16 cases each, all sides. `side`: one side of up to 16 cases; `case`: one side of one case. Whole
    sessions then alternate as A B B A, so each side is seen by two processes, and each pair is a visit.
    """
    if isolation == "shared":
        return tuple(Batch(cases=part, sides=sides) for part in _parts(cases, costs)) if collector else ()
    parts = _parts(cases, costs) if isolation == "side" else [(case,) for case in cases]
    return tuple(
        Batch(cases=part, sides=(side,), visit=visit)
        for part in parts
        for visit, order in enumerate((sides, sides[::-1]))
        for side in order
    )


def _parts(cases: Sequence[int], costs: Mapping[int, Cost]) -> list[tuple[int, ...]]:
    """As few parts of at most 16 as it takes, about equally long, parted further where they would take too much."""
    count = ceil(len(cases) / CASES) or 1
    size = ceil(len(cases) / count) or 1
    equal = [tuple(cases[at : at + size]) for at in range(0, len(cases), size)]
    return [part for one in equal for part in _affordable(one, costs)]


def _affordable(cases: Sequence[int], costs: Mapping[int, Cost]) -> Iterator[tuple[int, ...]]:
    """The same cases in parts within a session's limits; a case beyond them is a part by itself."""
    part: list[int] = []
    seconds, rows = 0.0, 0
    for case in cases:
        cost = costs.get(case, _NOTHING)
        if part and (seconds + cost.seconds > SESSION_S or rows + cost.rows > SESSION_ROWS):
            yield tuple(part)
            part, seconds, rows = [], 0.0, 0
        part.append(case)
        seconds, rows = seconds + cost.seconds, rows + cost.rows
    if part:
        yield tuple(part)
