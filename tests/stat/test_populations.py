"""How the times of one side lie."""

from __future__ import annotations

import random
from collections.abc import Callable
from math import exp

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msprun.model.measurement import Sample
from msprun.stat.populations import gc_or_cache, two_populations

Make = Callable[..., Sample]


def samples(times: list[float]) -> list[Sample]:
    return [
        Sample(case=0, side="candidate", phase="timed", visit=0, group=i, calls=1, elapsed_ns=round(us * 1000))
        for i, us in enumerate(times)
    ]


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8])
def test_two_heaps_are_told_with_their_distance_and_the_upper_share(share: float) -> None:
    rng = random.Random(1)
    times = [(130 if i < share * 100 else 100) * exp(rng.gauss(0, 0.01)) for i in range(100)]
    rng.shuffle(times)
    seen = two_populations(samples(times), "candidate")
    assert seen is not None and seen.code == "two_populations"
    assert seen.figures["ratio"] == pytest.approx(1.3, rel=0.02)
    assert seen.figures["share"] == pytest.approx(share, abs=0.01)


def test_a_few_stragglers_between_two_heaps_do_not_hide_them() -> None:
    times = [100.0, 101.0] * 30 + [140.0, 141.0] * 30 + [115.0, 120.0, 128.0]
    seen = two_populations(samples(times), "candidate")
    assert seen is not None and seen.figures["ratio"] == pytest.approx(1.4, rel=0.02)


def test_one_heap_in_eight_or_a_small_distance_is_none() -> None:
    assert two_populations(samples([100.0] * 105 + [130.0] * 15), "candidate") is None  # 12.5 %
    assert two_populations(samples([100.0] * 50 + [104.0] * 50), "candidate") is None
    assert two_populations(samples([100.0] * 19 + [200.0] * 20), "candidate") is None  # too few to tell
    assert two_populations([], "candidate") is None


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng: exp(rng.gauss(0, 0.08)),
        lambda rng: 1 + 0.2 * rng.expovariate(1),
        lambda rng: 1 + 0.1 * rng.paretovariate(1.2),
        lambda rng: rng.uniform(1, 2),
    ],
    ids=["normal", "exponential", "heavy tails", "uniform"],
)
@pytest.mark.parametrize("count", [40, 96])
def test_one_heap_of_any_shape_is_seldom_two(draw: Callable[[random.Random], float], count: int) -> None:
    rng = random.Random(2)
    told = sum(
        two_populations(samples([100 * draw(rng) for _ in range(count)]), "candidate") is not None for _ in range(200)
    )
    assert told <= 4


@given(st.lists(st.integers(1000, 10**6), max_size=60), st.integers(2, 9))
def test_the_unit_of_time_makes_no_difference(nanoseconds: list[int], factor: int) -> None:
    def told(scale: int) -> bool:
        made = [
            Sample(case=0, side="candidate", phase="timed", visit=0, group=0, calls=1, elapsed_ns=scale * ns)
            for ns in nanoseconds
        ]
        return two_populations(made, "candidate") is not None

    assert told(1) == told(factor)


def test_rare_times_far_away_are_told(sample: Make) -> None:
    seen = gc_or_cache(samples([10.0] * 96 + [60.0, 80.0, 51.0, 90.0]), "candidate")
    assert seen is not None
    assert (seen.code, seen.figures) == ("gc_or_cache", {"side": "candidate", "share": 0.04, "ratio": 9.0})


def test_a_tail_two_outliers_or_a_heap_far_away_is_something_else() -> None:
    assert gc_or_cache(samples([10.0] * 96 + [49.0] * 4), "candidate") is None
    assert gc_or_cache(samples([10.0] * 98 + [90.0] * 2), "candidate") is None
    assert gc_or_cache(samples([10.0] * 197 + [90.0] * 5), "candidate") is None  # 2.5 %: what a busy machine does
    assert gc_or_cache(samples([10.0] * 80 + [90.0] * 20), "candidate") is None
    assert gc_or_cache([], "candidate") is None
