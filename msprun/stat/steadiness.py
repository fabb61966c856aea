"""Remarks on times that do not stay what they were: from call to call, from visit to visit, in the warm-up."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from math import exp, log

from msprun.model.measurement import Remark, Sample
from msprun.model.operator import SIDES, Pair, Side
from msprun.model.plan import Schedule
from msprun.stat.interval import median_interval
from msprun.stat.ratio import log_ratios, named
from msprun.stat.visits import within_visits
from msprun.stat.warmup import WINDOW, is_steady

DRIFT = 0.05
# A third needs six samples to have an interval of its own.
DRIFT_SAMPLES_MIN = 18
VISITS_APART = log(1.03)
# Times the variance that noise gives the medians of three visits or more: beyond it once in a hundred or less
# (chi-squared over its degrees of freedom; with five of them 3.02 at 1 %).
VISITS_VARIANCE = 4.6
VISITS_MIN = 3
VISIT_GROUPS_MIN = 4


def drift(samples: Sequence[Sample], side: Side) -> Remark | None:
    """The last third of a side's samples differs from the first by more than 5 %, and their intervals do not meet."""
    times = [sample.call_us for sample in samples if sample.phase == "timed"]
    if len(times) < DRIFT_SAMPLES_MIN:
        return None
    third = len(times) // 3
    first, last = median_interval(times[:third]), median_interval(times[-third:])
    if first.median <= 0 or first.low is None or first.high is None or last.low is None or last.high is None:
        return None
    change = last.median / first.median - 1
    if abs(change) <= DRIFT or (last.low <= first.high and first.low <= last.high):
        return None
    return Remark(code="drift", figures={"side": side, "change": change, "samples": len(times)})


def unsteady_warmup(samples: Sequence[Sample], side: Side, schedule: Schedule) -> Remark | None:
    """The first visit's automatic warm-up came to its end while calls still got faster."""
    times = [sample.call_us for sample in samples if sample.phase == "warmup" and sample.visit == 0]
    if schedule.warmup is not None or len(times) < max(schedule.warmup_min, 2 * WINDOW) or is_steady(times):
        return None
    return Remark(
        code="unsteady_warmup", figures={"side": side, "calls": len(times)}, next=f"warmup={2 * len(times)}"
    )  # fmt: skip


def fallback_block(samples: Sequence[Sample], side: Side) -> Remark | None:
    """The clock saw no time at all in some sample: such a side is timed in blocks of a fixed size."""
    zeros = sum(sample.elapsed_ns <= 0 for sample in samples)
    return Remark(code="fallback_block", figures={"side": side, "samples": zeros}) if zeros else None


def visits_differ(samples: Sequence[Sample], pair: Pair = SIDES) -> Remark | None:
    """The visits' median ratios are more than 3 % apart, and further than the noise within visits explains."""
    visits = [visit for visit in log_ratios(samples, pair).values() if len(visit) >= VISIT_GROUPS_MIN]
    if len(visits) < VISITS_MIN:
        return None
    medians = [statistics.median(visit) for visit in visits]
    least, most = min(medians), max(medians)
    if most - least <= VISITS_APART or statistics.variance(medians) <= VISITS_VARIANCE * within_visits(visits):
        return None
    figures = {"least": exp(least), "most": exp(most), "visits": len(visits)}
    return Remark(code="visits_differ", figures=named(pair) | figures)
