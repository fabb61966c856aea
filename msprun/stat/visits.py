"""What the visits of a case say about each other: values are read within a visit, visits are compared."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from math import asin, pi, sqrt

from msgspec import Struct

from msprun.stat.interval import median_interval

Visits = Sequence[Sequence[float]]
# Share of the noise within visits that is taken off their spread. All of it makes the interval too short with few
# visits, none of it too wide where visits agree. Half was picked by simulation (tests/stat/test_level.py), not derived.
WITHIN_SHARE = 0.5
# Variance of the median of k normal values over that of their mean (from the moments of order statistics; David and
# Nagaraja, Order Statistics, 8.3); for ever more values it tends to pi / 2.
MEDIAN_OVER_MEAN = {2: 1.0, 3: 1.346, 4: 1.192, 5: 1.434, 6: 1.288, 7: 1.473, 8: 1.346}


class Spread(Struct, frozen=True, kw_only=True):
    """What visits do to the median of all values, in the unit of the values.

    `error` is the standard error that they add by disagreeing, to be taken by Student's t with `degrees` of freedom.
    `noise` is the part (0 to 1) of the order-statistic interval that is left to the noise within visits.
    """

    error: float
    noise: float
    degrees: int


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


def visits_spread(visits: Visits) -> Spread:
    """How the uncertainty of the median of all values is made up of noise within visits and of their disagreement.

    A random effect of the visit by moments (DerSimonian and Laird 1986), taken by Student's t for the few visits there
    are (Hartung and Knapp 2001). That is the error of a mean over visits. The median m of n values in k equally long
    visits (`stop` takes care of that) solves mean F(m - b_i) = 1/2, where F is the distribution within a visit and b_i
    its effect. With normal noise of variance s and effects of variance t, Var F(b) = asin(r) / 2 pi where
    r = t / (s + t), and the density at the median is 1 / sqrt(2 pi (s + t)); so by the usual expansion

        Var m = (s + t) asin(r) / k  +  (s + t) (pi / 2 - asin(r)) / n.

    The first term is asin(r) / r times the variance t / k of the mean over visits, at most that of the median of k
    effects. The second is 1 - 2 asin(r) / pi of what an interval assumes that takes all n values as independent.
    """
    medians = [statistics.median(visit) for visit in visits if visit]
    count = len(medians)
    excess = statistics.variance(medians) - WITHIN_SHARE * within_visits(visits) if count > 1 else 0.0
    if excess <= 0:
        return Spread(error=0.0, noise=1.0, degrees=count - 1)
    share = excess / (excess + _scale(visits) ** 2)
    inflation = min(asin(share) / share, MEDIAN_OVER_MEAN.get(count, pi / 2))
    return Spread(
        error=sqrt(inflation * excess / count), noise=sqrt(max(0.0, 1 - 2 * asin(share) / pi)), degrees=count - 1
    )


def within_visits(visits: Visits) -> float:
    """What the variance of the visits' medians would be if only the noise within them made them differ.

    A median's variance is pi/2 of a mean's, as for a normal distribution.
    """
    scale = _scale(visits)
    return statistics.fmean(pi / 2 * scale**2 / len(visit) for visit in visits if visit)


def _scale(visits: Visits) -> float:
    """The noise of one value within its visit: 1.4826 MAD, which is the standard deviation of a normal distribution."""
    return 1.4826 * statistics.median(map(abs, centred(visits)))
