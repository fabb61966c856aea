"""Why sampling ends."""

from __future__ import annotations

import random
from collections.abc import Callable
from math import exp

import pytest

from msprun.model.measurement import Sample, StopReason
from msprun.model.plan import Schedule
from msprun.stat.stop import stop_reason

Make = Callable[..., Sample]
Groups = Callable[..., list[Sample]]
Plans = Callable[..., Schedule]


def asked(samples: list[Sample], plan: Schedule, visit: int = 0, spent_s: float = 0.0) -> StopReason | None:
    return stop_reason(samples, plan, visit=visit, visit_elapsed_s=spent_s, elapsed_s=spent_s)


def noise(count: int, sd: float, seed: int = 1) -> list[float]:
    rng = random.Random(seed)
    return [100 * exp(rng.gauss(0, sd)) for _ in range(count)]


def test_nothing_measured_never_stops(schedule: Plans, sample: Make) -> None:
    assert asked([], schedule(), spent_s=9) is None
    assert asked([sample("reference", 5, phase="warmup")], schedule(budget_s=0.0)) is None


def test_quiet_quads_are_narrow_at_the_least_count(schedule: Plans, groups: Groups) -> None:
    assert asked(groups([10] * 7, [5] * 7), schedule()) is None
    assert asked(groups([10] * 8, [5] * 8), schedule()) == "narrow"


def test_narrow_is_half_the_width_of_the_interval(schedule: Plans, groups: Groups) -> None:
    plan = schedule(visits=1)
    # Of eight ratios the interval runs from the least to the most: half of 3.96 % and of 4.04 %.
    just = [100.0] * 7 + [100 * exp(0.0396)]
    over = [100.0] * 7 + [100 * exp(0.0404)]
    assert asked(groups(just, [50] * 8), plan) == "narrow"
    assert asked(groups(over, [50] * 8), plan) is None
    assert asked(groups(over, [50] * 8), schedule(visits=1, precision=0.021)) == "narrow"


def test_an_early_visit_leaves_its_share_to_the_later_ones(schedule: Plans, groups: Groups) -> None:
    # Four times the values halve the interval: the first of four visits is done at twice the width.
    wide = groups([100.0] * 7 + [100 * exp(0.0796)], [50] * 8)
    assert asked(wide, schedule(visits=4)) == "narrow"
    assert asked(wide, schedule(visits=3)) is None
    assert asked(wide + groups([100.0] * 7 + [100 * exp(0.0796)], [50] * 8, visit=3), schedule(visits=4), visit=3)


def test_every_visit_has_its_own_least_count(schedule: Plans, groups: Groups) -> None:
    first = groups([10] * 8, [5] * 8)
    assert asked(first, schedule(), visit=1) is None
    assert asked(first + groups([10] * 7, [5] * 7, visit=1), schedule(), visit=1) is None
    assert asked(first + groups([10] * 8, [5] * 8, visit=1), schedule(), visit=1) == "narrow"


def test_agreement_between_visits_is_no_reason_to_stop_or_go_on(schedule: Plans, groups: Groups) -> None:
    apart = groups([10] * 8, [5] * 8) + groups([20] * 8, [5] * 8, visit=1)
    assert asked(apart, schedule(), visit=1) == "narrow"


@pytest.mark.parametrize(
    ("visit", "visit_s", "all_s", "reason"),
    [
        (0, 0.66, 0.66, None), (0, 0.67, 0.67, "budget"),  # a third of 2 s
        (1, 0.66, 1.32, None), (1, 0.70, 1.36, "budget"),
        (1, 0.94, 1.04, None), (1, 0.96, 1.06, "budget"),  # half of what a short first visit left
        (2, 1.70, 1.90, None), (2, 0.0, 2.0, "budget"), (2, 1.80, 2.00, "budget"),
    ],
)  # fmt: skip
def test_a_visit_has_its_share_of_the_budget(
    visit: int, visit_s: float, all_s: float, reason: str | None, schedule: Plans, groups: Groups
) -> None:
    samples = groups([10, 20], [5, 5])
    assert stop_reason(samples, schedule(), visit=visit, visit_elapsed_s=visit_s, elapsed_s=all_s) == reason


