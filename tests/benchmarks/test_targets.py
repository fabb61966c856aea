"""The words for a figure that holds its target or misses it."""

from __future__ import annotations

import pytest

from benchmarks import answers, first_session, on_npu, tables, twenty_cases
from benchmarks.pairs import Figure
from benchmarks.place import Place
from benchmarks.targets import TARGETS, Target, keeps, verdict

AT_MOST = Target(row=1, what="w", mine="a", theirs="b", limit=1.5)
AT_LEAST = Target(row=1, what="w", mine="a", theirs="b", bound="at least", limit=20)


@pytest.mark.parametrize(
    ("target", "value", "rounds", "words"),
    [
        (AT_MOST, 1.2, (1.1, 1.3), "holds"),
        (AT_MOST, 1.5, (1.5, 1.5), "holds"),
        (AT_MOST, 1.68, (1.6, 1.7), "misses by 12 %"),
        (AT_MOST, 1.4, (1.4, 1.6, 1.3), "holds (2 of 3 rounds)"),
        (AT_MOST, 1.8, (1.4, 1.9, 1.8), "misses by 20 % (1 of 3 rounds)"),
        (AT_MOST, 1.501, (1.501,), "misses by 1 %"),
        (AT_LEAST, 25.0, (24.0, 26.0), "holds"),
        (AT_LEAST, 15.0, (14.0, 16.0), "misses by 25 %"),
    ],
)
def test_verdicts(target: Target, value: float, rounds: tuple[float, ...], words: str) -> None:
    assert verdict(Figure(value=value, of_medians=value, of_fastest=value, rounds=rounds), target) == words


def test_a_difference_below_zero_is_no_miss() -> None:
    target = Target(row=6, what="w", mine="a", theirs="b", measure="difference", limit=0.3)
    assert keeps(-0.1, target)


def test_every_target_has_its_contenders(tmp_path) -> None:
    place = Place(tmp_path, ("python",), ("msprun",))
    known = {
        1: {*twenty_cases.contenders(place)},
        2: {"npu sessions", "npu check workers", "npu compare sessions"},
        3: {*on_npu.contenders(place), *on_npu.allowances({"npu msprof": (), "npu check": ()})},
        4: {*tables.contenders(place)},
        5: {*answers.contenders(place)},
        6: {*first_session.contenders(place)},
    }
    for target in TARGETS:
        assert {target.mine, target.theirs} - {None} <= known[target.row]
        assert (target.theirs is None) == (target.measure == "count")
