"""Which sessions follow the check and each other, and what they leave of each case when somebody interrupts them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from msprun.batches import Batch
from msprun.measure.apart import Apart
from msprun.measure.tally import Tally
from msprun.model.call import SideAccount
from msprun.model.case import Case
from msprun.model.failure import Failure
from msprun.model.measurement import Sample
from msprun.model.operator import Side
from msprun.model.plan import Plan
from tests.report import plans
from tests.report.results import all_good

Session = Callable[["Scripted", Batch, Sequence[Tally]], bool]
NO_KERNELS = Failure(stage="accounting", kind="no_kernels", message="nothing ran")


class Scripted(Apart):
    """Sessions that do as they are told, one after the other."""

    def __init__(self, plan: Plan, *sessions: Session) -> None:
        self.heard: list[int] = []
        super().__init__(plan, None, lambda told: None, lambda tally: self.heard.append(tally.case.index))  # type: ignore[arg-type]
        self._sessions = iter(sessions)

    def _session(self, batch: Batch, waiting: Sequence[Tally], later: int) -> bool:
        return next(self._sessions)(self, batch, waiting)

    def find(self, tally: Tally, side: Side, verdict: Any, why: Failure | None = None) -> None:
        """Note an account with a flaw."""
        seen = SideAccount(
            case=tally.case.index, side=side, verdict=verdict, source="op_summary", borders="markers", rows=0, calls=0,
            expected=1,
        )  # fmt: skip
        self._bad[tally.case.index, side] = seen, why


def plan(profiler: str = "msprof", isolation: Any = "shared", visits: int = 2) -> Plan:
    made = plans.plan(all_good())
    return replace(
        made, profiler=profiler, profiling=replace(made.profiling, isolation=isolation, keep_prof=True),
        schedule=replace(made.schedule, warmup=2, repeats=2, visits=visits),
    )  # fmt: skip


def tallies(made: Plan, count: int) -> list[Tally]:
    cases = [Case(index=n, name=f"case{n}", shape_label="[2]", dtype_label="float32") for n in range(count)]
    return [Tally(case, made, lambda entry: None) for case in cases]


def sample(tally: Tally, side: Side, visit: int) -> Sample:
    return Sample(
        case=tally.case.index, side=side, phase="timed", visit=visit, group=0, calls=1, elapsed_ns=1000 + visit
    )


def measure(tally: Tally, sides: Sequence[Side], *visits: int) -> None:
    tally.add([sample(tally, side, visit) for side in sides for visit in visits])


def whole(apart: Scripted, batch: Batch, waiting: Sequence[Tally]) -> bool:
    visits = range(2) if batch.visit is None else (batch.visit,)
    for tally in waiting:
        measure(tally, batch.sides, *visits)
        tally.stop = "explicit"
    return True


def interrupted(apart: Scripted, batch: Batch, waiting: Sequence[Tally]) -> bool:
    """The first case has seen both visits, the second one, the third none."""
    for tally, visits in zip(waiting, ((0, 1), (0,)), strict=False):
        measure(tally, batch.sides, *visits)
    raise KeyboardInterrupt


def refused(apart: Scripted, batch: Batch, waiting: Sequence[Tally]) -> bool:
    """An interrupt that comes before anything was measured."""
    raise KeyboardInterrupt


def stops(apart: Scripted, known: Sequence[Tally]) -> list[str | None]:
    with pytest.raises(KeyboardInterrupt):
        apart.run(known)
    assert apart.heard[-len(known) :] == [tally.case.index for tally in known]  # the rows show what is known now
    return [tally.stop for tally in known]


def test_only_cases_that_saw_all_their_visits_are_done_after_an_interrupt() -> None:
    made = plan()
    known = tallies(made, 20)
    assert stops(Scripted(made, whole, interrupted), known) == ["explicit"] * 11 + [None] * 9
    assert [len(tally.samples) for tally in known[9:13]] == [4, 4, 2, 0]


def test_a_case_whose_other_side_was_not_seen_as_often_is_not_done() -> None:
    made = plan(profiler="clock", isolation="side")
    known = tallies(made, 2)
    # A, B, B; then A again is interrupted before its second visit of any case.
    assert stops(Scripted(made, whole, whole, whole, refused), known) == [None, None]
    assert {(s.side, s.visit) for s in known[0].samples} == {("reference", 0), ("candidate", 0), ("candidate", 1)}


def test_a_side_that_runs_nothing_on_the_device_has_failed_also_after_an_interrupt() -> None:
    def silent(apart: Scripted, batch: Batch, waiting: Sequence[Tally]) -> bool:
        measure(waiting[0], ("reference",), 0, 1)
        apart.find(waiting[0], "candidate", "no_kernels", NO_KERNELS)
        raise KeyboardInterrupt

    made = plan()
    (tally,) = known = tallies(made, 1)
    assert stops(Scripted(made, silent), known) == ["explicit"]
    assert tally.sides["candidate"].failure == NO_KERNELS
    assert tally.timed_sides == ("reference",)


def test_what_lost_records_keeps_its_times_where_the_second_try_is_interrupted() -> None:
    def lossy(apart: Scripted, batch: Batch, waiting: Sequence[Tally]) -> bool:
        for tally in waiting:
            measure(tally, batch.sides, 0, 1)
        apart.find(waiting[0], "reference", "lost_rows")
        return True

    made = plan()
    known = tallies(made, 2)
    assert stops(Scripted(made, lossy, refused), known) == [None, "explicit"]
    assert [len(tally.samples) for tally in known] == [4, 4]


def test_a_second_try_that_brought_times_replaces_the_first() -> None:
    def lossy(apart: Scripted, batch: Batch, waiting: Sequence[Tally]) -> bool:
        for tally in waiting:
            measure(tally, batch.sides, 0, 1)
            apart.find(tally, "candidate", "lost_rows")
        return True

    made = plan()
    known = tallies(made, 2)
    assert stops(Scripted(made, lossy, interrupted), known) == ["explicit", None]
    assert [len(tally.samples) for tally in known] == [4, 2]


def noted(seen: list[tuple[tuple[int, ...], tuple[Side, ...], bool]], verdict: Any) -> Session:
    """A session that writes down its cases, its sides and whether it has markers, and finds all of them flawed."""

    def session(apart: Scripted, batch: Batch, waiting: Sequence[Tally]) -> bool:
        seen.append((tuple(tally.case.index for tally in waiting), batch.sides, not apart._without))
        whole(apart, batch, waiting)
        for tally in waiting if verdict else ():
            for side in batch.sides:
                apart.find(tally, side, verdict)
        return True

    return session


BOTH: tuple[Side, ...] = ("reference", "candidate")


def test_calls_that_markers_do_not_part_are_made_again_with_separators() -> None:
    seen: list[Any] = []
    made = plan()
    known = tallies(made, 2)
    Scripted(made, noted(seen, "unsplit"), noted(seen, None)).run(known)
    assert seen == [((0, 1), BOTH, True), ((0, 1), BOTH, False)]
    assert [len(tally.samples) for tally in known] == [4, 4]


def test_what_separators_do_not_part_either_is_made_again_case_by_case_and_side_by_side() -> None:
    seen: list[Any] = []
    made = plan()
    fine = [noted(seen, None)] * 4
    Scripted(made, noted(seen, "unsplit"), noted(seen, "unsplit"), *fine).run(tallies(made, 1))
    one, other = ((0,), ("reference",), True), ((0,), ("candidate",), True)
    assert seen[2:] == [one, other, other, one]


def test_torch_npus_profiler_has_no_word_against_its_markers() -> None:
    seen: list[Any] = []
    made = plan(profiler="torch_npu")
    Scripted(made, noted(seen, "unsplit"), *[noted(seen, None)] * 4).run(tallies(made, 1))
    assert [is_marked for _, _, is_marked in seen] == [True] * 5
    assert [len(sides) for _, sides, _ in seen] == [2, 1, 1, 1, 1]


def test_sides_that_must_not_share_a_process_do_not_share_one_the_second_time_either() -> None:
    seen: list[Any] = []
    made = plan(isolation="side")
    lossy, fine = [noted(seen, "lost_rows")] * 4, [noted(seen, None)] * 4
    Scripted(made, *lossy, *fine).run(tallies(made, 2))
    assert len(seen) == 8 and all(len(sides) == 1 for _, sides, _ in seen)
