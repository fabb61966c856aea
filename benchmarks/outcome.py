"""What a benchmark run found: rows of figures and verdicts, what failed, every second of it, and the machine."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence

from msgspec import Struct

from benchmarks.machine import Machine
from benchmarks.pairs import difference, ratio
from benchmarks.targets import Target, verdict


class Row(Struct, frozen=True, kw_only=True):
    """A target and its figure; None where something did not run, and `verdict` says what."""

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
    """`seconds` has every round of every contender."""

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


def row(target: Target, seconds: Mapping[str, Sequence[float]], absent: Mapping[str, str]) -> Row:
    """The figure of a target; `absent` says why a contender has no seconds."""
    for name in (target.mine, target.theirs):
        if name not in seconds:
            return Row(target=target, verdict=absent.get(name, "was not run"))
    mine, theirs = seconds[target.mine], seconds[target.theirs]
    figure = (ratio if target.measure == "ratio" else difference)(mine, theirs)
    return Row(
        target=target,
        mine_s=statistics.median(mine),
        theirs_s=statistics.median(theirs),
        value=figure.value,
        of_medians=figure.of_medians,
        of_fastest=figure.of_fastest,
        low=figure.low,
        high=figure.high,
        verdict=verdict(figure, target),
    )
