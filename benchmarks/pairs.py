"""Timing in turn (A B C A B C ...) and what is made of it: ratios or differences and their spread."""

from __future__ import annotations

import operator
import statistics
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

Timed = Callable[[int], float]  # does its work in the round of this number and returns seconds
Note = Callable[[str], None]


class Figure(Struct, frozen=True, kw_only=True):
    """One contender against another, in three ways; `rounds` are those of each round.

    `value` is the median of the rounds: neighbours ran moments apart, so a load that comes and goes is on both.
    `of_medians` and `of_fastest` set the medians, and the fastest, of all rounds against each other.
    """

    value: float
    of_medians: float
    of_fastest: float
    rounds: tuple[float, ...]

    @property
    def low(self) -> float:
        """The least of any round."""
        return min(self.rounds)

    @property
    def high(self) -> float:
        """The most of any round."""
        return max(self.rounds)


def interleaved(contenders: Mapping[str, Timed], rounds: int, note: Note) -> dict[str, tuple[float, ...]]:
    """Seconds of every contender in every round. `note` hears what begins."""
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    for number in range(rounds):
        for name, work in contenders.items():
            note(f"round {number + 1} of {rounds}: {name}")
            seconds[name].append(work(number))
    return {name: tuple(found) for name, found in seconds.items()}


def ratio(mine: Sequence[float], theirs: Sequence[float]) -> Figure:
    """How many times as long `mine` takes."""
    return _compare(mine, theirs, operator.truediv)


def difference(mine: Sequence[float], theirs: Sequence[float]) -> Figure:
    """How many seconds longer `mine` takes."""
    return _compare(mine, theirs, operator.sub)


def count(mine: Sequence[float]) -> Figure:
    """How many it takes: the most of any round, which are otherwise equal."""
    return Figure(value=max(mine), of_medians=statistics.median(mine), of_fastest=min(mine), rounds=tuple(mine))


def _compare(mine: Sequence[float], theirs: Sequence[float], how: Callable[[float, float], float]) -> Figure:
    rounds = tuple(how(a, b) for a, b in zip(mine, theirs, strict=True))
    return Figure(
        value=statistics.median(rounds),
        of_medians=how(statistics.median(mine), statistics.median(theirs)),
        of_fastest=how(min(mine), min(theirs)),
        rounds=rounds,
    )
