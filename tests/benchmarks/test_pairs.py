"""Timing in turn, and its arithmetic."""

from __future__ import annotations

import pytest

from benchmarks.pairs import count, difference, interleaved, ratio


def test_contenders_run_in_turn_and_are_announced() -> None:
    ran: list[tuple[str, int]] = []
    said: list[str] = []

    def contender(name: str, seconds: float):
        def work(number: int) -> float:
            ran.append((name, number))
            return seconds + number

        return work

    seconds = interleaved({"a": contender("a", 1.0), "b": contender("b", 5.0)}, 2, said.append)
    assert ran == [("a", 0), ("b", 0), ("a", 1), ("b", 1)]
    assert seconds == {"a": (1.0, 2.0), "b": (5.0, 6.0)}
    assert said == ["round 1 of 2: a", "round 1 of 2: b", "round 2 of 2: a", "round 2 of 2: b"]


def test_a_ratio_is_the_median_of_the_rounds_and_stands_beside_that_of_all_medians_and_of_the_fastest() -> None:
    figure = ratio((3.0, 9.0, 4.0), (2.0, 3.0, 1.0))
    assert figure.rounds == (1.5, 3.0, 4.0)
    assert figure.value == 3.0
    assert figure.of_medians == 2.0  # 4 / 2
    assert figure.of_fastest == 3.0  # 3 / 1
    assert (figure.low, figure.high) == (1.5, 4.0)


def test_a_difference_is_in_seconds() -> None:
    figure = difference((0.3, 0.5), (0.1, 0.1))
    assert figure.value == pytest.approx(0.3)  # between 0.2 and 0.4
    assert figure.of_medians == pytest.approx(0.3)  # 0.4 - 0.1
    assert figure.of_fastest == pytest.approx(0.2)
    assert figure.rounds == pytest.approx((0.2, 0.4))


def test_a_count_is_the_most_of_any_round() -> None:
    figure = count((2, 4, 2))
    assert (figure.value, figure.of_medians, figure.of_fastest, figure.rounds) == (4, 2, 2, (2, 4, 2))


def test_a_load_that_comes_and_goes_does_not_move_a_ratio_of_two() -> None:
    load = (1.0, 1.0, 3.0, 2.5, 1.0)
    assert ratio([2 * x for x in load], load).rounds == (2.0,) * 5


def test_rounds_must_be_complete() -> None:
    with pytest.raises(ValueError):
        ratio((1.0, 2.0), (1.0,))
