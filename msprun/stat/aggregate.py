"""Figures over cases."""

from __future__ import annotations

import random
import statistics
from collections.abc import Iterable, Sequence
from math import exp, isfinite, log, sqrt
from typing import get_args

from msprun.model.measurement import RIGHT, Paired, Verdict
from msprun.model.result import Against, Aggregates, CaseRow, Counts, DtypeAggregate

RESAMPLES = 1000
LEVEL = 0.05


def aggregates(rows: Sequence[CaseRow]) -> Aggregates:
    """Speed-ups over measured cases that are correct or were not checked; times over the rows that have them.

    Sums compare like with like: `total_speedup` is over the cases that have a speed-up. None where there is nothing.
    """
    counted = [row for row in rows if usable_speedup(row) is not None]
    speedups = [s for row in counted if (s := usable_speedup(row)) is not None]
    low, high = geomean_interval(speedups)
    noise_low, noise_high = geomean_noise([row.paired for row in counted])
    reference = _usable(row.ref_us for row in rows)
    candidate = _usable(row.asc_us for row in rows)
    paired_ref = _usable(row.ref_us for row in counted)
    paired_asc = _usable(row.asc_us for row in counted)
    return Aggregates(
        geomean_speedup=geomean(speedups),
        mean_speedup=statistics.fmean(speedups) if speedups else None,
        median_speedup=statistics.median(speedups) if speedups else None,
        min_speedup=min(speedups, default=None),
        max_speedup=max(speedups, default=None),
        geomean_low=low,
        geomean_high=high,
        geomean_noise_low=noise_low,
        geomean_noise_high=noise_high,
        mean_ref_us=statistics.fmean(reference) if reference else None,
        median_ref_us=statistics.median(reference) if reference else None,
        geomean_ref_us=geomean(reference),
        total_ref_us=sum(reference) if reference else None,
        mean_asc_us=statistics.fmean(candidate) if candidate else None,
        median_asc_us=statistics.median(candidate) if candidate else None,
        geomean_asc_us=geomean(candidate),
        total_asc_us=sum(candidate) if candidate else None,
        total_speedup=sum(paired_ref) / sum(paired_asc) if paired_asc and paired_ref else None,
    )


def geomean(values: Iterable[float | None]) -> float | None:
    """The geometric mean of what is positive and finite; None when nothing is."""
    logs = [log(value) for value in _usable(values)]
    return exp(statistics.fmean(logs)) if logs else None


def geomean_interval(values: Iterable[float | None]) -> tuple[float | None, float | None]:
    """95 % percentile bootstrap over cases (Efron 1979), seeded: the same values give the same bounds.

    How far the geometric mean depends on which cases were chosen, not the noise of a case. None below two cases.
    """
    logs = sorted(log(value) for value in _usable(values))
    if len(logs) < 2:
        return None, None
    rng = random.Random(0)
    means = sorted(statistics.fmean(rng.choices(logs, k=len(logs))) for _ in range(RESAMPLES))
    tail = round(RESAMPLES * 0.025)
    return exp(means[tail - 1]), exp(means[-tail])


def geomean_noise(pairs: Sequence[Paired | None]) -> tuple[float | None, float | None]:
    """95 % interval of the geometric mean of these very cases' paired speed-ups: the noise of measuring them.

    The cases' own half widths on the log scale, added in quadrature as those of independent measurements, over their
    number. None where a case has no interval.
    """
    logs, below, above = [], 0.0, 0.0
    for pair in pairs:
        if pair is None or not pair.speedup or not pair.low or not pair.high:
            return None, None
        logs.append(log(pair.speedup))
        below += log(pair.speedup / pair.low) ** 2
        above += log(pair.high / pair.speedup) ** 2
    if not logs:
        return None, None
    middle = statistics.fmean(logs)
    return exp(middle - sqrt(below) / len(logs)), exp(middle + sqrt(above) / len(logs))


