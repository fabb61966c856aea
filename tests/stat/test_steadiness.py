"""Times that do not stay what they were."""

from __future__ import annotations

import random
from collections.abc import Callable
from math import exp

import pytest

from msprun.model.measurement import Remark, Sample
from msprun.model.plan import Schedule
from msprun.stat.steadiness import drift, fallback_block, unsteady_warmup, visits_differ

Make = Callable[..., Sample]
Groups = Callable[..., list[Sample]]
Plans = Callable[..., Schedule]


def drifted(make: Make, times: list[float]) -> Remark | None:
    return drift([make("candidate", us, i) for i, us in enumerate(times)], "candidate")


@pytest.mark.parametrize("step", [1.01, 0.99])
def test_a_slow_drift_is_told(step: float, sample: Make) -> None:
    """flashinfer-ai/flashinfer#2899, triton-lang/triton-ascend#350, flagos-ai/FlagTree#751 and #634: clocks fall."""
    seen = drifted(sample, [100 * step**i for i in range(30)])
    assert seen is not None
    assert (seen.code, seen.figures["side"], seen.figures["samples"]) == ("drift", "candidate", 30)
    assert seen.figures["change"] == pytest.approx(step**20 - 1, rel=1e-4)  # thirds lie twenty samples apart


def test_noise_is_seldom_a_drift(sample: Make) -> None:
    rng = random.Random(4)
    assert sum(bool(drifted(sample, [100 * (1 + rng.expovariate(8)) for _ in range(24)])) for _ in range(200)) <= 4


def test_a_small_or_doubtful_drift_is_none(sample: Make) -> None:
    assert drifted(sample, [100.0] * 15 + [104.0] * 15) is None
    assert drifted(sample, [100.0] * 8 + [150.0] * 8) is None  # too few to tell


def test_a_warm_up_that_ends_while_calls_get_faster_says_what_to_type(sample: Make, schedule: Plans) -> None:
    """ROCm/composable_kernel#1241: the clock needs longer to rise than the warm-up lasts."""
    falling = [sample("reference", 400 * 0.98**i, phase="warmup") for i in range(200)]
    seen = unsteady_warmup(falling, "reference", schedule())
    assert seen is not None
    assert (seen.code, seen.figures, seen.next) == (
        "unsteady_warmup", {"side": "reference", "calls": 200}, "warmup=400",
    )  # fmt: skip
    assert unsteady_warmup(falling, "reference", schedule(warmup=200)) is None  # the user's own count
    assert unsteady_warmup(falling[:9], "reference", schedule()) is None  # slow calls: too few to tell
    later = [sample("reference", 400 * 0.98**i, phase="warmup", visit=1) for i in range(200)]
    steady = [sample("reference", 10, phase="warmup")] * 10
    assert unsteady_warmup(steady + later, "reference", schedule()) is None


def test_a_clock_that_sees_nothing_is_told(sample: Make) -> None:
    """triton-lang/triton#8948 and #6868, flagos-ai/FlagTree#1224: an estimate of zero divided the budget."""
    seen = fallback_block([sample("candidate", 0, phase="warmup"), sample("candidate", 5, 0)], "candidate")
    assert seen is not None
    assert (seen.code, seen.figures) == ("fallback_block", {"side": "candidate", "samples": 1})
    assert fallback_block([sample("candidate", 5, 0)], "candidate") is None


def test_visits_that_disagree_are_told_with_their_extremes(groups: Groups) -> None:
    """namecheap/fast_mail_parser#128 and #168: 0.3 % inside a job, 26 % between jobs."""
    ratios = [1.0, 1.02, 1.26]
    samples = [s for v, r in enumerate(ratios) for s in groups([10 * r, 10.01 * r] * 4, [10.0] * 8, visit=v)]
    seen = visits_differ(samples)
    assert seen is not None and seen.code == "visits_differ"
    assert seen.figures["least"] == pytest.approx(1.0005, rel=1e-4)
    assert seen.figures["most"] == pytest.approx(1.2606, rel=1e-4)
    assert seen.figures["visits"] == 3


def test_visits_that_agree_within_their_noise_or_3_percent_are_not(groups: Groups) -> None:
    close = [s for v, r in enumerate([1.0, 1.01, 1.02]) for s in groups([10 * r] * 8, [10.0] * 8, visit=v)]
    assert visits_differ(close) is None
    two = [s for v, r in enumerate([1.0, 1.5]) for s in groups([10 * r] * 8, [10.0] * 8, visit=v)]
    assert visits_differ(two) is None  # two visits cannot tell
    rng = random.Random(5)
    told = 0
    for _ in range(300):
        noisy = [100 * exp(rng.gauss(0, 0.08)) for _ in range(48)]
        visits = [groups(noisy[8 * v : 8 * v + 8], [100.0] * 8, visit=v) for v in range(6)]
        told += visits_differ([s for visit in visits for s in visit]) is not None
    assert told <= 9  # 3 %; chi-squared with five degrees of freedom: less than 1 %
