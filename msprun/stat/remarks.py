"""What the samples of a case say that a reader must know."""

from __future__ import annotations

from collections.abc import Sequence

from msprun.model.measurement import Paired, Remark, Sample
from msprun.model.operator import SIDES, Side
from msprun.model.plan import Schedule
from msprun.stat.interval import median_interval

GROUPS_MIN = 6
DRIFT = 0.05
# A third needs six samples to have an interval of its own.
DRIFT_SAMPLES_MIN = 18


def case_remarks(samples: Sequence[Sample], pair: Paired | None, schedule: Schedule) -> tuple[Remark, ...]:
    """few_samples, sequential_order and drift, as far as they hold; `pair` is None for one side alone."""
    found = [_few_samples(samples, pair, schedule), _sequential_order(pair, schedule)]
    found += [_drift(samples, side) for side in SIDES]
    return tuple(remark for remark in found if remark is not None)


def _few_samples(samples: Sequence[Sample], pair: Paired | None, schedule: Schedule) -> Remark | None:
    """Fewer groups, or samples of a single side, than an interval takes."""
    seen = pair.quads if pair else sum(sample.phase == "timed" for sample in samples)
    if seen >= GROUPS_MIN:
        return None
    step = f"budget_s={4 * schedule.budget_s:g}" if schedule.repeats is None else "repeats=auto"
    return Remark(code="few_samples", figures={"seen": seen, "needed": GROUPS_MIN}, next=step)


def _sequential_order(pair: Paired | None, schedule: Schedule) -> Remark | None:
    """One side after the other: drift is not cancelled, so there is no verdict."""
    if pair is None or schedule.order != "sequential":
        return None
    return Remark(code="sequential_order", next="order=interleaved")


def _drift(samples: Sequence[Sample], side: Side) -> Remark | None:
    """The last third of a side's samples differs from the first by more than 5 %, and their intervals do not meet."""
    times = [sample.call_us for sample in samples if sample.side == side and sample.phase == "timed"]
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
