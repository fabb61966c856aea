"""Remarks on how the times of one side lie: in two heaps, with a few far away, after a first call like no other."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from math import exp, log

from msprun.model.measurement import Remark, Sample, SideResult
from msprun.model.operator import Side

SAMPLES_MIN = 40
SHARE_MIN = 0.15
APART = log(1.05)
CLEAR = 1.5
FAR = 5.0
FAR_MIN = 3
FAR_SHARE = 0.03
# A first call a hundred times as long is usual where calls are short (imports, page faults, caches that fill); it
# is worth a line when a user would notice it.
FIRST_RATIO = 100.0
FIRST_US = 10_000.0


def two_populations(samples: Sequence[Sample], side: Side) -> Remark | None:
    """The times fall into two heaps with at least 15 % of them in each.

    At the best cut of the sorted log times, the gap between the heaps (from the lower one's 90 % quantile to the upper
    one's 10 %) is at least 5 %, and one and a half times as wide as either heap from its 10 % to its 90 %.
    """
    logs = sorted(log(sample.call_us) for sample in samples if sample.phase == "timed" and sample.elapsed_ns > 0)
    least = max(2, round(SHARE_MIN * len(logs)))
    if len(logs) < SAMPLES_MIN:
        return None
    cut = max(range(least, len(logs) - least + 1), key=lambda k: logs[k] - logs[k - 1])
    lower, upper = logs[:cut], logs[cut:]
    gap = _quantile(upper, 0.1) - _quantile(lower, 0.9)
    if gap < APART or gap < CLEAR * max(_width(lower), _width(upper)):
        return None
    ratio = exp(statistics.median(upper) - statistics.median(lower))
    return Remark(
        code="two_populations", figures={"side": side, "ratio": ratio, "share": len(upper) / len(logs)}
    )  # fmt: skip


def gc_or_cache(samples: Sequence[Sample], side: Side) -> Remark | None:
    """Between 3 % and 15 % of the samples, and at least three, took more than five times the median."""
    times = [sample.call_us for sample in samples if sample.phase == "timed"]
    if not times:
        return None
    median = statistics.median(times)
    far = [time for time in times if time > FAR * median > 0]
    if not max(FAR_MIN, FAR_SHARE * len(times)) <= len(far) < SHARE_MIN * len(times):
        return None
    return Remark(
        code="gc_or_cache", figures={"side": side, "share": len(far) / len(times), "ratio": max(far) / median}
    )  # fmt: skip


def first_call(seen: SideResult, side: Side) -> Remark | None:
    """The first call took more than a hundred times the median and more than 10 ms: a cost of the start.

    The host saw it, so it is held against what the host saw of the others, launches and waits included.
    """
    if seen.estimate is None or seen.first_call_us is None or seen.first_call_us < FIRST_US:
        return None
    median_us = seen.estimate.median_us if seen.host_us is None else seen.host_us
    if seen.first_call_us <= FIRST_RATIO * median_us:
        return None
    figures = {"side": side, "first_us": seen.first_call_us, "median_us": median_us}
    return Remark(code="first_call", figures=figures)


def _quantile(ordered: Sequence[float], share: float) -> float:
    return ordered[round(share * (len(ordered) - 1))]


def _width(ordered: Sequence[float]) -> float:
    return _quantile(ordered, 0.9) - _quantile(ordered, 0.1)
