"""Log ratios of groups."""

from __future__ import annotations

from collections.abc import Callable
from math import log

import pytest

from msprun.model.measurement import Sample
from msprun.stat.ratio import log_ratios, ratio_interval

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
