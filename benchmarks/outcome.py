"""What a benchmark run found: rows of figures and verdicts, what failed, every second of it, and the machine."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence

from msgspec import Struct

from benchmarks.machine import Machine
from benchmarks.pairs import Figure, count, difference, ratio
from benchmarks.targets import Target, verdict


class Row(Struct, frozen=True, kw_only=True):
    """A target and its figure; None where something did not run, and `verdict` says what. A count has no seconds."""

    target: Target
    mine_s: float | None = None
    theirs_s: float | None = None
    value: float | None = None
    of_medians: float | None = None
    of_fastest: float | None = None
    low: float | None = None
    high: float | None = None
    verdict: str


class Outcome(Struct, frozen=True, kw_only=True):
    """`seconds` has every round of every contender, `counts` what was counted in them."""

    version: int = 1
    began: str
    took_s: float
    is_quick: bool
    machine: Machine
    load_before: tuple[float, ...]
    load_after: tuple[float, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...]
    failures: tuple[str, ...]
    seconds: dict[str, tuple[float, ...]]
    counts: dict[str, tuple[float, ...]] = {}


def row(target: Target, known: Mapping[str, Sequence[float]], absent: Mapping[str, str]) -> Row:
    """The figure of a target; `known` has seconds and counts, `absent` says why a contender has none."""
    for name in filter(None, (target.mine, target.theirs)):
        if name not in known:
            return Row(target=target, verdict=absent.get(name, "was not run"))
    mine, theirs = known[target.mine], None if target.theirs is None else known[target.theirs]
    if theirs is None:
        return _row(target, count(mine))
    figure = (ratio if target.measure == "ratio" else difference)(mine, theirs)
    return _row(target, figure, statistics.median(mine), statistics.median(theirs))


def _row(target: Target, figure: Figure, mine_s: float | None = None, theirs_s: float | None = None) -> Row:
    return Row(
        target=target,
        mine_s=mine_s,
        theirs_s=theirs_s,
        value=figure.value,
        of_medians=figure.of_medians,
        of_fastest=figure.of_fastest,
        low=figure.low,
        high=figure.high,
        verdict=verdict(figure, target),
    )
