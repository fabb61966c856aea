"""The time of one side over that of another, by groups of blocks that ran side by side."""

from __future__ import annotations

import statistics
from bisect import bisect_right
from collections.abc import Sequence
from math import exp, hypot, log

from msprun.model.measurement import Sample
from msprun.model.operator import SIDES, Pair, Side
from msprun.stat.interval import Interval, median_interval, tails
from msprun.stat.student import student
from msprun.stat.visits import Visits, visits_spread

# Log units: the asymmetry of a harness that no number of samples resolves (A and B the same code, same tensors).
FLOOR = 0.005
# Halvings of the search for a p-value, which ends at exp(-32), about 1e-14.
_STEPS, _LEAST_LOG_P = 40, -32.0


def log_ratios(samples: Sequence[Sample], pair: Pair = SIDES) -> dict[int, list[float]]:
    """log(one / other) of every timed group that holds both sides of a pair, by visit, in order of group.

    The least of a side's blocks in the group stands for the side: a neighbour's noise only ever adds time.
    """
    least: dict[tuple[int, int], dict[str, float]] = {}
    for sample in samples:
        if sample.phase == "timed" and sample.group is not None and sample.elapsed_ns > 0:
            sides = least.setdefault((sample.visit, sample.group), {})
            sides[sample.side] = min(sample.call_us, sides.get(sample.side, sample.call_us))
    visits: dict[int, list[float]] = {}
    for (visit, _), sides in sorted(least.items(), key=lambda item: item[0]):
        if sides.keys() >= {*pair}:
            visits.setdefault(visit, []).append(log(sides[pair[0]] / sides[pair[1]]))
    return visits


def named(pair: Pair) -> dict[str, Side]:
    """The side by which remarks tell a pair from that of reference and candidate, which needs no name."""
    return {} if pair == SIDES else {"side": pair[0]}


def ratio_interval(visits: Visits) -> Interval | None:
    """Median log ratio of all groups with its 95 % interval; None without a group, no bounds below six.

    Order statistics of all groups, and in quadrature what the visits disagree about (see `visits_spread`); never
    narrower than FLOOR on either side. The side that begins a group is drawn at random, so for identical code every log
    ratio is as likely to be positive as negative whatever the machine does, and the interval of the median needs
    nothing else.
    """
    values = [value for visit in visits for value in visit]
    if not values:
        return None
    pooled = median_interval(values)
    if pooled.low is None or pooled.high is None:
        return pooled
    spread = visits_spread(visits)
    apart = student(0.95, spread.degrees) * spread.error if spread.error else 0.0
    below = max(FLOOR, hypot(spread.noise * (pooled.median - pooled.low), apart))
    above = max(FLOOR, hypot(spread.noise * (pooled.high - pooled.median), apart))
    return Interval(median=pooled.median, low=pooled.median - below, high=pooled.median + above)


def ratio_p(visits: Visits) -> float | None:
    """The least level at which `ratio_interval` still excludes 0, so at most 0.05 where the 95 % interval does.

    None without a group. Of n groups at least 2**(1-n), as of a sign test, which this is with a single visit.
    """
    values = sorted(value for visit in visits for value in visit)
    if not values:
        return None
    median = statistics.median(values)
    if abs(median) <= FLOOR:
        return 1.0
    away = values if median > 0 else [-value for value in reversed(values)]
    levels, spread = tails(len(values)), visits_spread(visits)

    def excludes_zero(log_p: float) -> bool:
        level = exp(log_p)
        k = bisect_right(levels, level) - 1
        if k < 1:
            return False
        apart = student(1 - level, spread.degrees) * spread.error if spread.error else 0.0
        return hypot(spread.noise * (abs(median) - away[k - 1]), apart) < abs(median)

    low, high = _LEAST_LOG_P, 0.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if excludes_zero(middle) else (middle, high)
    return exp(high)
