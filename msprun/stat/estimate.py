"""From samples to figures: the one place where warm-up does not count."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from math import ceil, exp
from typing import Literal

from msprun.model.measurement import Estimate, Paired, Sample, Verdict
from msprun.model.operator import SIDES, Pair
from msprun.stat.interval import median_interval
from msprun.stat.order import Order
from msprun.stat.ratio import log_ratios, ratio_interval, ratio_p

# Sampling stops at 1 % of half width, to which comes what visits disagree about: a band of 1 % or 2 % would leave much
# identical code without a verdict.
SAME = 1.03
LATEST = 5


def estimate(samples: Sequence[Sample]) -> Estimate | None:
    """The time of one call of one side (us), from its samples; None when none is timed.

    Median, minimum and p95 (nearest rank) are of samples, that is of a block's time over its calls; the mean is the
    whole time over all calls; `block` is the median number of calls of a sample.
    """
    timed = [sample for sample in samples if sample.phase == "timed"]
    if not timed:
        return None
    times = sorted(sample.call_us for sample in timed)
    calls = sum(sample.calls for sample in timed)
    median = median_interval(times)
    return Estimate(
        calls=calls,
        samples=len(timed),
        block=statistics.median_low(sample.calls for sample in timed),
        median_us=median.median,
        low_us=median.low,
        high_us=median.high,
        mean_us=sum(sample.elapsed_ns for sample in timed) / calls / 1000,
        min_us=times[0],
        p95_us=times[ceil(0.95 * len(times)) - 1],
    )


def median_us(samples: Sequence[Sample], name: Literal["device_ns", "span_ns", "host_ns"]) -> float | None:
    """The median of what timed samples saw beside the time that counts (us); None where they saw none."""
    found = [getattr(sample, name) for sample in samples if sample.phase == "timed"]
    known = [ns / 1000 for ns in found if ns is not None]
    return statistics.median(known) if known else None


def call_us(samples: Sequence[Sample]) -> float:
    """What a call takes now (us), for planning blocks: the median of the last samples, warm-up or not.

    0.0 without samples: such an estimate makes `block_calls` fall back.
    """
    latest = [sample.call_us for sample in samples[-LATEST:]]
    return statistics.median(latest) if latest else 0.0


def paired(samples: Sequence[Sample], order: Order, pair: Pair = SIDES) -> Paired | None:
    """Speed-up of a case from the samples of a pair's sides, in groups of any size; None when a side has none timed.

    exp of the median log ratio of the groups with its interval (see `ratio_interval`). No interval below six groups,
    and none with order=sequential, where a fixed position or drift cannot be told from a difference.
    """
    if not {sample.side for sample in samples if sample.phase == "timed"} >= {*pair}:
        return None
    visits = list(log_ratios(samples, pair).values())
    interval = ratio_interval(visits)
    if interval is None:
        return Paired(speedup=None, low=None, high=None, verdict="unresolved", quads=0)
    is_bounded = order == "interleaved" and interval.low is not None and interval.high is not None
    low = exp(interval.low) if is_bounded and interval.low is not None else None
    high = exp(interval.high) if is_bounded and interval.high is not None else None
    quads = sum(map(len, visits))
    p = ratio_p(visits) if is_bounded else None
    return Paired(speedup=exp(interval.median), low=low, high=high, verdict=verdict(low, high), quads=quads, p=p)


def verdict(low: float | None, high: float | None) -> Verdict:
    """What the interval of a speed-up says: it excludes 1, lies within 3 % of 1, or neither."""
    if low is None or high is None:
        return "unresolved"
    if low > 1:
        return "faster"
    if high < 1:
        return "slower"
    return "same" if 1 / SAME <= low and high <= SAME else "unresolved"
