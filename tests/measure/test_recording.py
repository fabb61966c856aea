"""Calls on a device: planned by the host's times, written down as the worker records them."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from msprun.launch import Reply
from msprun.measure.recording import Recording, cost, groups_of_visit
from msprun.measure.tally import Tally
from msprun.model.case import Case
from msprun.model.failure import Failure
from msprun.model.plan import Plan
from tests.report import plans
from tests.report.results import all_good


class Crew:
    """A worker that records: every call takes 100 us, and before each there is a flush where one is asked for."""

    def __init__(self, *, flushes: bool = False) -> None:
        self.is_lost = False
        self.number = 0
        self.now_ns = 1_000_000
        self.flushes = flushes
        self.fails_at: int | None = None
        self.stops_at: int | None = None
        self.cannot_boost = False

    def ready(self, tally: Tally, side: str) -> Reply:
        return Reply()

    def make_room(self, tally: Tally, reply: Reply, may_part: bool) -> bool:
        return False

    def ask(self, do: str, stage: str, tally: Tally, deadline: float = 0, *, blocks: Any = ()) -> Reply:
        if do == "cache_facts":
            return Reply(body={"sets": 1, "bytes": 9, "llc_bytes": None})
        if do == "boost" and self.cannot_boost:
            return Reply(failure=Failure(stage="timing", kind="exception", message="no room"))
        if do == "boost":
            return Reply(body={"recorded": [self.line(tally, None, "boost")]})
        if self.stops_at is not None and self.number >= self.stops_at:
            raise KeyboardInterrupt
        recorded = []
        for side, calls in blocks:
            assert calls == 1
            if self.fails_at is not None and self.number >= self.fails_at:
                self.is_lost = True
                failure = Failure(stage="timing", kind="signal", message="died of SIGSEGV")
                return Reply(failure=failure, side="candidate")
            if self.flushes:
                recorded.append(self.line(tally, None, "flush"))
            recorded.append(self.line(tally, side, "call"))
        return Reply(body={"elapsed_ns": [100_000] * len(blocks), "recorded": recorded})

    def line(self, tally: Tally, side: str | None, purpose: str) -> list[Any]:
        self.number += 1
        self.now_ns += 100_000
        return [self.number - 1, tally.case.index, side, purpose, self.now_ns - 100_000, self.now_ns]


def plan(**schedule: Any) -> Plan:
    made = plans.plan(all_good())
    few = {"visits": 2, "quads_min": 4, "quads_max": 4, "warmup": 1, "block_us": 0.0, "block_calls_max": 1}
    return replace(made, schedule=replace(made.schedule, **{**few, **schedule}))


def tally_of(made: Plan, case: int = 0) -> Tally:
    return Tally(Case(index=case, name="case", shape_label="[2]", dtype_label="float32"), made, lambda entry: None)


def run(crew: Crew, made: Plan, *visits: int) -> tuple[Recording, Tally]:
    tally = tally_of(made)
    recording = Recording(crew, made)  # type: ignore[arg-type]
    for visit in visits:
        recording.visit(tally, visit)
    return recording, tally


def test_every_visit_has_its_warmup_and_its_groups() -> None:
    recording, tally = run(Crew(), plan(), 0, 1)
    seen = [(call.visit, call.purpose) for call in recording.calls]
    # One warm-up call a side, then 2 groups of 4 calls: half of the 4 that both visits share.
    assert seen == [(visit, purpose) for visit in (0, 1) for purpose in ["warmup"] * 2 + ["timed"] * 8]
    assert [call.number for call in recording.calls] == list(range(20))
    assert tally.samples == []  # nothing is known before the device's records are


def test_numbers_lead_to_the_blocks_that_were_asked_for() -> None:
    recording, _ = run(Crew(), plan(), 0)
    for call in recording.calls:
        host = recording.hosts[call.number]
        assert (host.case, host.side, host.phase, host.visit, host.group) == (
            call.case, call.side, call.purpose, call.visit, call.group,
        )  # fmt: skip
        assert host.elapsed_ns == 100_000


def test_each_group_mirrors_its_sides() -> None:
    recording, _ = run(Crew(), plan(), 0)
    timed = [call.side for call in recording.calls if call.purpose == "timed"]
    for group in (timed[:4], timed[4:]):
        assert group[0] == group[3] != group[1] == group[2]


def test_what_is_no_call_is_in_the_schedule_and_counts_nowhere() -> None:
    made = plan(cache="flush")
    made = replace(made, profiling=replace(made.profiling, boost=True))
    recording, _ = run(Crew(flushes=True), made, 0)
    purposes = [call.purpose for call in recording.calls]
    assert purposes[0] == "boost"
    assert purposes[1:] == ["flush", "warmup"] * 2 + ["flush", "timed"] * 8
    assert {call.number for call in recording.calls if call.side is None}.isdisjoint(recording.hosts)


def test_a_lost_worker_ends_the_visit_and_costs_the_side_that_ran() -> None:
    crew = Crew()
    crew.fails_at = 4
    recording, tally = run(crew, plan(), 0)
    assert tally.sides["candidate"].failure is not None
    assert tally.sides["reference"].failure is None
    assert recording.hosts == {}  # nothing of the visit counts
    # What ran before: two warm-up calls and the first timed one. The request that died told nothing of its own.
    assert [call.purpose for call in recording.calls] == ["warmup", "warmup", "timed"]


def stopped(crew: Crew, number: int) -> Recording:
    """Two cases' visits, the second one interrupted before the request that makes call `number`."""
    crew.stops_at = number
    made = plan()
    recording = Recording(crew, made)  # type: ignore[arg-type]
    recording.visit(tally_of(made, 0), 0)
    with pytest.raises(KeyboardInterrupt):
        recording.visit(tally_of(made, 1), 0)
    return recording


