"""Figures of one side and of both."""

from __future__ import annotations

import random
from collections.abc import Callable
from math import exp

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from msprun.model.measurement import Sample
from msprun.model.operator import OLD_AND_NEW
from msprun.stat.estimate import call_us, estimate, paired, verdict

Make = Callable[..., Sample]
Groups = Callable[..., list[Sample]]
TIMES = st.lists(st.tuples(st.integers(1000, 10**9), st.integers(1, 50)), min_size=1, max_size=40)


def timed(times: list[tuple[int, int]]) -> list[Sample]:
    return [
        Sample(case=0, side="reference", phase="timed", visit=0, group=None, calls=calls, elapsed_ns=ns)
        for ns, calls in times
    ]


def test_figures_of_one_side_by_hand(sample: Make) -> None:
    times = [10, 20, 30, 40, 50, 60, 70, 80, 90, 1000]
    seen = estimate([sample("reference", us, i) for i, us in enumerate(times)])
    assert seen is not None
    assert (seen.calls, seen.samples, seen.block) == (10, 10, 1)
    assert (seen.median_us, seen.low_us, seen.high_us) == (55, 20, 90)  # ranks 2 and 9 of 10
    assert (seen.mean_us, seen.min_us, seen.p95_us) == (145, 10, 1000)  # rank ceil(9.5) = 10


def test_blocks_count_by_their_calls(sample: Make) -> None:
    seen = estimate([sample("candidate", 2, 0, calls=30), sample("candidate", 6, 0, calls=10)])
    assert seen is not None
    assert (seen.calls, seen.samples, seen.block) == (40, 2, 10)
    assert seen.median_us == 4
    assert seen.mean_us == 3  # 120 us in 40 calls
    assert seen.low_us is None


def test_warm_up_does_not_count(sample: Make) -> None:
    """NVIDIA/nvbench#338 and #340: warm-up was counted."""
    slow = [sample("reference", us, phase="warmup") for us in (30000, 500, 90)]
    steady = [sample("reference", us, i) for i, us in enumerate([12, 12, 11])]
    seen = estimate(slow + steady)
    assert seen == estimate(steady)
    assert seen is not None and (seen.calls, seen.median_us) == (3, 12)
    assert estimate(slow) is None


@given(TIMES, st.randoms(use_true_random=False))
def test_an_estimate_lies_within_its_samples_in_any_order(times: list[tuple[int, int]], rng: random.Random) -> None:
    samples = timed(times)
    seen = estimate(samples)
    assert seen is not None
    each = [s.call_us for s in samples]
    for figure in (seen.median_us, seen.mean_us, seen.p95_us, seen.low_us, seen.high_us):
        assert figure is None or min(each) * (1 - 1e-9) <= figure <= max(each) * (1 + 1e-9)
    assert estimate(rng.sample(samples, len(samples))) == seen


def test_a_call_takes_what_the_last_samples_took(sample: Make) -> None:
    samples = [sample("reference", us, phase="warmup") for us in (900, 800, 7, 5, 6, 4, 3)]
    assert call_us(samples) == 5
    assert call_us(samples[:2]) == 850
    assert call_us([]) == 0


def test_speedup_is_the_median_ratio_of_the_groups(groups: Groups) -> None:
    pair = paired(groups([20, 30, 40, 50, 60, 70], [10] * 6), "interleaved")
    assert pair is not None
    assert pair.speedup == pytest.approx((4 * 5) ** 0.5)  # between the logs of 4 and 5
    assert (pair.low, pair.high) == (pytest.approx(2), pytest.approx(7))  # six groups: least and most
    assert (pair.verdict, pair.quads) == ("faster", 6)


def test_the_least_block_of_a_quad_stands_for_its_side(sample: Make) -> None:
    quad = [sample(side, us, 0) for side, us in
            [("reference", 500), ("candidate", 10), ("candidate", 800), ("reference", 30)]]  # fmt: skip
    pair = paired(quad, "interleaved")
    assert pair is not None and pair.speedup == pytest.approx(3)
    assert (pair.low, pair.high, pair.verdict, pair.quads) == (None, None, "unresolved", 1)


def test_groups_of_different_visits_are_different_groups(sample: Make) -> None:
    samples = [sample("reference", 10, 0, visit=0), sample("candidate", 5, 0, visit=1)]
    pair = paired(samples, "interleaved")
    assert pair is not None
    assert (pair.speedup, pair.verdict, pair.quads) == (None, "unresolved", 0)


def test_one_side_alone_has_no_pair(sample: Make) -> None:
    assert paired([sample("reference", 10, 0)], "interleaved") is None
    warm = sample("candidate", 10, phase="warmup")
    assert paired([sample("reference", 10, 0), warm], "interleaved") is None


