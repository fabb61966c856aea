"""The interval of a median that needs no assumption about the distribution."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from fractions import Fraction
from math import comb, isqrt

from msgspec import Struct


class Interval(Struct, frozen=True, kw_only=True):
    """A median in the unit of its values; `low` and `high` None where there are too few values."""

    median: float
    low: float | None
    high: float | None


def rank_interval(n: int, confidence: float = 0.95) -> tuple[int, int] | None:
    """1-based ranks of the order statistics that enclose the median of a population; None where `n` is too small.

    The number of values below the median is binomial(n, 1/2), so ranks k and n+1-k cover it with probability
    1 - 2 P(X < k) (David and Nagaraja, Order Statistics, 7.1). At 95 % that takes at least six values.
    """
    limit = int(Fraction((1 - confidence) / 2) * 2**n)
    k = max(0, n // 2 - 6 * isqrt(n))  # twelve standard deviations below: what lies further out is below 1e-30
    term = tail = comb(n, k)
    while tail <= limit and k < n // 2:
        term = term * (n - k) // (k + 1)
        k += 1
        tail += term
    return (k, n + 1 - k) if k else None


def tails(n: int) -> list[float]:
    """1 - coverage of the ranks k and n+1-k, for every k from 0 to n // 2; ascending."""
    total, found = 0, []
    for k in range(n // 2 + 1):
        found.append(total / 2 ** (n - 1))
        total += comb(n, k)
    return found


def median_interval(values: Sequence[float], confidence: float = 0.95) -> Interval:
    """The median of at least one value with its order-statistic interval. Raises ValueError without values."""
    if not values:
        raise ValueError("a median needs at least one value")
    ordered = sorted(values)
    ranks = rank_interval(len(ordered), confidence)
    low, high = (ordered[ranks[0] - 1], ordered[ranks[1] - 1]) if ranks else (None, None)
    return Interval(median=statistics.median(ordered), low=low, high=high)
