"""Verdicts on many cases at once."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msprun.model.measurement import Correctness, Paired
from msprun.model.result import CaseRow
from msprun.stat.aggregate import counts
from msprun.stat.family import holm, with_family

Rows = Callable[..., CaseRow]


def pair(p: float | None, verdict: str = "faster") -> Paired:
    return Paired(speedup=1.1, low=1.01, high=1.2, verdict=verdict, quads=9, p=p)  # type: ignore[arg-type]


def test_adjusted_by_hand() -> None:
    # Three values: 3 x 0.01, 2 x 0.03, then the greater of 0.06 and 0.04.
    assert holm([0.04, 0.01, 0.03]) == pytest.approx([0.06, 0.03, 0.06])
    assert holm([0.6, 0.9]) == [1.0, 1.0]
    assert holm([0.02]) == [0.02]
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_rejects_what_the_step_down_procedure_rejects(values: list[float]) -> None:
    rejected = set()
    for rank, index in enumerate(sorted(range(len(values)), key=values.__getitem__)):
        if values[index] * (len(values) - rank) > 0.05:
            break
        rejected.add(index)
    assert {n for n, p in enumerate(holm(values)) if p <= 0.05} == rejected


def test_of_twenty_honest_cases_one_is_called_different_in_five_runs_of_a_hundred() -> None:
    rng = random.Random(1)
    runs = [[rng.random() for _ in range(20)] for _ in range(4000)]
    assert sum(min(run) <= 0.05 for run in runs) / 4000 == pytest.approx(1 - 0.95**20, abs=0.03)
    assert sum(min(holm(run)) <= 0.05 for run in runs) / 4000 == pytest.approx(1 - (1 - 0.05 / 20) ** 20, abs=0.012)


def test_only_cases_with_a_speedup_are_a_family(row: Rows) -> None:
    rows = [
        row(0, ref_us=2.0, asc_us=1.0, paired=pair(0.01)),
        row(1, ref_us=1.0, asc_us=2.0, paired=pair(0.02, "slower")),
        row(2, ref_us=1.0, asc_us=2.0, paired=pair(0.04, "slower")),
        row(3, status="incorrect", correctness=Correctness(state="incorrect"), paired=pair(1e-9)),
        row(4, ref_us=1.0, asc_us=1.0, paired=pair(None, "unresolved")),
        row(5, status="failed"),
    ]
    seen = with_family(rows)
    assert [r.paired.p_family if r.paired else None for r in seen] == [
        pytest.approx(0.03), pytest.approx(0.04), pytest.approx(0.04), None, None, None,
    ]  # fmt: skip
    held = counts(seen)
    assert (held.faster, held.slower, held.faster_family, held.slower_family) == (1, 2, 1, 2)
    assert (counts(rows).faster_family, counts(rows).slower_family) == (None, None)


def test_what_holds_alone_need_not_hold_among_many(row: Rows) -> None:
    rows = [row(n, ref_us=2.0, asc_us=1.0, paired=pair(p)) for n, p in enumerate([0.001, 0.03, 0.03])]
    held = counts(with_family(rows))
    assert (held.faster, held.faster_family, held.slower_family) == (3, 1, 0)


def test_pairs_with_an_older_build_are_a_family_of_their_own(row: Rows) -> None:
    fine = Correctness(state="correct")
    rows = [
        row(0, ref_us=2.0, asc_us=1.0, paired=pair(0.01), paired_against=pair(0.04), against_correctness=fine),
        row(1, ref_us=2.0, asc_us=1.0, paired=pair(0.03), paired_against=pair(0.03), against_correctness=fine),
        row(2, ref_us=2.0, asc_us=1.0, paired=pair(0.02)),
    ]
    found = with_family(rows)
    # 3 x 0.01, then 2 x 0.02 and 1 x 0.03 held up by it; of two 2 x 0.03 for both.
    assert [r.paired.p_family for r in found if r.paired] == pytest.approx([0.03, 0.04, 0.04])
    assert [r.paired_against and r.paired_against.p_family for r in found] == [
        pytest.approx(0.06), pytest.approx(0.06), None,
    ]  # fmt: skip