def by_dtype(rows: Sequence[CaseRow]) -> tuple[DtypeAggregate, ...]:
    """By dtype label, sorted. `faster` and `slower` count speed-ups above and below 1, as the old report did."""
    groups: dict[str, list[float]] = {}
    for row in rows:
        if (speedup := usable_speedup(row)) is not None:
            groups.setdefault(row.dtype, []).append(speedup)
    return tuple(_of_dtype(dtype, speedups) for dtype, speedups in sorted(groups.items()))


def counts(rows: Sequence[CaseRow]) -> Counts:
    """How many cases ended how; `faster` to `unresolved` by the verdicts of measured cases.

    `faster_family` and `slower_family` are those of them that hold with all cases in view (`family`); None where no
    row has been adjusted.
    """

    def ended(*status: str) -> int:
        return sum(row.status in status for row in rows)

    pairs = [pair for row in rows if (pair := usable_pair(row)) is not None]
    return Counts(
        total=len(rows),
        run=len(rows) - ended("skipped", "pending"),
        measured=ended("measured"),
        correct=sum(row.correctness.state == "correct" and row.status != "pending" for row in rows),
        incorrect=ended("incorrect"),
        failed=ended("failed"),
        skipped=ended("skipped"),
        **_verdicts(pairs),
        faster_family=_held(pairs, "faster"),
        slower_family=_held(pairs, "slower"),
    )


def against(rows: Sequence[CaseRow], folder: str) -> Against:
    """The candidate against the older build in `folder`, by the paired speed-ups of the cases that have one."""
    pairs = [pair for row in rows if (pair := usable_old_pair(row)) is not None]
    speedups = [pair.speedup for pair in pairs]
    low, high = geomean_interval(speedups)
    noise_low, noise_high = geomean_noise(pairs)
    return Against(
        folder=folder,
        cases=len(pairs),
        geomean_speedup=geomean(speedups),
        geomean_low=low,
        geomean_high=high,
        geomean_noise_low=noise_low,
        geomean_noise_high=noise_high,
        **_verdicts(pairs),
        faster_family=_held(pairs, "faster"),
        slower_family=_held(pairs, "slower"),
        correct=sum(r.against_correctness is not None and r.against_correctness.state == "correct" for r in rows),
        incorrect=sum(map(is_old_wrong, rows)),
        failed=sum(row.against is not None and row.against.failure is not None for row in rows),
    )


def _verdicts(pairs: Sequence[Paired]) -> dict[Verdict, int]:
    return {verdict: sum(pair.verdict == verdict for pair in pairs) for verdict in get_args(Verdict)}


def _held(pairs: Sequence[Paired], verdict: Verdict) -> int | None:
    families = [pair for pair in pairs if pair.p_family is not None]
    return sum(p.verdict == verdict and (p.p_family or 0.0) <= LEVEL for p in families) if families else None


def _of_dtype(dtype: str, speedups: Sequence[float]) -> DtypeAggregate:
    return DtypeAggregate(
        dtype=dtype,
        cases=len(speedups),
        geomean_speedup=exp(statistics.fmean(map(log, speedups))),
        mean_speedup=statistics.fmean(speedups),
        faster=sum(speedup > 1 for speedup in speedups),
        slower=sum(speedup < 1 for speedup in speedups),
    )


def usable_speedup(row: CaseRow) -> float | None:
    """The speed-up of a row that counts: measured, and neither wrong nor absurd."""
    counts_here = row.status == "measured" and row.correctness.state in RIGHT
    usable = _usable([row.speedup]) if counts_here else []
    return usable[0] if usable else None


def usable_pair(row: CaseRow) -> Paired | None:
    """The pair of reference and candidate of a row whose speed-up counts."""
    return row.paired if usable_speedup(row) is not None else None


def usable_old_pair(row: CaseRow) -> Paired | None:
    """The pair of older build and candidate of a row that counts: it has a speed-up, and neither is wrong."""
    pair = row.pair_of_builds
    return pair if pair is not None and pair.speedup is not None else None


def is_old_wrong(row: CaseRow) -> bool:
    """The outputs of the older build were compared and differ."""
    return row.against_correctness is not None and row.against_correctness.state not in RIGHT


def _usable(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None and isfinite(value) and value > 0]
