"""Figures over cases."""

from __future__ import annotations

import random
from collections.abc import Callable
from math import exp, inf, log, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msprun.model.failure import Failure
from msprun.model.measurement import Correctness, Paired, SideResult
from msprun.model.result import Aggregates, CaseRow
from msprun.stat.aggregate import against, aggregates, by_dtype, counts, geomean, geomean_interval, geomean_noise

Rows = Callable[..., CaseRow]
WRONG = Correctness(state="incorrect")
SPEEDUPS = st.lists(st.floats(0.01, 100), min_size=2, max_size=12)


def test_speedups_by_hand(row: Rows) -> None:
    seen = aggregates(
        [row(0, ref_us=10.0, asc_us=10.0), row(1, ref_us=40.0, asc_us=10.0), row(2, ref_us=160.0, asc_us=10.0)]
    )
    assert seen.geomean_speedup == pytest.approx(4)
    assert (seen.mean_speedup, seen.median_speedup, seen.min_speedup, seen.max_speedup) == (7, 4, 1, 16)
    assert (seen.mean_ref_us, seen.median_ref_us, seen.total_ref_us) == (70, 40, 210)
    assert seen.geomean_ref_us == pytest.approx(40)
    assert (seen.mean_asc_us, seen.total_asc_us, seen.total_speedup) == (10, 30, 7)
    assert seen.geomean_low is not None and seen.geomean_high is not None
    assert 1 <= seen.geomean_low < 4 < seen.geomean_high <= 16 * (1 + 1e-12)


def test_wrong_and_one_sided_cases_keep_their_times_but_have_no_speedup(row: Rows) -> None:
    rows = [
        row(0, ref_us=10.0, asc_us=5.0),
        row(1, ref_us=100.0, asc_us=None, status="incorrect", correctness=WRONG),
        row(2, ref_us=None, asc_us=7.0, status="one_sided"),
        row(3, status="skipped", skipped="empty_tensor"),
    ]
    seen = aggregates(rows)
    assert (seen.geomean_speedup, seen.total_ref_us, seen.total_asc_us) == (pytest.approx(2), 110, 12)
    assert seen.total_speedup == 2  # over the one pair
    assert (seen.geomean_low, seen.geomean_high) == (None, None)


def test_a_wrong_case_never_counts_whatever_its_row_says(row: Rows) -> None:
    states = ("incorrect", "dtype_differs", "shape_differs", "non_finite", "input_changed", "nondeterministic")
    rows = [row(i, ref_us=90.0, asc_us=1.0, correctness=Correctness(state=s)) for i, s in enumerate(states)]  # type: ignore[arg-type]
    seen = aggregates([*rows, row(8, ref_us=3.0, asc_us=1.0, correctness=Correctness(state="not_checked"))])
    assert (seen.geomean_speedup, seen.total_speedup) == (pytest.approx(3), 3)


def test_nothing_is_none_and_not_zero(row: Rows) -> None:
    assert aggregates([]) == Aggregates()
    assert aggregates([row(status="failed")]) == Aggregates()
    assert by_dtype([]) == ()


def test_absurd_values_are_left_out(row: Rows) -> None:
    """gpu-mode/reference-kernels#159 and #162: one time near zero made the geometric mean zero."""
    assert geomean([2.0, 8.0, 0.0, -1.0, nan, inf, None]) == pytest.approx(4)
    assert geomean([0.0, nan]) is None
    assert aggregates([row(speedup=inf), row(speedup=nan), row(speedup=0.0)]) == Aggregates()


def test_interval_over_cases_needs_two_and_repeats_itself() -> None:
    assert geomean_interval([3.0]) == (None, None)
    assert geomean_interval([2.0] * 5) == (pytest.approx(2), pytest.approx(2))
    values = [1.0, 1.5, 2.0, 4.0, 0.5, 3.0]
    assert geomean_interval(values) == geomean_interval(values[::-1])


def test_interval_over_cases_is_near_the_normal_one() -> None:
    # Forty log speed-ups, half 0 and half ln 4: sd ln 2, so the mean's error is ln 2 / sqrt 40.
    low, high = geomean_interval([1.0, 4.0] * 20)
    half = 1.96 / 40**0.5
    assert low == pytest.approx(2 ** (1 - half), rel=0.04)
    assert high == pytest.approx(2 ** (1 + half), rel=0.04)


@given(SPEEDUPS)
def test_interval_over_cases_lies_within_them(values: list[float]) -> None:
    low, high = geomean_interval(values)
    assert low is not None and high is not None
    assert min(values) * (1 - 1e-9) <= low <= high <= max(values) * (1 + 1e-9)
    middle = geomean(values)
    assert middle is not None and min(values) * (1 - 1e-9) <= middle <= max(values) * (1 + 1e-9)


