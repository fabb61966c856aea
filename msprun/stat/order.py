"""In which order the sides run."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Literal

from msprun.model.operator import Side

Order = Literal["interleaved", "sequential"]


def quad(sides: Sequence[Side], rng: random.Random, order: Order) -> tuple[Side, ...]:
    """The blocks of one group: A B B A or B A A B at random, A A B B when sequential, four of a single side.

    Of three sides A B C C B A, in any of the six orders. Chance cancels what the position does (measured: up to 28 %
    between first and second), the mirror linear drift.
    """
    if len(sides) == 1:
        return (sides[0],) * 4
    if order == "sequential":
        return tuple(side for side in sides for _ in range(2))
    half = rng.sample(sides, len(sides))
    return (*half, *half[::-1])


def pairs(sides: Sequence[Side], repeats: int, order: Order) -> list[tuple[Side, int]]:
    """`repeats` timed calls of each side and the group of each: A B, B A, A B ...; sequential: all A, all B.

    Of three sides A B C, C B A, B C A, A C B, C A B, B A C: in six groups each is twice in each place.
    """
    if order == "sequential":
        return [(side, group) for side in sides for group in range(repeats)]
    return [(side, group) for group in range(repeats) for side in _turned(sides, group)]


def _turned(sides: Sequence[Side], group: int) -> Sequence[Side]:
    """Every second group mirrors the one before; of two sides that is all that there is."""
    first = group // 2 % len(sides) if len(sides) > 2 else 0
    turned = (*sides[first:], *sides[:first])
    return turned if group % 2 == 0 else turned[::-1]


def warmup(sides: Sequence[Side], calls: int, order: Order) -> list[Side]:
    """`calls` warm-up calls of each side: A B A B ...; sequential: all A, all B."""
    if order == "sequential":
        return [side for side in sides for _ in range(calls)]
    return list(sides) * calls
