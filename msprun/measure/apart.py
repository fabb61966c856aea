"""Timing in sessions of its own, behind the check: profiled ones, or one process a side and a case."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from msprun.batches import Batch, batches
from msprun.bench import Bench, Service
from msprun.measure.booking import book, failure, is_suspect
from msprun.measure.crew import Crew
from msprun.measure.recording import Recording, cost
from msprun.measure.room import need_room
from msprun.measure.sentinel import Seen, Sentinel
from msprun.measure.sitting import Sitting
from msprun.measure.tally import Tally
from msprun.measure.tidy import tidy
from msprun.measure.timing import Timer
from msprun.model.call import SideAccount
from msprun.model.failure import Failure
from msprun.model.measurement import Remark
from msprun.model.operator import Side
from msprun.model.plan import Plan
from msprun.process import Hold
from msprun.profiler import COLLECTORS
from msprun.stat.estimate import paired


class Apart:
    """Runs the sessions of a plan's timing; `changed` hears of every case that knows more."""

    def __init__(
        self,
        plan: Plan,
        made: Bench,
        on_hello: Callable[[dict[str, Any]], None],
        changed: Callable[[Tally], None],
        sentinel: Sentinel | None = None,
    ) -> None:
        self.remarks: list[Remark] = []
        self._sentinel = sentinel
        self._is_lost = False
        self._is_refused = False
        self._refused_s: float | None = None
        self._plan = plan
        self._made = made
        self._on_hello = on_hello
        self._changed = changed
        self._collector = COLLECTORS.get(plan.profiler)
        self._full: list[int] = []
        self._read: list[Path] = []
        self._wanted: list[Path] = []
        self._bad: dict[tuple[int, Side], tuple[SideAccount, Failure | None]] = {}
        self._ends_s: float | None = None
        self._planned: dict[int, set[tuple[Side, int]]] = {}
        self._without: tuple[str, ...] = ()

    def run(self, tallies: Sequence[Tally], ends_s: float | None = None) -> None:
        """Time what the check left standing; nothing begins after `ends_s` (monotonic seconds).

        Raises MachineError when no worker starts, KeyboardInterrupt when what was measured until then is booked.
        """
        plan = self._plan
        self._ends_s = ends_s
        known = {tally.case.index: tally for tally in tallies if not tally.is_over and tally.timed_sides}
        if plan.profiling.isolation == "shared":
            self._full += [case for case, tally in known.items() if tally.is_parted and len(tally.timed_sides) > 1]
        try:
            self._serve_all(tuple(known), known, plan.profiling.isolation)
            if self._collector is not None:
                self._repair(known)
        except KeyboardInterrupt:
            self._break_off(known)
            raise
        finally:
            if self._collector is not None and not plan.profiling.keep_prof:
                tidy(self._read, self._wanted)
        for (case, side), (_, why) in self._bad.items():
            if why is not None:
                known[case].fail(side, why)
        for tally in known.values():
            self._judge(tally)
            self._changed(tally)

    def _break_off(self, known: dict[int, Tally]) -> None:
        """Interrupted: cases that saw all their visits are done, and sides that no session would bring a time."""
        for (case, side), (seen, why) in self._bad.items():
            if why is not None and seen.verdict == "no_kernels":
                known[case].fail(side, why)
        suspects = {case for case, side in self._bad if known[case].sides[side].failure is None}
        for tally in known.values():
            if tally.case.index in suspects or not self._is_whole(tally):
                tally.stop = None
            else:
                self._judge(tally)
            self._changed(tally)

    def _is_whole(self, tally: Tally) -> bool:
        """There are times of every visit of every side."""
        planned = {key for key in self._planned.get(tally.case.index, ()) if key[0] in tally.timed_sides}
        seen = {(sample.side, sample.visit) for sample in tally.samples if sample.phase == "timed"}
        return bool(planned) and planned <= seen

    def _repair(self, known: dict[int, Tally]) -> None:
        """Once more what lost its records or was not told apart, at last case by case; longer what is unresolved."""
        plan = self._plan
        self._once_more(self._full, known, "side")
        suspects = [case for case in known if self._has(case, is_suspect)] if plan.retry else []
        self._once_more(suspects, known, plan.profiling.isolation)
        if self._collector is not None and self._collector.for_markers and self._mixed(known):
            # Markers answered, and the records do not show where calls begin: separators come in their place.
            self._without = self._collector.for_markers
            self._once_more(self._mixed(known), known, plan.profiling.isolation)
            self._without = ()
        if plan.profiling.isolation != "case":
            self._once_more(self._mixed(known), known, "case")
        if plan.profiling.isolation == "shared" and plan.schedule.repeats is None:
            unresolved = tuple(case for case, tally in known.items() if self._is_unresolved(case, tally))
            self._serve_all(unresolved, known, "shared", plan.schedule.visits)

    def _mixed(self, known: dict[int, Tally]) -> list[int]:
        """Cases whose calls could not be told apart."""
        return [case for case in known if self._has(case, lambda seen: seen.verdict == "unsplit")]

    def _once_more(self, cases: Sequence[int], known: dict[int, Tally], isolation: str) -> None:
        bad = {key: self._bad.pop(key) for key in tuple(self._bad) if key[0] in cases}
        have_back = {case: known[case].again() for case in cases}
        try:
            self._serve_all(cases, known, isolation)
        except KeyboardInterrupt:
            back = {case for case in cases if have_back[case]()}
            self._bad |= {key: seen for key, seen in bad.items() if key[0] in back}
            raise

    def _serve_all(self, cases: Sequence[int], known: dict[int, Tally], isolation: str, later: int = 0) -> None:
        """All sessions that these cases take."""
        plan = self._plan
        costs = {case: cost(plan, known[case]) for case in cases}
        collector = plan.profiler if self._collector else None
        found = batches(cases, plan.sides, isolation, collector, costs)
        if not later:
            self._planned |= {case: set() for case in cases}
            for batch in found:
                planned = {(side, visit) for side in batch.sides for visit in self._visits(batch)}
                for case in batch.cases:
                    self._planned[case] |= planned
        for batch in found:
            self._serve(batch, known, later)

    def _visits(self, batch: Batch, later: int = 0) -> Sequence[int]:
        return range(later, later + self._plan.schedule.visits) if batch.visit is None else (batch.visit,)

    def _has(self, case: int, is_so: Callable[[SideAccount], bool]) -> bool:
        return any(number == case and is_so(seen) for (number, _), (seen, _) in self._bad.items())

    def _is_unresolved(self, case: int, tally: Tally) -> bool:
        pair = paired(tally.samples, self._plan.schedule.order)
        return pair is not None and pair.verdict == "unresolved" and pair.low is not None

    def _serve(self, batch: Batch, known: dict[int, Tally], later: int = 0) -> None:
        """One session's work. A worker that dies costs a side of a case; the others begin again in a new session."""
        retries = self._plan.retry
        while waiting := [known[case] for case in batch.cases if self._is_waiting(known[case], batch)]:
            standing = sum(len(tally.timed_sides) for tally in waiting)
            if self._is_late(waiting) or self._session(batch, waiting, later):
                return
            if self._is_refused:
                continue
            if sum(len(tally.timed_sides) for tally in waiting) < standing:
                continue
            if retries == 0:
                self._give_up(waiting)
            retries -= 1

    def _give_up(self, waiting: Sequence[Tally]) -> None:
        """A session that dies again and again without any side to blame."""
        for tally in waiting:
            lost = Failure(
                stage="timing",
                kind="lost",
                message="its session ended too early, and no call is to blame",
                log="sessions",
            )
            tally.fail(None, lost)
            self._changed(tally)

    def _session(self, batch: Batch, waiting: Sequence[Tally], later: int) -> bool:
        """Whether it went to its end, and was booked."""
        plan = self._plan
        cases = tuple(tally.case.index for tally in waiting)
        service = Service(
            cases=cases, sides=batch.sides, is_timing=True, follows_lost=self._is_lost, without=self._without,
        )  # fmt: skip
        if self._collector is not None:
            need_room(plan.folder, sum(cost(plan, tally).rows for tally in waiting))
        crew = Crew(plan, self._made, self._on_hello, service, self._sentinel)
        timer = (Recording if self._collector else Timer)(crew, plan, batch.sides)
        sitting = Sitting(plan, crew, timer, self._sentinel, self._changed)
        try:
            sitting.prepare(waiting)
            self._full += sitting.full
            with sitting.held() as hold:
                sitting.call(hold, self._visits(batch, later))
                return self._conclude(sitting, hold, waiting)
        except BaseException:
            crew.kill()
            raise

    def _conclude(self, sitting: Sitting, hold: Hold, waiting: Sequence[Tally]) -> bool:
        """End a session; whether it went to its end, and was booked."""
        crew, timer = sitting.crew, sitting.timer
        self._is_lost = crew.is_lost
        if sitting.is_cut:
            crew.kill()
            self._look_back(crew)
            self._wanted += sitting.captures
            return False
        crew.close(self._plan.limits.timeout_s)
        seen = self._look_back(crew)
        self._is_refused = crew.is_refused and self._waits_for_channel()
        if self._is_refused:
            return False
        if isinstance(timer, Recording):
            # Nothing was called where no case's sides fit into memory together.
            is_sound = not timer.calls or self._book(crew, timer, waiting, seen, sitting.export_s(hold))
            (self._read if is_sound else self._wanted).extend(sitting.captures)
        return True

    def _waits_for_channel(self) -> bool:
        """Whether somebody else's profiler, noticed when the session was over, is waited for any longer."""
        now, patience_s = time.monotonic(), 0.0 if self._sentinel is None else self._sentinel.patience_s
        if self._sentinel is not None and self._refused_s is None and patience_s:
            self._sentinel.tell("waiting for the device's profiling channel: the session has no records")
        self._refused_s = now if self._refused_s is None else self._refused_s
        return now < self._refused_s + patience_s

    def _look_back(self, crew: Crew) -> Seen | None:
        """What was seen of the device around a session; what concerns the run is remarked."""
        seen = crew.look_back()
        self.remarks += seen.remarks if seen is not None else ()
        return seen

    def _book(
        self, crew: Crew, timer: Recording, waiting: Sequence[Tally], beside: Seen | None, timeout_s: float
    ) -> bool:
        """Take over what the session's records say of each side; whether all of them have a sound time."""
        from msprun.measure.reckon import reckon  # brings pandas, which nothing before the first records needs

        assert self._collector is not None
        session, said = crew.sessions[-1], crew.said()
        log = f"sessions/{session.number}/{session.log.name}"
        complaint, remedy = self._collector.complaint(said), self._collector.remedy(said)
        found = reckon(self._collector, session, timer.ran, timeout_s, beside)
        accounts = found.accounts
        self.remarks += found.remarks
        if found.chip:
            self._on_hello({"chip": found.chip})
        by_case = {tally.case.index: tally for tally in waiting}
        counting = {(host.case, host.side) for host in timer.hosts.values()}
        is_bad = False
        for seen in accounts.sides:
            tally = by_case[seen.case]
            if tally.sides[seen.side].failure is not None or (seen.case, seen.side) not in counting:
                continue
            book(tally, seen, timer.hosts, self._plan.profiling.metric)
            why = failure(seen, accounts, log, complaint, remedy)
            if why is not None or is_suspect(seen):
                self._bad[seen.case, seen.side] = seen, why
                is_bad = True
        for tally in waiting:
            if self._is_whole(tally):  # else sessions of the other side follow
                self._judge(tally)
            self._changed(tally)
        return not is_bad

    def _judge(self, tally: Tally) -> None:
        """Why sampling ended, as far as the figures tell."""
        schedule = self._plan.schedule
        if self._collector is None or not tally.samples:
            return
        if schedule.is_explicit:
            tally.stop = "explicit"
            return
        pair = paired(tally.samples, schedule.order)
        is_narrow = pair and pair.low and pair.high and pair.high / pair.low <= (1 + schedule.precision) ** 2
        tally.stop = "narrow" if is_narrow else "planned"

    def _is_waiting(self, tally: Tally, batch: Batch) -> bool:
        is_left_out = len(batch.sides) > 1 and tally.case.index in self._full
        return not tally.is_over and not is_left_out and any(side in batch.sides for side in tally.timed_sides)

    def _is_late(self, waiting: Sequence[Tally]) -> bool:
        if self._ends_s is None or time.monotonic() < self._ends_s:
            return False
        for tally in waiting:
            tally.skipped = None if tally.samples else "skipped_time"
            self._changed(tally)
        return True
