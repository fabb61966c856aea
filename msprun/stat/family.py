"""Many cases at once: of twenty honest verdicts at 5 % one is wrong, so what is said of all of them is held to more."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from msprun.model.result import CaseRow
from msprun.stat.aggregate import usable_speedup


def holm(values: Sequence[float]) -> list[float]:
    """Adjusted p-values in the order of `values` (Holm 1979).

    Calling everything at most 0.05 different is wrong anywhere among them with a chance of at most 5 %, however the
    values depend on each other.
    """
    adjusted, least = [0.0] * len(values), 0.0
    for rank, index in enumerate(sorted(range(len(values)), key=values.__getitem__)):
        least = max(least, min(1.0, (len(values) - rank) * values[index]))
        adjusted[index] = least
    return adjusted


def with_family(rows: Sequence[CaseRow]) -> tuple[CaseRow, ...]:
    """The rows with `paired.p_family` over all of them that have a speed-up and a p-value."""
    places = [n for n, row in enumerate(rows) if usable_speedup(row) and row.paired and row.paired.p is not None]
    adjusted = holm([pair.p for n in places if (pair := rows[n].paired) is not None and pair.p is not None])
    known = dict(zip(places, adjusted, strict=True))
    return tuple(
        replace(row, paired=replace(row.paired, p_family=known[n])) if n in known and row.paired else row
        for n, row in enumerate(rows)
    )