def test_a_visit_that_is_interrupted_counts_nowhere_and_its_calls_are_known() -> None:
    recording = stopped(Crew(), 13)
    assert recording.is_worth_reading
    recording.break_off({})
    # 10 calls of the first case; the second had two of warm-up and the first timed one.
    assert sorted(recording.hosts) == list(range(10))
    assert [call.number for call in recording.ran.calls] == list(range(13))
    assert (recording.ran.abandoned, recording.ran.unanswered_from) == ((), None)


def test_calls_of_a_request_that_is_broken_off_are_those_that_its_answer_names() -> None:
    crew = Crew()
    failed = stopped(crew, 13)
    failed.break_off({"ok": False, "abandoned": [13, 14]})
    assert (failed.ran.abandoned, failed.ran.unanswered_from) == ((13, 14), None)
    late = stopped(Crew(), 13)
    late.break_off({"ok": True, "recorded": [[13, 1, "candidate", "call", 5, 6], [14, 1, None, "pause", 7, 8]]})
    assert (late.ran.abandoned, len(late.ran.calls)) == ((13, 14), 13)


def test_a_request_without_an_answer_leaves_all_numbers_behind_the_last_one_open() -> None:
    recording = stopped(Crew(), 13)
    recording.break_off(None)
    assert (recording.ran.abandoned, recording.ran.unanswered_from) == ((), 13)


def test_nothing_is_worth_reading_before_a_visit_is_whole() -> None:
    crew = Crew()
    crew.stops_at = 3
    made = plan()
    recording = Recording(crew, made)  # type: ignore[arg-type]
    assert not recording.is_worth_reading
    with pytest.raises(KeyboardInterrupt):
        recording.visit(tally_of(made), 0)
    assert recording.hosts and not recording.is_worth_reading


@pytest.mark.parametrize(
    ("host_us", "budget_s", "groups"),
    [
        # A group is 4 calls of 100 + 150 us: 0.1 s holds 100 of them, the schedule at most 64: 21 a visit of three.
        (100.0, 0.1, 21),
        # 20 ms of budget hold 20 groups: 7 a visit.
        (100.0, 0.02, 7),
        # A call of a second: never fewer than 8 in all.
        (1e6, 2.0, 3),
    ],
)
def test_the_budget_decides_how_many_groups_there_are(host_us: float, budget_s: float, groups: int) -> None:
    made = plan(budget_s=budget_s, quads_min=8, quads_max=64, visits=3)
    tally = tally_of(made)
    for told in tally.sides.values():
        told.host_us = host_us
    assert groups_of_visit(made, tally) == groups


def test_a_boost_that_fails_is_told_and_costs_no_call() -> None:
    crew = Crew()
    crew.cannot_boost = True
    made = plan()
    recording, tally = run(crew, replace(made, profiling=replace(made.profiling, boost=True)), 0)
    assert [(remark.code, remark.figures) for remark in tally.remarks] == [("no_boost", {"error": "no room"})]
    assert len(recording.hosts) == 10


def test_a_case_costs_its_planned_calls_at_the_hosts_time_of_one() -> None:
    made = plan(budget_s=0.02, quads_min=8, quads_max=64, visits=3, warmup=4)
    tally = tally_of(made)
    for told in tally.sides.values():
        told.host_us = 100.0
    # 7 groups a visit (see above) are 14 calls of a side; with 4 of warm-up, 3 visits and 2 sides: 108 calls of 250 us.
    assert cost(made, tally).seconds == pytest.approx(108 * 250e-6)
    assert cost(made, tally).rows == 108 * 20


def test_automatic_warm_up_is_reckoned_with_at_most_its_time() -> None:
    made = plan(budget_s=1.0, quads_min=8, quads_max=8, visits=1, warmup=None, warmup_max=50, warmup_s=0.5)
    tally = tally_of(made)
    for told in tally.sides.values():
        told.host_us = 99_850.0  # 100 ms with what is around: half a second holds 5 calls, and one is under way
    assert cost(made, tally).seconds == pytest.approx(2 * (16 + 6) * 0.1)
