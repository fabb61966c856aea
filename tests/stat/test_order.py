"""Exact counts, and no side with a place of its own."""

from __future__ import annotations

import random
from collections import Counter
from itertools import permutations
from typing import Literal

import pytest

from msprun.model.operator import ALL_SIDES, SIDES, Side
from msprun.stat import order

A, B = SIDES
ORDERS: list[Literal["interleaved", "sequential"]] = ["interleaved", "sequential"]


def test_a_quad_is_abba_or_baab_by_chance() -> None:
    """sharkdp/hyperfine#21 and #483, flashinfer-ai/flashinfer#2899: the compared sides take turns, and places."""
    rng = random.Random(3)
    seen = Counter(order.quad(SIDES, rng, "interleaved") for _ in range(1000))
    assert set(seen) == {(A, B, B, A), (B, A, A, B)}
    assert 440 < seen[(A, B, B, A)] < 560  # 500 +- 3.8 standard deviations


def test_a_seed_repeats_its_order() -> None:
    one, two = random.Random(5), random.Random(5)
    assert [order.quad(SIDES, one, "interleaved") for _ in range(9)] == [
        order.quad(SIDES, two, "interleaved") for _ in range(9)
    ]


def test_a_sequential_quad_and_one_of_a_single_side() -> None:
    assert order.quad(SIDES, random.Random(0), "sequential") == (A, A, B, B)
    assert order.quad((B,), random.Random(0), "interleaved") == (B, B, B, B)


def test_pairs_alternate_who_begins() -> None:
    """nooga/let-go#705, sharkdp/hyperfine#21 and #483: the order of A and B decided the winner."""
    assert order.pairs(SIDES, 3, "interleaved") == [(A, 0), (B, 0), (B, 1), (A, 1), (A, 2), (B, 2)]
    assert order.pairs(SIDES, 2, "sequential") == [(A, 0), (A, 1), (B, 0), (B, 1)]
    assert order.pairs((B,), 2, "interleaved") == [(B, 0), (B, 1)]


def test_warm_up_by_hand() -> None:
    assert order.warmup(SIDES, 2, "interleaved") == [A, B, A, B]
    assert order.warmup(SIDES, 2, "sequential") == [A, A, B, B]
    assert order.warmup((A,), 3, "sequential") == [A, A, A]


@pytest.mark.parametrize("how", ORDERS)
@pytest.mark.parametrize("sides", [ALL_SIDES, SIDES, (A,), (B,)])
@pytest.mark.parametrize("count", [0, 1, 2, 7, 50])
def test_counts_are_exact_for_each_side(
    count: int, sides: tuple[Side, ...], how: Literal["interleaved", "sequential"]
) -> None:
    wanted = dict.fromkeys(sides, count) if count else {}
    assert Counter(side for side, _ in order.pairs(sides, count, how)) == wanted
    assert Counter(order.warmup(sides, count, how)) == wanted
    assert {group for _, group in order.pairs(sides, count, how)} == set(range(count))


THREE = ALL_SIDES
C: Side = "against"


def test_a_sextet_is_a_half_and_its_mirror_in_each_of_the_six_orders_alike() -> None:
    rng = random.Random(3)
    seen = Counter(order.quad(THREE, rng, "interleaved") for _ in range(6000))
    assert set(seen) == {(*half, *half[::-1]) for half in permutations(THREE)}
    assert all(890 < count < 1110 for count in seen.values())  # 1000 +- 3.8 standard deviations


def test_a_side_of_a_sextet_stands_as_early_as_it_stands_late() -> None:
    rng = random.Random(4)
    for _ in range(50):
        sextet = order.quad(THREE, rng, "interleaved")
        assert {side: sum(place for place, one in enumerate(sextet) if one == side) for side in THREE} == {
            A: 5, B: 5, C: 5,
        }  # fmt: skip


def test_six_groups_of_three_calls_have_each_side_twice_in_each_place() -> None:
    groups = order.pairs(THREE, 6, "interleaved")
    rows = [tuple(side for side, group in groups if group == number) for number in range(6)]
    assert rows == [(A, B, C), (C, B, A), (B, C, A), (A, C, B), (C, A, B), (B, A, C)]
    for place in range(3):
        assert Counter(row[place] for row in rows) == {A: 2, B: 2, C: 2}
    assert order.quad(THREE, random.Random(0), "sequential") == (A, A, B, B, C, C)
    assert order.warmup(THREE, 2, "interleaved") == [A, B, C, A, B, C]
