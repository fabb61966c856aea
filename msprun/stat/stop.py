"""When a visit of a case has seen enough, under automatic counts."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, log, sqrt

from msprun.model.measurement import Sample, StopReason
from msprun.model.operator import ALL_SIDES, OLD_AND_NEW, SIDES, Side
from msprun.model.plan import Schedule
from msprun.stat.ratio import log_ratios
from msprun.stat.visits import centred, half_width

# Over four times the values a median's interval halves; from 32 to 128 of them noise alone makes it shrink by less than
# a fifth in one case of a hundred.
SHRUNK = 0.8
STUCK_VALUES_MIN = 128


def stop_reason(
    samples: Sequence[Sample], schedule: Schedule, *, visit: int, visit_elapsed_s: float, elapsed_s: float
) -> StopReason | None:
    """Why visit number `visit` (from 0) of a case ends now; None: sample on.

    `samples` are all of the case so far, the two times its sampling time in this visit and in all. May be asked before
    the first batch of a visit: the budget may be spent. Every visit may use an equal share of `budget_s` and of
    `quads_max`, and what earlier ones left.

    `narrow`: the half width of the median's 95 % interval is at most what leads to `precision` if all visits see as
    many values, with `quads_min` values in this one. So visits are about equally long, and what one of them has of its
    own cannot rule the median. It looks at the noise within visits alone: were agreement between visits a reason to
    stop, runs whose visits agree by chance would be picked, and verdicts on identical code be wrong too often.
    `no_progress`: the half width has not shrunk by a fifth while the values became four times as many.
    """
    if not any(sample.phase == "timed" for sample in samples):
        return None
    share_s = (schedule.budget_s - (elapsed_s - visit_elapsed_s)) / max(1, schedule.visits - visit)
    if elapsed_s >= schedule.budget_s or visit_elapsed_s >= share_s:
        return "budget"
    judged = _judged(samples)
    if min(len(series.get(visit, ())) for series in judged) < schedule.quads_min:
        return None
    residuals = [centred(list(series.values())) for series in judged]
    enough = schedule.precision * sqrt(schedule.visits / (visit + 1))
    if all(_is_narrow(values, enough) for values in residuals):
        return "narrow"
    if _groups(samples) >= ceil(schedule.quads_max * (visit + 1) / schedule.visits):
        return "planned"
    return "no_progress" if all(_is_stuck(values, schedule.quads_min) for values in residuals) else None


def _judged(samples: Sequence[Sample]) -> list[dict[int, list[float]]]:
    """What must become narrow, by visit: log ratios of each pair, or log times of each side where there is no pair."""
    ratios = [found for pair in (SIDES, OLD_AND_NEW) if (found := log_ratios(samples, pair))]
    return ratios or [_log_times(samples, side) for side in ALL_SIDES if any(s.side == side for s in samples)]


def _log_times(samples: Sequence[Sample], side: Side) -> dict[int, list[float]]:
    visits: dict[int, list[float]] = {}
    for sample in samples:
        if sample.side == side and sample.phase == "timed" and sample.elapsed_ns > 0:
            visits.setdefault(sample.visit, []).append(log(sample.call_us))
    return visits


def _groups(samples: Sequence[Sample]) -> int:
    return len({(sample.visit, sample.group) for sample in samples if sample.group is not None})


def _is_narrow(values: Sequence[float], precision: float) -> bool:
    width = half_width(values)
    return width is not None and width <= precision


def _is_stuck(values: Sequence[float], first: int) -> bool:
    """At the last doubling of `first` that was reached, against a quarter of it; never below 128 values."""
    reached = first
    while reached * 2 <= len(values):
        reached *= 2
    if reached < max(STUCK_VALUES_MIN, 4 * first):
        return False
    before, now = half_width(values[: reached // 4]), half_width(values[:reached])
    return before is not None and now is not None and now > SHRUNK * before
