"""Which session serves what."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msprun.batches import Batch, Cost, batches
from msprun.model.operator import Side

BOTH: tuple[Side, ...] = ("reference", "candidate")


def test_twenty_cases_take_two_sessions_of_ten() -> None:
    made = batches(range(20), BOTH, "shared", "msprof")
    assert made == (
        Batch(cases=tuple(range(10)), sides=BOTH),
        Batch(cases=tuple(range(10, 20)), sides=BOTH),
    )


def test_a_clock_needs_no_session_beside_the_check() -> None:
    assert batches(range(20), BOTH, "shared", None) == ()


@pytest.mark.parametrize("collector", [None, "msprof"])
def test_apart_whole_sessions_alternate(collector: str | None) -> None:
    made = batches([4, 7], BOTH, "side", collector)
    assert [(b.cases, b.sides[0], b.visit) for b in made] == [
        ((4, 7), "reference", 0),
        ((4, 7), "candidate", 0),
        ((4, 7), "candidate", 1),
        ((4, 7), "reference", 1),
    ]


def test_a_case_by_itself_takes_four_sessions_of_one_side() -> None:
    made = batches([4, 7], BOTH, "case", "msprof")
    assert [(b.cases, b.sides[0]) for b in made] == [
        ((case,), side) for case in (4, 7) for side in ("reference", "candidate", "candidate", "reference")
    ]


def test_nothing_to_do_is_no_session() -> None:
    assert all(batches([], BOTH, isolation, "msprof") == () for isolation in ("shared", "side", "case"))


@given(st.integers(0, 200))
def test_every_case_is_served_once_by_sessions_of_about_equal_length(count: int) -> None:
    parts = [batch.cases for batch in batches(range(count), BOTH, "shared", "msprof")]
    assert [case for part in parts for case in part] == list(range(count))
    assert all(len(part) <= 16 for part in parts)
    assert len(parts) == -(-count // 16)


def test_a_session_that_would_take_too_long_is_parted() -> None:
    slow = {case: Cost(seconds=100.0, rows=10) for case in range(5)}  # two of them fit into four minutes
    assert [b.cases for b in batches(range(5), BOTH, "shared", "msprof", slow)] == [(0, 1), (2, 3), (4,)]


def test_a_session_of_too_many_rows_is_parted() -> None:
    many = {case: Cost(seconds=1.0, rows=rows) for case, rows in enumerate((90_000, 90_000, 90_000, 300_000, 1))}
    # 180,000 fit into 200,000; what is too large by itself has a session of its own.
    assert [b.cases for b in batches(range(5), BOTH, "shared", "msprof", many)] == [(0, 1), (2,), (3,), (4,)]


def test_both_sides_of_a_part_are_served_before_the_next() -> None:
    slow = {case: Cost(seconds=200.0, rows=10) for case in range(2)}
    made = batches(range(2), BOTH, "side", "msprof", slow)
    assert [(b.cases, b.sides[0]) for b in made] == [
        ((case,), side) for case in range(2) for side in ("reference", "candidate", "candidate", "reference")
    ]
