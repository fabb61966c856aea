"""What a reader must know about the samples."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from msprun.model.measurement import Sample
from msprun.model.plan import Schedule
from msprun.stat.estimate import paired
from msprun.stat.remarks import case_remarks

Make = Callable[..., Sample]
Groups = Callable[..., list[Sample]]
Plans = Callable[..., Schedule]


def codes(samples: list[Sample], plan: Schedule) -> list[str]:
    return [remark.code for remark in case_remarks(samples, paired(samples, plan.order), plan)]


def test_steady_samples_need_no_remark(groups: Groups, schedule: Plans) -> None:
    assert codes(groups([10] * 30, [5] * 30), schedule()) == []


def test_few_groups_say_what_to_type(groups: Groups, schedule: Plans) -> None:
    samples = groups([10] * 5, [5] * 5)
    (explicit,) = case_remarks(samples, paired(samples, "interleaved"), schedule(repeats=5))
    assert (explicit.code, explicit.figures, explicit.next) == ("few_samples", {"seen": 5, "needed": 6}, "repeats=auto")
    (auto,) = case_remarks(samples, paired(samples, "interleaved"), schedule())
    assert auto.next == "budget_s=8"
    assert codes(groups([10] * 6, [5] * 6), schedule(repeats=6)) == []


def test_few_samples_of_one_side(sample: Make, schedule: Plans) -> None:
    assert codes([sample("reference", 10, i) for i in range(5)], schedule(repeats=5)) == ["few_samples"]
    assert codes([sample("reference", 10, i) for i in range(6)], schedule(repeats=6)) == []


def test_sequential_order_is_said(groups: Groups, schedule: Plans, sample: Make) -> None:
    assert codes(groups([10] * 9, [5] * 9), schedule(order="sequential")) == ["sequential_order"]
    assert codes([sample("reference", 10, i) for i in range(9)], schedule(order="sequential")) == []


@pytest.mark.parametrize("step", [1.01, 0.99])
def test_a_slow_drift_is_told_for_each_side(step: float, groups: Groups, schedule: Plans) -> None:
    times = [100 * step**i for i in range(30)]
    samples = groups(times, times)
    remarks = case_remarks(samples, paired(samples, "interleaved"), schedule())
    assert [(r.code, r.figures["side"]) for r in remarks] == [("drift", "reference"), ("drift", "candidate")]
    assert remarks[0].figures["change"] == pytest.approx(step**20 - 1, rel=1e-4)  # thirds lie twenty samples apart
    assert paired(samples, "interleaved").verdict == "same"  # type: ignore[union-attr]


def test_a_throttled_clock_is_a_drift(groups: Groups, schedule: Plans) -> None:
    times = [100.0] * 15 + [118.0] * 15
    assert codes(groups(times, times), schedule()) == ["drift", "drift"]


def test_noise_is_seldom_a_drift(groups: Groups, schedule: Plans) -> None:
    rng = random.Random(4)
    drifts = 0
    for _ in range(200):
        noisy = [100 * (1 + rng.expovariate(8)) for _ in range(24)]
        drifts += "drift" in codes(groups(noisy, [50] * 24), schedule())
    assert drifts <= 4


def test_a_small_or_doubtful_drift_is_none(groups: Groups, schedule: Plans) -> None:
    assert codes(groups([100] * 15 + [104] * 15, [50] * 30), schedule()) == []
    assert codes(groups([100] * 8 + [150] * 8, [50] * 16), schedule()) == []  # too few to tell