def test_five_groups_are_unresolved_however_clear(groups: Groups) -> None:
    pair = paired(groups([100] * 5, [10] * 5), "interleaved")
    assert pair is not None
    assert (pair.speedup, pair.low, pair.high, pair.verdict) == (pytest.approx(10), None, None, "unresolved")


def test_equal_times_keep_half_a_percent(groups: Groups) -> None:
    pair = paired(groups([10] * 8, [10] * 8), "interleaved")
    assert pair is not None
    assert (pair.speedup, pair.verdict) == (1, "same")
    assert (pair.low, pair.high) == (pytest.approx(exp(-0.005)), pytest.approx(exp(0.005)))
    slight = paired(groups([10.04] * 50, [10] * 50), "interleaved")
    assert slight is not None and slight.verdict == "same"  # 0.4 %: less than a harness can tell


def test_sequential_order_has_a_speedup_but_no_verdict(groups: Groups) -> None:
    pair = paired(groups([20] * 30, [10] * 30), "sequential")
    assert pair is not None
    assert (pair.speedup, pair.low, pair.high, pair.verdict) == (pytest.approx(2), None, None, "unresolved")


def test_visits_that_disagree_widen_the_interval(groups: Groups) -> None:
    ratios = [1.02, 1.05, 1.08]
    together = [10 * ratio for ratio in ratios for _ in range(10)]
    one_visit = paired(groups(together, [10] * 30), "interleaved")
    apart = [s for v, ratio in enumerate(ratios) for s in groups([10 * ratio] * 10, [10] * 10, visit=v)]
    three = paired(apart, "interleaved")
    assert one_visit is not None and three is not None
    assert one_visit.verdict == "faster"
    assert three.speedup == pytest.approx(one_visit.speedup)
    assert three.verdict == "unresolved"  # t with two degrees of freedom: 1.05 +- 7 %


@given(
    st.lists(st.tuples(*[st.integers(1000, 10**8)] * 2), min_size=6, max_size=40),
    st.randoms(use_true_random=False),
)
def test_swapping_the_sides_inverts_the_speedup(times: list[tuple[int, int]], rng: random.Random) -> None:
    def made(first: str, second: str) -> list[Sample]:
        fields = {"case": 0, "phase": "timed", "calls": 1}
        return [
            Sample(side=side, elapsed_ns=ns, group=i, visit=i % 2, **fields)  # type: ignore[arg-type]
            for i, both in enumerate(times)
            for side, ns in zip((first, second), both, strict=True)
        ]

    samples = made("reference", "candidate")
    pair, swapped = paired(samples, "interleaved"), paired(made("candidate", "reference"), "interleaved")
    assert pair is not None and pair.speedup and pair.low and pair.high
    assert swapped is not None and swapped.speedup and swapped.low and swapped.high
    assert swapped.speedup * pair.speedup == pytest.approx(1)
    assert swapped.low * pair.high == pytest.approx(1)
    assert {pair.verdict, swapped.verdict} in ({"faster", "slower"}, {"same"}, {"unresolved"})
    assert pair.low < pair.speedup < pair.high
    slow = [replace(s, elapsed_ns=s.elapsed_ns * 8) for s in rng.sample(samples, len(samples))]
    scaled = paired(slow, "interleaved")
    assert scaled is not None and scaled.speedup == pytest.approx(pair.speedup)
    assert scaled.low == pytest.approx(pair.low)


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (1.001, 1.5, "faster"), (0.5, 0.999, "slower"), (0.99, 1.01, "same"), (0.985, 1.0, "same"),
        (0.99, 1.035, "unresolved"), (0.97, 1.01, "unresolved"), (None, None, "unresolved"),
    ],
)  # fmt: skip
def test_verdict_of_an_interval(low: float | None, high: float | None, said: str) -> None:
    assert verdict(low, high) == said


def test_the_same_groups_tell_the_candidate_from_both_other_sides(sample: Make) -> None:
    # Old over new by group: 12/8, 15/10, 18/12, 9/6, 30/20, 3/2: all 1.5; reference over new is 2.
    new = [8, 10, 12, 6, 20, 2]
    samples = [
        sample(side, share * us, group)
        for group, us in enumerate(new)
        for side, share in (("reference", 2), ("against", 1.5), ("candidate", 1), ("against", 4))
    ]
    old, known = paired(samples, "interleaved", OLD_AND_NEW), paired(samples, "interleaved")
    assert old is not None and known is not None
    assert (old.speedup, old.quads, old.verdict) == (pytest.approx(1.5), 6, "faster")
    assert (old.low, old.high) == (pytest.approx(1.5 * exp(-0.005)), pytest.approx(1.5 * exp(0.005)))
    assert known.speedup == pytest.approx(2)
    assert paired([s for s in samples if s.side != "against"], "interleaved", OLD_AND_NEW) is None
    assert paired([s for s in samples if s.side != "candidate"], "interleaved") is None
