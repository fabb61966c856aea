"""Synthetic times whose truth is known, and a run of msprun's own sampling over them."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from math import comb, exp, log

import yaml
from msgspec import Struct

from msprun.model.measurement import Paired, Sample
from msprun.model.operator import Side
from msprun.model.plan import Schedule
from msprun.resources import data_root
from msprun.stat import order
from msprun.stat.estimate import paired
from msprun.stat.interval import rank_interval
from msprun.stat.ratio import log_ratios
from msprun.stat.stop import stop_reason

Noise = Callable[[random.Random], Iterator[float]]
CALL_US = 1000.0
SIDES: tuple[Side, Side] = ("reference", "candidate")
# The first block of a group is slower than the others (measured: up to 28 %).
FIRST = 1.1


def gaussian(sd: float) -> Noise:
    """Independent noise of this standard deviation."""

    def noise(rng: random.Random) -> Iterator[float]:
        while True:
            yield exp(rng.gauss(0, sd))

    return noise


def drift(rng: random.Random) -> Iterator[float]:
    """The clock falls by 0.3 % a block, beside heavy tails."""
    level = 1.0
    while True:
        level *= 1.003
        yield level * (1 + 0.01 * rng.paretovariate(1.5))


def steps(rng: random.Random) -> Iterator[float]:
    """The clock jumps by 18 %, down and up again."""
    level = 1.0
    while True:
        if rng.random() < 0.02:
            level = 2.18 - level
        yield level * exp(rng.gauss(0, 0.01))


def bursts(rng: random.Random) -> Iterator[float]:
    """A neighbour takes the core now and then."""
    left = 0
    while True:
        left = left - 1 if left else round(rng.expovariate(1 / 8)) if rng.random() < 0.03 else 0
        yield (1.5 if left else 1) * (1 + 0.01 * rng.expovariate(1))


def heavy_tails(rng: random.Random) -> Iterator[float]:
    """Times without a mean to speak of."""
    while True:
        yield 1 + 0.02 * (rng.paretovariate(1.2) - 1)


def rising_clock(rng: random.Random) -> Iterator[float]:
    """A clock that is low at first: 35 % slower, and hardly any more after some hundred blocks."""
    slow = 0.35
    while True:
        slow *= 0.983
        yield (1 + slow) * exp(rng.gauss(0, 0.01))


def wander(rng: random.Random) -> Iterator[float]:
    """What was slow stays slow for a while: autocorrelation 0.95."""
    state = 0.0
    while True:
        state = 0.95 * state + rng.gauss(0, 0.01)
        yield 2**state


def ticks(rng: random.Random) -> Iterator[float]:
    """A clock that tells twenty ticks a block."""
    while True:
        yield max(1, round(20 * exp(rng.gauss(0, 0.02)))) / 20


def two_populations(rng: random.Random) -> Iterator[float]:
    """Two speeds 30 % apart, drawn anew for each block."""
    while True:
        yield (1.3 if rng.random() < 0.4 else 1) * exp(rng.gauss(0, 0.005))


class Stream(Struct, frozen=True, kw_only=True):
    """`visit_sd`: by how much the log ratio differs from visit to visit (addresses, caches)."""

    name: str
    noise: Noise
    visit_sd: float = 0.0


STREAMS = (
    Stream(name="noise of 0.5 %", noise=gaussian(0.005)),
    Stream(name="noise of 2 %", noise=gaussian(0.02)),
    Stream(name="noise of 8 %", noise=gaussian(0.08)),
    Stream(name="drift and tails", noise=drift),
    Stream(name="steps of 18 %", noise=steps),
    Stream(name="bursts of 50 %", noise=bursts),
    Stream(name="heavy tails", noise=heavy_tails),
    Stream(name="clock that rises", noise=rising_clock),
    Stream(name="autocorrelation", noise=wander),
    Stream(name="clock ticks of 5 %", noise=ticks),
    Stream(name="two populations", noise=two_populations),
    Stream(name="visits 1 % apart", noise=gaussian(0.02), visit_sd=0.01),
    Stream(name="visits 2 % apart", noise=bursts, visit_sd=0.02),
    Stream(name="visits 5 % apart", noise=bursts, visit_sd=0.05),
)


def schedule() -> Schedule:
    """What a run without any options does, from conf/."""
    profiler = yaml.safe_load((data_root() / "conf" / "profiler" / "clock.yaml").read_text())
    del profiler["kind"]
    return Schedule(
        warmup=None, repeats=None, budget_s=2.0, order="interleaved", cache="warm", seed=0, **profiler
    )  # fmt: skip


def measured(rng: random.Random, stream: Stream, speedup: float, plan: Schedule) -> tuple[Paired, list[Sample]]:
    """One case, sampled and stopped as a run does it."""
    times, samples, elapsed_s = stream.noise(rng), list[Sample](), 0.0
    for visit in range(plan.visits):
        group, began_s = 0, elapsed_s
        ratio = speedup * exp(rng.gauss(0, stream.visit_sd))
        while not stop_reason(samples, plan, visit=visit, visit_elapsed_s=elapsed_s - began_s, elapsed_s=elapsed_s):
            for _ in range(plan.quads_min):
                quad = _quad(rng, times, ratio, (visit, group))
                samples += quad
                elapsed_s += sum(s.elapsed_ns for s in quad) / 1e9
                group += 1
    pair = paired(samples, plan.order)
    assert pair is not None
    return pair, samples


def _quad(rng: random.Random, times: Iterator[float], ratio: float, at: tuple[int, int]) -> list[Sample]:
    visit, group = at
    made = []
    for place, side in enumerate(order.quad(SIDES, rng, "interleaved")):
        us = CALL_US * next(times) * (1 if place else FIRST) / (ratio if side == "candidate" else 1)
        made.append(
            Sample(case=0, side=side, phase="timed", visit=visit, group=group, calls=1, elapsed_ns=round(us * 1000))
        )
    return made


def favourable(stream: Stream, speedup: float, quads: int = 4000) -> float:
    """The chance that a group of neighbouring blocks has the faster side as the faster one."""
    rng = random.Random(9)
    wins = 0.0
    for _ in range(quads // 100):  # streams that run away, as a drift does, begin anew
        times = stream.noise(rng)
        samples = [s for group in range(100) for s in _quad(rng, times, speedup, (0, group))]
        values = log_ratios(samples)[0]
        wins += sum((value > 0) + (value == 0) / 2 for value in values) / 100
    return wins / (quads // 100)


def best_power(chance: float, groups: int) -> float:
    """How often an order-statistic interval of that many independent groups at best excludes 1.

    The interval of ranks k and n+1-k lies above 0 where at least n+1-k values do: a binomial tail.
    """
    ranks = rank_interval(groups)
    if ranks is None:
        return 0.0
    if chance >= 1:
        return 1.0
    odds = (log(chance), log(1 - chance))
    return min(
        1.0, sum(exp(_log_comb(groups, j) + j * odds[0] + (groups - j) * odds[1]) for j in range(ranks[1], groups + 1))
    )


def _log_comb(n: int, k: int) -> float:
    return log(comb(n, k))
