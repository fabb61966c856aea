"""Timing a case against a worker whose times are known."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from msprun.journal import Seen
from msprun.launch import Reply
from msprun.measure.tally import Tally, failures_of, is_finished, row
from msprun.measure.timing import Timer
from msprun.model.case import Case
from msprun.model.failure import Failure
from msprun.model.measurement import CacheFacts, Correctness
from msprun.model.operator import ALL_SIDES, Side
from msprun.model.plan import Plan
from tests.report import plans
from tests.report.results import all_good

TRUTH_US = {"reference": 100.0, "candidate": 50.0}


class Crew:
    """Answers `time` at once: known times with noise of two percent, and remembers what it was asked."""

    def __init__(self, truth_us: dict[str, float], noise: float = 0.02) -> None:
        self.truth_us = truth_us
        self.noise = noise
        self.blocks: list[tuple[str, int]] = []
        self.fails_at: int | None = None
        self.ends_at = False
        self.asked_of_caches = 0
        self.guilty: Side = "candidate"
        self.lost: dict[str, Any] = {}
        self.made = 0
        self.slow: Callable[[int], float] = lambda number: 1.0  # by the number of calls before
        self._random = random.Random(1)

    def ready(self, tally: Tally, side: str) -> Reply:
        return Reply()

    def make_room(self, tally: Tally, reply: Reply, may_part: bool) -> bool:
        return False

    def ask(self, do: str, stage: str, tally: Tally, deadline: float = 0, *, blocks: Any = ()) -> Reply:
        assert (do, stage) in (("time", "timing"), ("cache_facts", "timing"))
        if do == "cache_facts":
            self.asked_of_caches += 1
            return Reply(body={"id": 7, "sets": 32, "bytes": 33_554_432, "llc_bytes": 8_388_608})
        self.blocks += [(side, calls) for side, calls in blocks]
        if self.ends_at and deadline <= time.monotonic():
            failure = Failure(stage="timing", kind="timeout", message="its calls took longer than -1 s")
            return Reply(failure=failure, side="reference")
        if self.fails_at is not None and len(self.blocks) > self.fails_at:
            failure = Failure(stage="timing", kind="signal", message="died of SIGSEGV")
            self.fails_at = None if self.guilty == "against" else self.fails_at
            return Reply(failure=failure, side=self.guilty)
        return Reply(body={"elapsed_ns": [self._time(side, calls) for side, calls in blocks]})

    def _time(self, side: str, calls: int) -> int:
        slow = self.slow(self.made)
        self.made += calls
        return round(self.truth_us[side] * calls * 1000 * (1 + self.noise * self._random.random()) * slow)


def _plan(**schedule: Any) -> Plan:
    plan = plans.plan(all_good())
    return replace(plan, schedule=replace(plan.schedule, **{"visits": 3, **schedule}))


def _timed(crew: Crew, plan: Plan) -> Tally:
    case = Case(index=0, name="case0", shape_label="[2]", dtype_label="float32")
    tally = Tally(case, plan, [].append)
    tally.is_checked = True
    tally.correctness = Correctness(state="correct")
    timer = Timer(crew, plan)  # type: ignore[arg-type]
    for visit in range(plan.schedule.visits):
        timer.visit(tally, visit)
    return tally


def test_automatic_counts_find_the_true_ratio() -> None:
    crew = Crew(TRUTH_US)
    found = row(_timed(crew, _plan(budget_s=5.0)))
    assert found.paired is not None
    assert found.paired.speedup == pytest.approx(2.0, rel=0.01)
    assert found.paired.verdict == "faster"
    assert found.ref_us == pytest.approx(101, rel=0.01)
    assert found.asc_us == pytest.approx(50.5, rel=0.01)
    assert found.stop == "narrow"
    assert found.paired.quads >= 3 * 8


def test_short_calls_are_timed_in_blocks_of_at_least_fifty_microseconds() -> None:
    tally = _timed(Crew({"reference": 10.0, "candidate": 0.5}, noise=0.0), _plan(budget_s=1.0))
    timed = [s for s in tally.samples if s.phase == "timed"]
    assert all(s.elapsed_ns >= 50_000 for s in timed)
    assert all(s.calls == 1 for s in tally.samples if s.phase == "warmup")


def test_explicit_counts_are_one_visit_of_single_calls_in_mirrored_pairs() -> None:
    """sharkdp/hyperfine#21 and #483: compared commands take turns."""
    crew = Crew(TRUTH_US)
    tally = _timed(crew, _plan(visits=1, warmup=2, repeats=4))
    r, c = ("reference", 1), ("candidate", 1)
    assert crew.blocks[:4] == [r, c, r, c]
    assert crew.blocks[4:] == [r, c, c, r, r, c, c, r]
    assert tally.stop == "explicit"
    assert {s.group for s in tally.samples if s.phase == "timed"} == {0, 1, 2, 3}


