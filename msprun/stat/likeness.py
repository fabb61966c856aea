"""Remarks on calls that are not alike: noise knows neither the number of a call nor what ran before it."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log
from statistics import median

from msprun.model.measurement import FreshCall, Remark, Sample
from msprun.model.operator import SIDES, Pair, Side
from msprun.stat.interval import Interval, median_interval
from msprun.stat.ratio import log_ratios, named

# Caches that the calls before have warmed make up to 28 % between places of a group (measured); work that is left
# out makes more.
ALIKE = log(1.5)
CONFIDENCE = 0.999
PERIODS = range(2, 9)
VALUES_MIN = 12
# Looks after the one that raised a doubt. If fresh contents were nothing to a side, a call with them would be the
# slower one of a look half the time, and of ten looks in eleven or of all in 6 runs of 1000.
FRESH_LOOKS = 11
FRESH_CONFIDENCE = 0.98


def uneven_by_period(samples: Sequence[Sample], side: Side) -> Remark | None:
    """Every second, third ... eighth call is unlike the others, by more than half: a cache of results, for instance."""
    numbered: list[tuple[int, float]] = []
    calls = 0
    for sample in samples:
        if sample.phase == "timed" and sample.elapsed_ns > 0:
            numbered.append((calls, log(sample.call_us)))
        calls += sample.calls
    for period in PERIODS:
        places: dict[int, list[float]] = {}
        for number, value in numbered:
            places.setdefault(number % period, []).append(value)
        medians = [m for values in places.values() if (m := _median(values)) is not None]
        apart = max((_apart(one, other) for one in medians for other in medians), default=0.0)
        if apart > ALIKE:
            return Remark(code="uneven_calls", figures={"side": side, "period": period, "ratio": exp(apart)})
    return None


def uneven_by_neighbour(samples: Sequence[Sample], side: Side) -> Remark | None:
    """A side takes another time right after itself than after the other side, by more than half."""
    after: dict[bool, list[float]] = {True: [], False: []}
    timed = [sample for sample in samples if sample.phase == "timed" and sample.elapsed_ns > 0]
    for before, sample in zip(timed, timed[1:], strict=False):
        if sample.side == side and sample.visit == before.visit:
            after[before.side == side].append(log(sample.call_us))
    itself, other = _median(after[True]), _median(after[False])
    if itself is None or other is None or max(_apart(itself, other), _apart(other, itself)) <= ALIKE:
        return None
    return Remark(code="uneven_calls", figures={"side": side, "after_itself": exp(itself.median - other.median)})


def uneven_by_change(samples: Sequence[Sample], pair: Pair = SIDES) -> Remark | None:
    """The speed-up of the last third of the groups is another than that of the first, by more than half.

    What the machine does, both sides of a group suffer; so a side has changed what it does.
    """
    values = [value for visit in log_ratios(samples, pair).values() for value in visit]
    third = len(values) // 3
    first, last = _median(values[:third]), _median(values[len(values) - third :])
    if first is None or last is None or max(_apart(first, last), _apart(last, first)) <= ALIKE:
        return None
    figures = {"change": exp(last.median - first.median) - 1, "samples": len(values)}
    return Remark(code="uneven_calls", figures=named(pair) | figures)


def is_doubtful(look: FreshCall) -> bool:
    """One call with fresh contents took half as long again: worth `FRESH_LOOKS` more, proof of nothing."""
    return _slower(look) > ALIKE


def uneven_by_contents(mine: Sequence[FreshCall], other: Sequence[FreshCall], side: Side) -> Remark | None:
    """Fresh contents cost a side half as long again, and more than they cost the other side (empty: unknown).

    The first look was the reason to look on, so it is chosen and counts for nothing. What contents do to an honest
    operator (denormal numbers, early exits) and what a machine does at that moment, the other side suffers too; so the
    intervals of both medians must lie apart.
    """
    proof, control = ([_slower(look) for look in looks[1:]] for looks in (mine, other))
    if len(proof) < FRESH_LOOKS:
        return None
    least = median_interval(proof, FRESH_CONFIDENCE).low
    most = median_interval(control, FRESH_CONFIDENCE).high if control else None
    if least is None or least <= ALIKE or (most is not None and least <= most):
        return None
    fresh_us, again_us = (median(getattr(look, name) for look in mine[1:]) for name in FreshCall.__struct_fields__)
    return Remark(code="uneven_calls", figures={"side": side, "fresh_us": fresh_us, "again_us": again_us})


def _slower(look: FreshCall) -> float:
    return log(look.fresh_us / look.again_us) if look.fresh_us > 0 and look.again_us > 0 else 0.0


def _median(values: Sequence[float]) -> Interval | None:
    """None where there are too few values for an interval at 99.9 %."""
    return median_interval(values, CONFIDENCE) if len(values) >= VALUES_MIN else None


def _apart(slow: Interval, fast: Interval) -> float:
    """Distance of the medians where `slow` is above `fast` and their intervals do not meet, else 0."""
    if slow.low is None or fast.high is None or slow.low <= fast.high:
        return 0.0
    return slow.median - fast.median