def test_the_most_quads_are_shared_by_the_visits(schedule: Plans, groups: Groups) -> None:
    plan = schedule(quads_max=30, precision=1e-6)
    assert asked(groups(noise(9, 0.1), [50] * 9), plan) is None
    assert asked(groups(noise(10, 0.1), [50] * 10), plan) == "planned"
    later = groups(noise(10, 0.1), [50] * 10) + groups(noise(9, 0.1), [50] * 9, visit=1)
    assert asked(later, plan, visit=1) is None
    assert asked(groups(noise(30, 0.1), [50] * 30), schedule(quads_max=30, precision=1e-6, visits=1)) == "planned"


def test_spread_that_does_not_shrink_is_no_progress(schedule: Plans, groups: Groups) -> None:
    """NVIDIA/nvbench#61: short kernels never reach the noise target."""
    plan = schedule(visits=1)
    wide = [100 * exp(0.1 * (-1) ** i) for i in range(140)]  # half above, half below: the interval stays as it is
    assert asked(groups(wide[:127], [50] * 127), plan) is None
    assert asked(groups(wide[:128], [50] * 128), plan) == "no_progress"
    assert asked(groups(wide, [50] * 140), plan) == "no_progress"


def test_spread_that_shrinks_goes_on(schedule: Plans, groups: Groups) -> None:
    wide = [100 * exp(d) for i in range(16) for d in (0.2, -0.2)]
    close = [100 * exp(d) for i in range(48) for d in (0.05, -0.05)]
    assert asked(groups(wide + close, [50] * 128), schedule(visits=1)) is None


def test_noise_is_seldom_no_progress(schedule: Plans, groups: Groups) -> None:
    # Sampled to 128 values in one go, of which the first 32 are compared with all: chance alone in one of a hundred.
    plan = schedule(visits=1, precision=1e-6)
    stuck = sum(asked(groups(noise(128, 0.08, seed), [50] * 128), plan) == "no_progress" for seed in range(150))
    assert stuck <= 6


def test_noise_of_eight_percent_ends_with_a_reason(schedule: Plans, groups: Groups) -> None:
    """NVIDIA/nvbench#61: each case ran to its time limit, 30 hours for a suite."""
    reasons = set()
    for seed in range(20):
        reference, candidate = noise(200, 0.08, seed), noise(200, 0.08, seed + 100)
        for n in range(8, 201, 8):
            reason = asked(groups(reference[:n], candidate[:n]), schedule(visits=1, precision=0.001))
            if reason:
                break
        assert reason in ("planned", "no_progress")
        reasons.add(reason)
    assert "planned" in reasons


@pytest.mark.parametrize("side", ["reference", "candidate"])
def test_one_side_alone_stops_by_its_own_median(side: str, schedule: Plans, sample: Make) -> None:
    quiet = [sample(side, 10, i // 4) for i in range(8)]
    assert asked(quiet[:7], schedule()) is None
    assert asked(quiet, schedule()) == "narrow"
    wild = [sample(side, us, i // 4) for i, us in enumerate([10, 14] * 4)]
    assert asked(wild, schedule()) is None


def test_warm_up_is_no_evidence(schedule: Plans, groups: Groups, sample: Make) -> None:
    warm = [sample(side, 10, phase="warmup") for side in ("reference", "candidate") for _ in range(50)]
    assert asked(warm + groups([10] * 3, [5] * 3), schedule()) is None


def test_the_older_builds_ratio_must_be_narrow_too(schedule: Plans, groups: Groups, sample: Make) -> None:
    quiet = groups([10] * 8, [5] * 8)
    wide = [sample("against", 5 * exp(0.2 * (group % 2)), group) for group in range(8)]
    assert asked(quiet, schedule()) == "narrow"
    assert asked(quiet + wide, schedule()) is None
    assert asked(quiet + [sample("against", 7, group) for group in range(8)], schedule()) == "narrow"


def test_without_a_reference_the_older_build_and_the_candidate_are_judged(schedule: Plans, sample: Make) -> None:
    loud = [sample(side, 5 * exp(0.3 * (g % 2)), g) for g in range(8) for side in ("candidate", "against")]
    assert asked(loud, schedule()) == "narrow"  # both sides of a group are loud alike
    assert asked([s for s in loud if s.side == "against"], schedule()) is None
