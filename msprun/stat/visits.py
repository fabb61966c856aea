"""What the visits of a case say about each other: values are read within a visit, visits are compared."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from math import pi, sqrt

from msprun.stat.interval import median_interval
from msprun.stat.student import student

Visits = Sequence[Sequence[float]]
# Share of the noise within visits that is taken off their spread. All of it makes the interval too short with few
# visits, none of it too wide where visits agree. Half was picked by simulation (tests/stat/test_level.py), not derived.
WITHIN_SHARE = 0.5


def centred(visits: Visits) -> list[float]:
    """Every value less the median of its visit, in order."""
    medians = [statistics.median(visit) if visit else 0.0 for visit in visits]
    return [value - median for visit, median in zip(visits, medians, strict=True) for value in visit]


def half_width(values: Sequence[float]) -> float | None:
    """Half of the 95 % interval of the median, in the unit of the values; None below six values."""
    interval = median_interval(values) if values else None
    if interval is None or interval.low is None or interval.high is None:
        return None
    return (interval.high - interval.low) / 2


def between_visits(visits: Visits, confidence: float = 0.95) -> float:
    """Half width of what the visits disagree about beyond the noise within them, by Student's t; 0 with one visit."""
    error, count = visits_error(visits), sum(map(bool, visits))
    return student(confidence, count - 1) * error if error else 0.0


def visits_error(visits: Visits) -> float:
    """Standard error that visits add by disagreeing beyond the noise within them; 0 with one visit.

    A random effect of the visit by moments (DerSimonian and Laird 1986), to be taken by Student's t for the few visits
    there are (Hartung and Knapp 2001). It is that of a mean over visits, which the median of all values resembles as
    long as visits are about equally long: `stop` takes care of that.
    """
    medians = [statistics.median(visit) for visit in visits if visit]
    if len(medians) < 2:
        return 0.0
    return sqrt(max(0.0, statistics.variance(medians) - WITHIN_SHARE * within_visits(visits)) / len(medians))


def within_visits(visits: Visits) -> float:
    """What the variance of the visits' medians would be if only the noise within them made them differ.

    The noise is 1.4826 MAD, and a median's variance pi/2 of a mean's, both as for a normal distribution.
    """
    scale = 1.4826 * statistics.median(map(abs, centred(visits)))
    return statistics.fmean(pi / 2 * scale**2 / len(visit) for visit in visits if visit)