def test_no_warm_up_means_none_and_slow_calls_are_not_blocked() -> None:
    crew = Crew({"reference": 2e6, "candidate": 1e6})
    _timed(crew, _plan(visits=1, warmup=0, budget_s=0.01, quads_min=8))
    assert set(crew.blocks) == {("reference", 1), ("candidate", 1)}


def test_sequential_runs_one_side_after_the_other_and_gives_no_verdict() -> None:
    """nooga/let-go#705: one side after the other, and the order decides the winner."""
    crew = Crew(TRUTH_US)
    tally = _timed(crew, _plan(visits=1, warmup=1, repeats=8, order="sequential"))
    assert [side for side, _ in crew.blocks] == ["reference"] * 9 + ["candidate"] * 9
    found = row(tally)
    assert found.speedup == found.ref_us / found.asc_us  # type: ignore[operator]
    assert found.paired is not None
    assert (found.paired.verdict, found.paired.low) == ("unresolved", None)
    assert "sequential_order" in {remark.code for remark in found.remarks}


def test_automatic_sequential_gives_each_side_its_own_time() -> None:
    tally = _timed(Crew(TRUTH_US), _plan(visits=1, budget_s=2.0, order="sequential"))
    sides = [s.side for s in tally.samples]
    assert sides == sorted(sides, reverse=True)
    assert {s.side for s in tally.samples if s.phase == "timed"} == {"reference", "candidate"}


def test_a_side_that_dies_loses_its_samples_and_the_other_keeps_them() -> None:
    crew = Crew(TRUTH_US)
    crew.fails_at = 60
    tally = _timed(crew, _plan(budget_s=1.0))
    found = row(tally)
    assert found.status == "failed"
    assert (found.asc_us, found.asc_error) == (None, "died of SIGSEGV")
    assert found.ref_us is None or found.ref_us > 0
    assert not [s for s in tally.samples if s.side == "candidate"]


def test_a_wrong_candidate_is_not_timed() -> None:
    crew = Crew(TRUTH_US)
    plan = _plan(visits=1, warmup=1, repeats=2)
    tally = Tally(Case(index=0, name="case0", shape_label="[2]", dtype_label="float32"), plan, [].append)
    tally.is_checked = True
    tally.correctness = Correctness(state="incorrect")
    Timer(crew, plan).visit(tally, 0)  # type: ignore[arg-type]
    assert {side for side, _ in crew.blocks} == {"reference"}
    found = row(tally)
    assert (found.status, found.asc_us, found.speedup, found.asc_error) == ("incorrect", None, None, "incorrect")


def test_both_sides_are_timed_in_blocks_of_as_many_calls() -> None:
    # The first call of a block is the slowest: identical code in blocks of one and of two is 10 % apart.
    crew = Crew({"reference": 51.0, "candidate": 27.0})
    tally = _timed(crew, _plan(block_us=50.0))
    timed = {side: {s.calls for s in tally.samples if (s.side, s.phase) == (side, "timed")} for side in TRUTH_US}
    assert timed == {"reference": {2}, "candidate": {2}}


def test_later_visits_warm_up_slow_calls_for_a_tenth_of_the_time() -> None:
    crew = Crew({"reference": 30_000.0, "candidate": 30_000.0}, noise=0.0)
    tally = _timed(crew, _plan(warmup_min=40, warmup_s=1.0))
    warm = {
        visit: sum((s.side, s.phase, s.visit) == ("reference", "warmup", visit) for s in tally.samples)
        for visit in range(3)
    }
    assert warm == {0: 34, 1: 4, 2: 4}  # 1 s and 0.1 s of 30 ms


@pytest.mark.parametrize("cache", ["rotate", "flush"])
def test_what_was_done_to_the_caches_is_asked_once_a_case_and_kept(cache: str) -> None:
    """tile-ai/TileOPs#1725: a time that was taken with cold caches must say how they were made so."""
    crew = Crew(TRUTH_US)
    found = row(_timed(crew, _plan(cache=cache, budget_s=0.5)))
    assert crew.asked_of_caches == 1
    assert found.cache == CacheFacts(policy=cache, sets=32, bytes=32 << 20, llc_bytes=8 << 20)


