"""The promise on a shared machine: identical code is seldom called faster or slower, a true 5 % is found."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from math import exp

import pytest

from msprun.model.measurement import Paired, Sample
from msprun.model.operator import SIDES
from msprun.model.plan import Schedule
from msprun.stat import order
from msprun.stat.estimate import paired
from msprun.stat.stop import stop_reason

Noise = Callable[[random.Random], Iterator[float]]
RUNS = 120


def steady(rng: random.Random) -> Iterator[float]:
    while True:
        yield 1 + 0.01 * rng.expovariate(1)


def bursts(rng: random.Random) -> Iterator[float]:
    """A neighbour takes the core now and then."""
    left = 0
    while True:
        left = left - 1 if left else round(rng.expovariate(1 / 8)) if rng.random() < 0.03 else 0
        yield (1.5 if left else 1) * (1 + 0.01 * rng.expovariate(1))


def drift(rng: random.Random) -> Iterator[float]:
    """The clock falls by 0.3 % a block, beside heavy tails."""
    level = 1.0
    while True:
        level *= 1.003
        yield level * (1 + 0.01 * rng.paretovariate(1.5))


def wander(rng: random.Random) -> Iterator[float]:
    """What was slow stays slow for a while."""
    state = 0.0
    while True:
        state = 0.95 * state + rng.gauss(0, 0.01)
        yield 2**state


def measured(rng: random.Random, noise: Noise, speedup: float, plan: Schedule, visit_sd: float = 0.0) -> Paired:
    """One case, as a run samples it; the first block of a quad is 10 % slower than the others.

    `visit_sd` is how much the log ratio of identical code differs from visit to visit (addresses, caches).
    """
    times, samples, elapsed_s = noise(rng), [], 0.0
    for visit in range(plan.visits):
        group, began_s = 0, elapsed_s
        ratio = speedup * exp(rng.gauss(0, visit_sd))
        while not stop_reason(samples, plan, visit=visit, visit_elapsed_s=elapsed_s - began_s, elapsed_s=elapsed_s):
            for _ in range(4):
                for place, side in enumerate(order.quad(SIDES, rng, plan.order)):
                    us = 3000 * next(times) * (1 if place else 1.1) / (ratio if side == "candidate" else 1)
                    samples.append(
                        Sample(
                            case=0,
                            side=side,
                            phase="timed",
                            visit=visit,
                            group=group,
                            calls=1,
                            elapsed_ns=round(us * 1000),
                        )
                    )
                    elapsed_s += us / 1e6
                group += 1
    pair = paired(samples, plan.order)
    assert pair is not None
    return pair


def verdicts(noise: Noise, speedup: float, plan: Schedule, visit_sd: float = 0.0) -> Counter[str]:
    rng = random.Random(2)
    return Counter(measured(rng, noise, speedup, plan, visit_sd).verdict for _ in range(RUNS))


@pytest.mark.parametrize("noise", [steady, bursts, drift, wander])
def test_identical_code_keeps_the_level(noise: Noise, schedule: Callable[..., Schedule]) -> None:
    seen = verdicts(noise, 1.0, schedule())
    # At a true 5 % more than 13 of 120 have a chance of 0.3 %.
    assert seen["faster"] + seen["slower"] <= 13


@pytest.mark.parametrize("visit_sd", [0.01, 0.02, 0.05])
def test_visits_that_differ_keep_the_level(visit_sd: float, schedule: Callable[..., Schedule]) -> None:
    seen = verdicts(bursts, 1.0, schedule(), visit_sd)
    assert seen["faster"] + seen["slower"] <= 13


@pytest.mark.parametrize("noise", [steady, bursts, drift, wander])
def test_five_percent_is_found(noise: Noise, schedule: Callable[..., Schedule]) -> None:
    seen = verdicts(noise, 1.05, schedule())
    assert seen["faster"] >= 0.8 * RUNS
    assert seen["slower"] == 0
