"""Where memory is short a crew lets go of other cases, then of the case's other sides, and asks again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from msprun.bench import Service
from msprun.launch import Reply
from msprun.measure.check import check
from msprun.measure.crew import Crew
from msprun.measure.probe import probe
from msprun.measure.tally import Tally
from msprun.measure.timing import Timer
from msprun.model.case import Case
from msprun.model.failure import Failure
from msprun.model.measurement import Correctness
from msprun.model.operator import ALL_SIDES, SIDES, Side
from tests.report import plans
from tests.report.results import all_good


class Worker:
    """Has so much memory, in which a side takes what `sizes` say from its construction on; notes what it was asked."""

    def __init__(self, memory: int, **sizes: int) -> None:
        self.memory = memory
        self.sizes = sizes
        self.held: dict[tuple[int, str], int] = {}
        self.parted: set[int] = set()
        self.asked: list[str] = []
        self.is_lost = False
        self.extra: dict[str, int] = {}  # what a request needs beside the sides

    def ask(self, do: str, stage: Any, timeout_s: float, *, case: int = 0, side: str = "", **words: Any) -> Reply:
        if do == "probe":
            return Reply()
        self.asked.append(" ".join(str(word) for word in (do, case, side) if word != ""))
        if do == "release":
            self.held = {key: size for key, size in self.held.items() if key[0] != case}
            self.parted.discard(case)
        if do == "part":
            self.parted.add(case)
        for name in {side, *(block[0] for block in words.get("blocks", ()))} - {""}:
            self.enter(case, name)
        if sum(self.held.values()) + self.extra.get(do, 0) > self.memory:
            self.held.pop((case, side), None)
            failure = Failure(stage=stage, kind="out_of_memory", message="OutOfMemoryError: NPU is full")
            return Reply(failure=failure, side=side or None)  # type: ignore[arg-type]
        if do == "first" and side == "reference":
            return Reply(body={"hash": f"hash {case}"})
        if do == "time":
            return Reply(body={"elapsed_ns": [1000 for _ in words["blocks"]]})
        return Reply(body={"state": "correct"} if do in ("check", "attack") else {})

    def enter(self, case: int, side: str) -> None:
        if case in self.parted:
            self.held = {key: size for key, size in self.held.items() if key[0] != case}
        self.held[case, side] = self.sizes.get(side, 1)


def crew(folder: Path, worker: Worker, sides: tuple[Side, ...] = SIDES, **service: Any) -> Crew:
    plan = replace(plans.plan(all_good()), sides=sides, folder=folder)
    made = Crew(plan, None, dict, Service(cases=plan.cases, sides=sides, **service))  # type: ignore[arg-type]
    made._worker = worker  # type: ignore[assignment]
    return made


def tally(made: Crew, index: int = 0) -> Tally:
    return Tally(Case(index=index, name="", shape_label="", dtype_label=""), made._plan, [].append)


def two_checked(folder: Path, **extra: int) -> tuple[Worker, Crew, Tally]:
    """A worker that two cases were checked in and that some requests need more memory of; the first of the cases."""
    worker = Worker(16, reference=3, candidate=3)
    worker.extra |= extra
    made = crew(folder, worker)
    one, two = tally(made), tally(made, 1)
    for known in (one, two):
        check(made, known, made._plan)
    return worker, made, one


def test_sides_that_do_not_fit_together_are_checked_one_after_the_other(tmp_path: Path) -> None:
    worker = Worker(10, reference=6, candidate=6)
    made = crew(tmp_path, worker)
    one = tally(made)
    check(made, one, made._plan)
    assert worker.asked == [
        "load 0", "construct 0 reference", "first 0 reference", "construct 0 candidate", "part 0",
        "construct 0 candidate", "first 0 candidate", "check 0 candidate", "attack 0 candidate",
    ]  # fmt: skip
    assert (one.correctness.state, one.timed_sides, one.is_parted) == ("correct", SIDES, True)
    assert [remark.code for remark in one.remarks] == ["sides_apart"]


def test_sides_that_fit_stay_side_by_side(tmp_path: Path) -> None:
    worker = Worker(12, reference=6, candidate=6)
    made = crew(tmp_path, worker)
    one = tally(made)
    check(made, one, made._plan)
    assert "part 0" not in worker.asked and not one.is_parted and one.remarks == []


def test_other_cases_go_before_sides_do(tmp_path: Path) -> None:
    worker = Worker(13, reference=6, candidate=6)
    made = crew(tmp_path, worker)
    for index in (0, 1):
        check(made, tally(made, index), made._plan)
    assert "release 0" in worker.asked and not [words for words in worker.asked if words.startswith("part")]


def test_of_three_sides_any_may_be_the_one_that_is_too_much(tmp_path: Path) -> None:
    worker = Worker(13, reference=6, candidate=6, against=6)
    made = crew(tmp_path, worker, ALL_SIDES)
    one = tally(made)
    check(made, one, made._plan)
    assert worker.asked.index("first 0 candidate") < worker.asked.index("part 0")
    assert {side: one.sides[side].correctness.state for side in ("candidate", "against")} == {
        "candidate": "correct", "against": "correct",
    }  # fmt: skip


def test_an_attack_that_needs_more_is_made_again_apart(tmp_path: Path) -> None:
    worker = Worker(14, reference=6, candidate=6)
    worker.extra["attack"] = 4
    made = crew(tmp_path, worker)
    one = tally(made)
    check(made, one, made._plan)
    assert worker.asked[-3:] == ["attack 0 candidate", "part 0", "attack 0 candidate"]
    assert one.correctness.state == "correct" and one.sides["candidate"].failure is None


def test_a_side_that_is_too_large_alone_fails_with_a_way_out_and_the_other_stands(tmp_path: Path) -> None:
    worker = Worker(10, reference=6, candidate=11)
    made = crew(tmp_path, worker)
    one = tally(made)
    check(made, one, made._plan)
    failure = one.sides["candidate"].failure
    assert failure is not None and failure.kind == "out_of_memory"
    assert failure.hint is not None and "smaller inputs" in failure.hint and "isolation" not in failure.hint
    assert one.timed_sides == ("reference",) and worker.asked.count("part 0") == 1


def test_a_new_worker_knows_at_once_what_does_not_fit(tmp_path: Path) -> None:
    made = crew(tmp_path, Worker(10, reference=6, candidate=6))
    one = tally(made)
    one.is_parted = True
    for side in SIDES:
        assert made.ready(one, side).failure is None
    assert made._worker.asked[:3] == ["load 0", "part 0", "construct 0 reference"]  # type: ignore[union-attr]


def test_calls_that_are_timed_make_other_cases_go(tmp_path: Path) -> None:
    worker, made, one = two_checked(tmp_path, time=6)
    timer = Timer(made, replace(made._plan, schedule=plans.schedule(warmup=0, repeats=2)))
    timer.visit(one, 0)
    place = worker.asked.index("release 1")
    assert worker.asked[place - 1 : place + 2] == ["time 0", "release 1", "time 0"] and len(one.samples) == 4
    assert not one.is_parted and one.timed_sides == SIDES


def test_a_breakdown_makes_other_cases_go_but_not_the_sides_that_were_timed(tmp_path: Path) -> None:
    worker, made, one = two_checked(tmp_path, breakdown=6)
    assert made.ask("breakdown", "breakdown", one, side="reference").failure is None
    assert worker.asked[-2:] == ["release 1", "breakdown 0 reference"]
    worker.extra["breakdown"] = 11
    assert made.ask("breakdown", "breakdown", one, side="reference").failure is not None
    assert not one.is_parted


def test_the_hosts_time_is_seen_apart_where_calls_need_more(tmp_path: Path) -> None:
    worker = Worker(14, reference=6, candidate=6)
    worker.extra["time"] = 4
    made = crew(tmp_path, worker)
    one = tally(made)
    check(made, one, made._plan)
    probe(made, one)
    assert worker.asked[-4:] == ["time 0", "part 0", "time 0", "time 0"]
    assert one.is_parted and all(one.sides[side].host_us == 1 for side in SIDES)


@pytest.mark.parametrize("service", [{"is_timing": True}, {}])
def test_sides_that_are_timed_together_are_never_parted(tmp_path: Path, service: dict[str, Any]) -> None:
    worker = Worker(10, reference=6, candidate=6) if service else Worker(12, reference=6, candidate=6)
    worker.extra["time"] = 1
    made = crew(tmp_path, worker, **service)
    one = tally(made)
    replies = [made.ready(one, side) for side in SIDES]
    replies.append(made.ask("time", "timing", one, blocks=[]))
    assert "part 0" not in worker.asked and not one.is_parted
    failure = next(reply.failure for reply in replies if reply.failure is not None)
    assert failure.kind == "out_of_memory" and failure.hint is not None
    assert service or "isolation=side" in failure.hint


def test_sides_that_do_not_fit_together_are_not_timed_in_turn_but_one_alone_is(tmp_path: Path) -> None:
    worker = Worker(10, reference=6, candidate=6)
    made = crew(tmp_path, worker)
    one = tally(made)
    one.is_parted = True
    timer = Timer(made, replace(made._plan, schedule=plans.schedule(warmup=0, repeats=1)))
    timer.visit(one, 0)
    assert worker.asked == []
    one.correctness = Correctness(state="incorrect")
    timer.visit(one, 0)
    assert [sample.side for sample in one.samples] == ["reference"]