def test_warm_caches_are_nothing_to_tell() -> None:
    crew = Crew(TRUTH_US)
    assert row(_timed(crew, _plan(budget_s=0.5))).cache is None
    assert crew.asked_of_caches == 0


THREE_US = {"reference": 200.0, "candidate": 100.0, "against": 150.0}


def _with_old(**schedule: Any) -> Plan:
    return replace(_plan(**schedule), sides=ALL_SIDES)


def test_an_older_build_is_told_from_the_candidate_in_the_same_groups() -> None:
    crew = Crew(THREE_US)
    found = row(_timed(crew, _with_old(budget_s=5.0)))
    assert found.paired is not None and found.paired_against is not None
    assert found.paired.speedup == pytest.approx(2.0, rel=0.01)
    assert found.paired_against.speedup == pytest.approx(1.5, rel=0.01)
    assert found.paired_against.low is not None and found.paired_against.high is not None
    assert found.paired_against.low < 1.5 < found.paired_against.high
    assert (found.paired_against.verdict, found.stop, found.status) == ("faster", "narrow", "measured")
    assert found.against_us == pytest.approx(151.5, rel=0.01)
    assert found.paired_against.quads == found.paired.quads >= 3 * 8


def test_explicit_counts_hold_for_three_sides() -> None:
    crew = Crew(THREE_US)
    tally = _timed(crew, _with_old(visits=1, warmup=2, repeats=6))
    names = [side for side, _ in crew.blocks]
    assert names[:6] == ["reference", "candidate", "against"] * 2
    assert Counter(names[6:]) == dict.fromkeys(THREE_US, 6)
    known = row(tally)
    assert known.paired_against is not None and known.paired_against.quads == 6
    assert known.against is not None and known.against.warmup_calls == 2


def test_an_older_build_that_dies_costs_its_own_times_alone() -> None:
    crew = Crew(THREE_US)
    crew.fails_at, crew.guilty = 100, "against"
    found = row(_timed(crew, _with_old(budget_s=1.0)))
    assert (found.status, found.failure, found.against_us, found.paired_against) == ("measured", None, None, None)
    assert found.paired is not None and found.paired.verdict == "faster"
    assert found.against is not None and found.against.failure is not None
    assert found.against.failure.message == "died of SIGSEGV"
    assert failures_of(found) == {"against": found.against.failure} and is_finished(found)
    assert found.reference is not None and found.reference.estimate is not None
    assert found.paired.quads >= 3 * 8  # the visit was made again without it


def test_a_wrong_older_build_is_not_timed_and_the_others_are() -> None:
    crew = Crew(THREE_US)
    tally = Tally(Case(index=0, name="case0", shape_label="[2]", dtype_label="float32"), _with_old(visits=1), [].append)
    tally.is_checked = True
    tally.sides["against"].correctness = Correctness(state="shape_differs")
    Timer(crew, tally.plan).visit(tally, 0)  # type: ignore[arg-type]
    assert {side for side, _ in crew.blocks} == {"reference", "candidate"}
    found = row(tally)
    assert (found.status, found.against_us, found.paired_against) == ("measured", None, None)
    assert found.against_correctness is not None and found.against_correctness.state == "shape_differs"


def test_candidate_and_older_build_alone_have_their_pair() -> None:
    crew = Crew(THREE_US)
    found = row(_timed(crew, replace(_plan(budget_s=1.0), sides=("candidate", "against"))))
    assert (found.status, found.ref_us, found.paired) == ("one_sided", None, None)
    assert found.paired_against is not None and found.paired_against.speedup == pytest.approx(1.5, rel=0.01)


@pytest.mark.parametrize("warmup", [0, 3])
@pytest.mark.parametrize("repeats", [1, 5, 20])
def test_the_time_of_a_call_does_not_grow_with_their_number(warmup: int, repeats: int) -> None:
    """pytorch/pytorch#177765: the sum over all iterations was reported."""
    found = row(_timed(Crew(TRUTH_US), _plan(visits=1, warmup=warmup, repeats=repeats)))
    assert found.ref_us == pytest.approx(101, rel=0.01) and found.asc_us == pytest.approx(50.5, rel=0.01)
    assert found.reference is not None and found.reference.estimate is not None
    assert (found.reference.warmup_calls, found.reference.estimate.calls) == (warmup, repeats)


