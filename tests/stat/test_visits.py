"""What visits say about each other."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msprun.stat.visits import between_visits, centred, half_width

VISITS = st.lists(st.lists(st.floats(-1, 1), min_size=1, max_size=9), min_size=1, max_size=4)


def test_centred_values_by_hand() -> None:
    assert centred([[1, 2, 9], [], [10, 30]]) == [-1, 0, 7, -10, 10]


def test_half_width_needs_six_values() -> None:
    assert half_width([]) is None
    assert half_width([1, 2, 3, 4, 5]) is None
    assert half_width([1, 2, 3, 4, 5, 9]) == 4


def test_spread_of_quiet_visits_is_that_of_students_t() -> None:
    visits = [[0.01] * 5, [0.02] * 5, [0.03] * 5]
    assert between_visits(visits) == pytest.approx(4.3027 * 0.01 / 3**0.5, rel=1e-4)
    assert between_visits(visits[:2]) == pytest.approx(12.706 * 0.005, rel=1e-4)  # sd of two = distance / sqrt 2
    assert between_visits(visits, 0.99) == pytest.approx(9.9248 * 0.01 / 3**0.5, rel=1e-4)


def test_one_visit_has_nothing_to_disagree_with() -> None:
    assert between_visits([[1.0, 2.0, 3.0]]) == 0
    assert between_visits([]) == 0


def test_visits_that_differ_less_than_their_noise_add_nothing() -> None:
    noisy = [-0.3, -0.2, -0.1, 0.0, 0.1, 0.2, 0.3]
    assert between_visits([noisy, [v + 0.01 for v in noisy], [v - 0.01 for v in noisy]]) == 0


@given(VISITS, st.floats(-2, 2))
def test_a_common_shift_changes_nothing(visits: list[list[float]], shift: float) -> None:
    moved = [[value + shift for value in visit] for visit in visits]
    assert between_visits(moved) == pytest.approx(between_visits(visits), abs=1e-6)
