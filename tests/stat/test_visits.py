"""What visits say about each other."""

from __future__ import annotations

from math import asin, pi, sqrt

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from msprun.stat.ratio import ratio_interval
from msprun.stat.visits import MEDIAN_OVER_MEAN, centred, half_width, visits_spread

VISITS = st.lists(st.lists(st.floats(-1, 1), min_size=1, max_size=9), min_size=1, max_size=4)


def test_centred_values_by_hand() -> None:
    assert centred([[1, 2, 9], [], [10, 30]]) == [-1, 0, 7, -10, 10]


def test_half_width_needs_six_values() -> None:
    assert half_width([]) is None
    assert half_width([1, 2, 3, 4, 5]) is None
    assert half_width([1, 2, 3, 4, 5, 9]) == 4


def test_quiet_visits_are_as_uncertain_as_the_median_of_that_many_normal_values() -> None:
    visits = [[0.01] * 5, [0.02] * 5, [0.03] * 5]
    seen = visits_spread(visits)
    # The median of three has 1.346 times the variance of their mean; nothing is left to noise within visits.
    assert (seen.error, seen.noise) == (pytest.approx(0.01 * sqrt(1.346 / 3)), 0.0)
    assert seen.degrees == 2
    two = visits_spread(visits[:2])  # sd of two = distance / sqrt 2; their median is their mean
    assert (two.error, two.degrees) == (pytest.approx(0.005), 1)


def test_many_quiet_visits_tend_to_half_a_pi() -> None:
    visits = [[float(v % 5)] * 5 for v in range(20)]
    assert visits_spread(visits).error == pytest.approx(sqrt(pi / 2 * 40 / 19 / 20))  # variance of 0 to 4 four times


@pytest.mark.parametrize("count", sorted(MEDIAN_OVER_MEAN))
def test_variance_of_a_median_is_that_of_simulated_normal_values(count: int) -> None:
    drawn = numpy.random.default_rng(count).standard_normal((200_000, count))
    assert count * numpy.median(drawn, axis=1).var() == pytest.approx(MEDIAN_OVER_MEAN[count], rel=0.015)


def test_one_visit_has_nothing_to_disagree_with() -> None:
    for visits in ([[1.0, 2.0, 3.0]], [[], [1.0, 2.0]], []):
        assert (visits_spread(visits).error, visits_spread(visits).noise) == (0, 1)


def test_visits_that_differ_less_than_their_noise_add_nothing() -> None:
    noisy = [-0.3, -0.2, -0.1, 0.0, 0.1, 0.2, 0.3]
    seen = visits_spread([noisy, [v + 0.01 for v in noisy], [v - 0.01 for v in noisy]])
    assert (seen.error, seen.noise) == (0, 1)


@pytest.mark.parametrize("apart", [0.5, 1.0, 2.0, 4.0, 20.0])
def test_both_parts_make_up_the_variance_of_the_median_of_all(apart: float) -> None:
    """Six visits of thirty values, `apart` times as far from each other as their noise."""
    rng = numpy.random.default_rng(7)
    effects = apart * rng.standard_normal((20_000, 6, 1))
    truth = numpy.median((effects + rng.standard_normal((20_000, 6, 30))).reshape(20_000, -1), axis=1).var()
    share = apart**2 / (1 + apart**2)
    between = min(asin(share) / share, MEDIAN_OVER_MEAN[6]) * apart**2 / 6
    within = (1 + apart**2) * (pi / 2 - asin(share)) / 180
    assert between + within == pytest.approx(truth, rel=0.06)


def test_the_spread_is_put_together_by_these_formulas() -> None:
    # Medians 0, 1, 2, 3, 4, 5: variance 3.5. Noise: MAD 0.1, so a scale of 0.14826; half of pi/2 scale^2 / 5 comes off.
    visits = [[v - 0.2, v - 0.1, v, v + 0.1, v + 0.2] for v in map(float, range(6))]
    scale = 0.14826
    excess = 3.5 - 0.5 * pi / 2 * scale**2 / 5
    share = excess / (excess + scale**2)
    seen = visits_spread(visits)
    assert seen.error == pytest.approx(sqrt(1.288 * excess / 6))
    assert seen.noise == pytest.approx(sqrt(1 - 2 / pi * asin(share)))


def test_identical_code_keeps_the_level_however_far_apart_visits_are() -> None:
    # Without any noise inside them: 4.1 % by a million runs, and 6.3 % if the median were taken for a mean.
    rng = numpy.random.default_rng(8)
    wrong = 0
    for effects in rng.standard_normal((4000, 6)).tolist():
        interval = ratio_interval([[effect] * 8 for effect in effects])
        assert interval is not None and interval.low is not None and interval.high is not None
        wrong += not interval.low <= 0 <= interval.high
    assert wrong <= 0.05 * 4000


@given(VISITS, st.floats(-2, 2))
def test_a_common_shift_changes_nothing(visits: list[list[float]], shift: float) -> None:
    moved = [[value + shift for value in visit] for visit in visits]
    assert visits_spread(moved).error == pytest.approx(visits_spread(visits).error, abs=1e-6)