@pytest.mark.parametrize("schedule", [{"budget_s": 2.0}, {"visits": 1, "warmup": 3, "repeats": 12}])
def test_what_is_loaded_at_first_use_is_in_no_time(schedule: dict[str, Any]) -> None:
    """pytorch/pytorch#132218, NVIDIA/nvbench#338 and #340: lazy initialisation landed in the first measurement."""
    lazy, ready = Crew(TRUTH_US), Crew(TRUTH_US)
    lazy.slow = lambda number: 1000.0 if number < 3 else 1.0
    first, second = (row(_timed(crew, _plan(**schedule))) for crew in (lazy, ready))
    assert first.ref_us == pytest.approx(second.ref_us, rel=0.01)
    assert first.asc_us == pytest.approx(second.asc_us, rel=0.01)


def test_a_machine_that_gets_slower_by_a_percent_a_call_favours_nobody_in_turn_and_is_told() -> None:
    """nooga/let-go#705: the order of A and B decides the winner, identical binaries were 3.7 % apart."""
    same = {"reference": 100.0, "candidate": 100.0}
    in_turn, after = Crew(same, noise=0.001), Crew(same, noise=0.001)
    in_turn.slow = after.slow = lambda number: 1.01**number
    counts: dict[str, Any] = {"visits": 1, "warmup": 0, "repeats": 20}
    found = row(_timed(in_turn, _plan(**counts)))
    assert found.paired is not None and found.paired.verdict == "same"
    assert {remark.code for remark in found.remarks} == {"drift"}
    apart = row(_timed(after, _plan(order="sequential", **counts)))
    assert apart.speedup == pytest.approx(1.01**-20, rel=0.01)  # what a fixed order makes of nothing
    assert apart.paired is not None and apart.paired.verdict == "unresolved"
    assert {remark.code for remark in apart.remarks} == {"drift", "sequential_order"}


def test_a_process_that_slows_down_from_visit_to_visit_is_told_and_costs_both_sides_alike() -> None:
    """intel/intel-xpu-backend-for-triton#4094: the second and later runs of a suite were slower."""
    crew = Crew(TRUTH_US, noise=0.001)
    plan = _plan(visits=1, warmup=0, repeats=10)
    tally = _timed(crew, plan)
    crew.slow = lambda number: 1.2
    for visit in (1, 2):
        Timer(crew, plan).visit(tally, visit)  # type: ignore[arg-type]
    found = row(tally)
    assert {(r.code, r.figures["side"]) for r in found.remarks} == {("drift", "reference"), ("drift", "candidate")}
    assert found.paired is not None and found.paired.speedup == pytest.approx(2.0, rel=0.01)


def test_calls_without_end_are_ended_by_the_time_that_a_case_has() -> None:
    """flagos-ai/FlagGems#5067: warmup=1000 took more than an hour."""
    crew = Crew({"reference": 3e6, "candidate": 3e6})
    asked: list[float] = []
    crew.slow = lambda number: asked.append(number) or 1.0  # type: ignore[func-returns-value]
    plan = _plan(visits=1, warmup=1000, repeats=3)
    plan = replace(plan, limits=replace(plan.limits, case_timeout_s=-1.0))
    crew.ends_at = True
    found = row(_timed(crew, plan))
    assert asked == [] and found.status == "failed" and found.ref_us is None
    assert found.failure is not None and found.failure.kind == "timeout"


def test_samples_are_on_disk_before_the_next_are_asked_for() -> None:
    """mindie-agent/mindie-agent#66: a failure of the second side threw the first one's result away."""
    crew, written, told = Crew(TRUTH_US), list[Any](), list[int]()
    plan = _plan(visits=1, warmup=0, repeats=20, order="sequential")
    tally = Tally(Case(index=0, name="case0", shape_label="[2]", dtype_label="float32"), plan, written.append)
    tally.is_checked, tally.correctness = True, Correctness(state="correct")

    def look(number: int) -> float:
        on_disk = sum(len(entry.samples) for entry in written if isinstance(entry, Seen))
        told.append(number - on_disk)
        return 1.0

    crew.slow = look
    Timer(crew, plan).visit(tally, 0)  # type: ignore[arg-type]
    assert len(told) == 40 and told[20] == 0  # when the candidate's first call is made, all of the reference's are kept
