"""Blocks last long enough and are never endless."""

from __future__ import annotations

import random
from collections.abc import Callable
from math import inf, nan

import pytest

from msprun.model.plan import Schedule
from msprun.stat.block import block_calls, even_blocks

Plans = Callable[..., Schedule]


@pytest.mark.parametrize(
    ("us", "calls"), [(2.5, 20), (3.0, 17), (49.9, 2), (50.0, 1), (8000.0, 1), (0.05, 1000), (1e-12, 1000)]
)
def test_a_block_lasts_at_least_fifty_microseconds_or_a_thousand_calls(us: float, calls: int, schedule: Plans) -> None:
    assert block_calls(us, schedule()) == calls


@pytest.mark.parametrize("us", [0.0, -3.0, nan, inf])
def test_an_estimate_that_is_no_time_gives_a_fixed_count(us: float, schedule: Plans) -> None:
    """triton-lang/triton#8948 and #6868, flagos-ai/FlagTree#1224: the estimate divides the budget."""
    assert block_calls(us, schedule()) == 100
    assert block_calls(us, schedule(block_calls_max=7)) == 7


@pytest.mark.parametrize("seed", range(5))
def test_a_count_is_never_more_than_needed(seed: int, schedule: Plans) -> None:
    rng = random.Random(seed)
    for us in (10 ** rng.uniform(-3, 3) for _ in range(200)):
        calls = block_calls(us, schedule())
        assert 1 <= calls <= 1000
        assert calls == 1000 or calls * us >= 50 * (1 - 1e-12)
        assert calls == 1 or (calls - 1) * us < 50


@pytest.mark.parametrize(
    ("reference", "candidate", "calls"),
    [
        (26.0, 51.0, (2, 2)),  # the two sides of one operator, one of which looked slower for a moment
        (24.0, 26.0, (3, 3)),
        (5.0, 400.0, (10, 2)),  # ten calls of 400 us would last four times the longest block
        (5.0, 30000.0, (10, 1)),
        (2000.0, 3000.0, (1, 1)),
        (0.0, 30.0, (100, 33)),
    ],
)
def test_both_sides_have_blocks_of_as_many_calls(
    reference: float, candidate: float, calls: tuple[int, int], schedule: Plans
) -> None:
    seen = even_blocks({"reference": reference, "candidate": candidate}, schedule())
    assert (seen["reference"], seen["candidate"]) == calls
    swapped = even_blocks({"reference": candidate, "candidate": reference}, schedule())
    assert (swapped["candidate"], swapped["reference"]) == calls


def test_a_side_alone_has_the_blocks_that_it_needs(schedule: Plans) -> None:
    assert even_blocks({"candidate": 2.5}, schedule()) == {"candidate": 20}
    assert even_blocks({}, schedule()) == {}
