"""Many cases at once: of twenty honest verdicts at 5 % one is wrong, so what is said of all of them is held to more."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from msprun.model.measurement import Paired
from msprun.model.result import CaseRow
from msprun.stat.aggregate import usable_old_pair, usable_pair


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
    """The rows with `paired.p_family` over all of them that have a speed-up and a p-value.

    `paired_against` is a family of its own, for it answers a question of its own.
    """
    first, second = _adjusted(list(map(usable_pair, rows))), _adjusted(list(map(usable_old_pair, rows)))
    return tuple(
        replace(row, paired=pair or row.paired, paired_against=old or row.paired_against)
        for row, pair, old in zip(rows, first, second, strict=True)
    )


def _adjusted(pairs: Sequence[Paired | None]) -> list[Paired | None]:
    """Those of the pairs that have a p-value, with `p_family`; None in the other places."""
    known = [(place, pair, pair.p) for place, pair in enumerate(pairs) if pair and pair.p is not None]
    found: list[Paired | None] = [None] * len(pairs)
    for (place, pair, _), adjusted in zip(known, holm([p for _, _, p in known]), strict=True):
        found[place] = replace(pair, p_family=adjusted)
    return found
