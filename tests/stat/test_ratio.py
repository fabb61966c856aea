"""Log ratios of groups."""

from __future__ import annotations

import random
from collections.abc import Callable
from math import comb, log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msprun.model.measurement import Sample
from msprun.stat.ratio import log_ratios, ratio_interval, ratio_p

Make = Callable[..., Sample]


def test_only_complete_timed_groups_count(sample: Make) -> None:
    samples = [
        sample("reference", 90, phase="warmup"), sample("candidate", 10, phase="warmup"),
        sample("candidate", 10, 1, visit=1), sample("reference", 40, 1, visit=1),
        sample("reference", 30, 0, visit=1), sample("candidate", 10, 0, visit=1),
        sample("reference", 20, 0, visit=0), sample("candidate", 10, 0, visit=0),
        sample("reference", 20, 7, visit=0),
    ]  # fmt: skip
    ratios = log_ratios(samples)
    assert list(ratios) == [0, 1]
    assert ratios[0] == pytest.approx([log(2)])
    assert ratios[1] == pytest.approx([log(3), log(4)])


def test_a_block_without_a_time_is_no_ratio(sample: Make) -> None:
    assert log_ratios([sample("reference", 0, 0), sample("candidate", 5, 0)]) == {}


def test_calls_of_blocks_may_differ(sample: Make) -> None:
    ratios = log_ratios([sample("reference", 6, 0, calls=10), sample("candidate", 3, 0, calls=20)])
    assert ratios[0] == pytest.approx([log(2)])


def test_bounds_are_at_least_half_a_percent_away() -> None:
    interval = ratio_interval([[0.1] * 9])
    assert interval is not None
    assert (interval.low, interval.high) == (pytest.approx(0.095), pytest.approx(0.105))


def test_nothing_measured_is_no_interval() -> None:
    assert ratio_interval([]) is None
    assert ratio_p([]) is None


def sign_test(values: list[float]) -> float:
    """Two-sided, by counting how many values lie on the rarer side of zero."""
    below = min(sum(v < 0 for v in values), sum(v > 0 for v in values))
    return min(1.0, 2 * sum(comb(len(values), k) for k in range(below + 1)) / 2 ** len(values))


def test_within_one_visit_p_is_that_of_a_sign_test() -> None:
    rng = random.Random(1)
    for count in (6, 9, 20, 41):
        for shift in (0.3, 1.0, 2.0):
            values = [rng.gauss(shift, 1) for _ in range(count)]
            assert ratio_p([values]) == pytest.approx(sign_test(values), rel=1e-6)


VISITS = st.lists(st.lists(st.floats(-0.2, 0.3), min_size=2, max_size=8), min_size=1, max_size=6)


@given(VISITS)
def test_p_says_at_five_percent_what_the_interval_says(visits: list[list[float]]) -> None:
    interval, p = ratio_interval(visits), ratio_p(visits)
    assert interval is not None and p is not None
    assert 2.0 ** (1 - sum(map(len, visits))) * (1 - 1e-6) <= p <= 1
    excluded = interval.low is not None and interval.high is not None and not interval.low <= 0 <= interval.high
    assert excluded == (p < 0.05 - 1e-9) or p == pytest.approx(0.05, abs=1e-9)


@given(VISITS)
def test_p_does_not_know_which_side_is_which(visits: list[list[float]]) -> None:
    assert ratio_p([[-value for value in visit] for visit in visits]) == pytest.approx(ratio_p(visits))


def test_visits_that_disagree_make_p_greater() -> None:
    agreeing = [[0.05, 0.06, 0.04, 0.05]] * 4
    apart = [[0.05 + d, 0.06 + d, 0.04 + d, 0.05 + d] for d in (-0.04, -0.02, 0.02, 0.04)]
    close, wide = ratio_p(agreeing), ratio_p(apart)
    assert close is not None and wide is not None and close < 0.001 < wide


def test_what_a_harness_cannot_tell_has_no_p() -> None:
    assert ratio_p([[0.004] * 50]) == 1