def test_noise_of_the_geomean_by_hand() -> None:
    # Half widths of ln 1.3 and ln 1.4 in quadrature, over two cases; bounds of each side apart.
    seen = geomean_noise([spread(2.0, 1.5, 2.6), spread(4.5, 4.0, 6.3)])
    below = (log(2 / 1.5) ** 2 + log(4.5 / 4) ** 2) ** 0.5 / 2
    above = (log(1.3) ** 2 + log(1.4) ** 2) ** 0.5 / 2
    assert seen == (pytest.approx(3 * exp(-below)), pytest.approx(3 * exp(above)))
    assert geomean_noise([spread(2.0, 1.5, 2.6)]) == (pytest.approx(1.5), pytest.approx(2.6))
    assert geomean_noise([]) == geomean_noise([spread(2.0, 1.5, 2.6), None]) == (None, None)
    assert geomean_noise([spread(2.0, None, None)]) == (None, None)


def test_noise_of_the_geomean_covers_it() -> None:
    # Four cases whose log speed-ups are measured with errors of 1, 2, 3 and 4 %.
    rng, hits = random.Random(1), 0
    for _ in range(2000):
        logs = [
            (truth + rng.gauss(0, sd), sd)
            for truth, sd in zip((0.1, 0.5, -0.2, 1.0), (0.01, 0.02, 0.03, 0.04), strict=True)
        ]
        low, high = geomean_noise([spread(exp(m), exp(m - 1.96 * sd), exp(m + 1.96 * sd)) for m, sd in logs])
        assert low is not None and high is not None
        hits += low <= exp(1.4 / 4) <= high
    assert hits / 2000 == pytest.approx(0.95, abs=0.015)


def spread(speedup: float, low: float | None, high: float | None) -> Paired:
    return Paired(speedup=speedup, low=low, high=high, verdict="faster", quads=9)


def test_by_dtype_sorted_with_exactly_one_on_neither_side(row: Rows) -> None:
    rows = [
        row(0, dtype="float32", ref_us=8.0, asc_us=2.0), row(1, dtype="float32", ref_us=1.0, asc_us=1.0),
        row(2, dtype="bfloat16", ref_us=1.0, asc_us=2.0), row(3, dtype="int8", status="failed"),
    ]  # fmt: skip
    half, single = by_dtype(rows)
    assert (half.dtype, half.cases, half.faster, half.slower) == ("bfloat16", 1, 0, 1)
    assert (single.dtype, single.cases, single.faster, single.slower) == ("float32", 2, 1, 0)
    assert (single.geomean_speedup, single.mean_speedup) == (pytest.approx(2), 2.5)


def test_counts_by_status_and_verdict(row: Rows) -> None:
    def pair(verdict: str) -> Paired:
        return Paired(speedup=1.0, low=0.9, high=1.1, verdict=verdict, quads=8)  # type: ignore[arg-type]

    rows = [
        row(0, ref_us=2.0, asc_us=1.0, paired=pair("faster")), row(1, ref_us=1.0, asc_us=2.0, paired=pair("slower")),
        row(2, ref_us=1.0, asc_us=1.0, paired=pair("same")), row(3, ref_us=1.0, asc_us=1.0, paired=pair("unresolved")),
        row(4, status="incorrect", correctness=WRONG, paired=pair("faster")), row(5, status="failed"),
        row(6, status="skipped", skipped="empty_tensor", correctness=Correctness(state="not_checked")),
        row(7, status="pending", correctness=Correctness(state="not_checked")),
        row(8, ref_us=1.0, status="one_sided", correctness=Correctness(state="not_checked")),
        row(9, status="pending"),  # checked, and interrupted before it was timed
    ]  # fmt: skip
    seen = counts(rows)
    assert (seen.total, seen.run, seen.measured) == (10, 7, 4)
    assert (seen.correct, seen.incorrect, seen.failed, seen.skipped) == (5, 1, 1, 1)
    assert (seen.faster, seen.slower, seen.same, seen.unresolved) == (1, 1, 1, 1)


def old(speedup: float, verdict: str, **more: object) -> dict[str, object]:
    pair = Paired(speedup=speedup, low=speedup / 1.1, high=speedup * 1.1, verdict=verdict, quads=9)  # type: ignore[arg-type]
    return {"paired_against": pair, "against_correctness": Correctness(state="correct")} | more


def test_figures_against_an_older_build_by_hand(row: Rows) -> None:
    failed = SideResult(failure=Failure(stage="timing", kind="signal", message="died"))
    rows = [
        row(0, **old(2.0, "faster")),
        row(1, **old(0.5, "slower", status="one_sided", correctness=Correctness(state="not_checked"))),
        row(2, **old(8.0, "faster", against_correctness=WRONG)),
        row(3, **old(9.0, "faster", correctness=WRONG, status="incorrect")),
        row(4, against=failed, against_correctness=Correctness(state="not_checked")),
    ]
    seen = against(rows, "/old")
    assert (seen.folder, seen.cases, seen.geomean_speedup) == ("/old", 2, pytest.approx(1))
    assert (seen.faster, seen.slower, seen.same, seen.unresolved) == (1, 1, 0, 0)
    assert (seen.correct, seen.incorrect, seen.failed) == (3, 1, 1)
    # Two half widths of log 1.1 in quadrature, over two cases.
    assert seen.geomean_noise_high == pytest.approx(exp(2**0.5 * log(1.1) / 2))
    assert (seen.faster_family, against([], "/old").geomean_speedup) == (None, None)
