"""The order-statistic interval: exact ranks, and honest coverage."""

from __future__ import annotations

import random
from fractions import Fraction
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msprun.stat.interval import Interval, median_interval, rank_interval, tails

# Whole millionths, since half of the least float is none.
FLOATS = st.lists(st.floats(-1e6, 1e6).map(lambda value: round(value, 6)), min_size=1, max_size=60)


def coverage(n: int, low: int, high: int) -> Fraction:
    """P(low <= X < high) of X ~ binomial(n, 1/2), the number of values below the median."""
    return Fraction(sum(comb(n, k) for k in range(low, high)), 2**n)


@pytest.mark.parametrize(
    ("n", "ranks"),
    # The classical table of 95 % ranks for a median (Conover, Practical Nonparametric Statistics).
    [
        (1, None),
        (5, None),
        (6, (1, 6)),
        (8, (1, 8)),
        (9, (2, 8)),
        (12, (3, 10)),
        (15, (4, 12)),
        (20, (6, 15)),
        (25, (8, 18)),
    ],
)
def test_ranks_of_the_tables(n: int, ranks: tuple[int, int] | None) -> None:
    assert rank_interval(n) == ranks


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.99])
def test_ranks_are_the_narrowest_that_cover_enough(confidence: float) -> None:
    for n in range(1, 120):
        ranks = rank_interval(n, confidence)
        if ranks is None:
            assert coverage(n, 1, n) < confidence
            continue
        low, high = ranks
        assert low + high == n + 1
        assert coverage(n, low, high) >= confidence
        assert low + 1 >= high - 1 or coverage(n, low + 1, high - 1) < confidence


def test_many_values_are_quick_and_near_the_normal_ranks() -> None:
    n = 40_000
    low, high = rank_interval(n) or (0, 0)
    assert low == pytest.approx(n / 2 - 1.96 * n**0.5 / 2, abs=2)
    assert high == n + 1 - low


def test_interval_by_hand() -> None:
    assert median_interval([5, 1, 4, 2, 3]) == Interval(median=3, low=None, high=None)
    assert median_interval([6, 5, 4, 3, 2, 1]) == Interval(median=3.5, low=1, high=6)
    assert median_interval([9, 1, 8, 2, 7, 3, 6, 4, 5]) == Interval(median=5, low=2, high=8)


def test_no_values_is_an_error() -> None:
    with pytest.raises(ValueError, match="at least one"):
        median_interval([])


@given(FLOATS, st.randoms(use_true_random=False))
def test_lies_within_the_values_and_ignores_their_order(values: list[float], rng: random.Random) -> None:
    interval = median_interval(values)
    shuffled = rng.sample(values, len(values))
    assert median_interval(shuffled) == interval
    if interval.low is not None and interval.high is not None:
        assert min(values) <= interval.low <= interval.median <= interval.high <= max(values)
    assert (interval.low is None) == (len(values) < 6)


@given(FLOATS)
def test_scales_with_the_values(values: list[float]) -> None:
    one, four = median_interval(values), median_interval([4 * value for value in values])
    assert four.median == 4 * one.median
    assert four.low == (None if one.low is None else 4 * one.low)


def test_covers_the_median_of_a_skewed_distribution_as_often_as_it_says() -> None:
    rng = random.Random(1)
    hits, runs = 0, 2000
    for _ in range(runs):
        interval = median_interval([rng.expovariate(1) for _ in range(20)])
        assert interval.low is not None and interval.high is not None
        hits += interval.low <= 0.6931471805599453 <= interval.high
    exact = float(coverage(20, 6, 15))
    assert hits / runs == pytest.approx(exact, abs=0.015)


def test_tails_are_what_ranks_leave_uncovered() -> None:
    for n in (1, 6, 7, 30):
        assert tails(n) == pytest.approx([float(1 - coverage(n, k, n + 1 - k)) for k in range(n // 2 + 1)])
