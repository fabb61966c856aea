"""The run itself: check every case, then time them visit by visit; nothing measured is lost on the way."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from msgspec.structs import replace

from msprun.bench import Bench
from msprun.device import DEVICES
from msprun.errors import MachineError
from msprun.journal import Journal, Known, Memory
from msprun.measure.apart import Apart
from msprun.measure.breakdown import break_down
from msprun.measure.check import check, recheck
from msprun.measure.crew import Crew, SickDevice
from msprun.measure.probe import probe
from msprun.measure.sentinel import Sentinel
from msprun.measure.tally import Tally, failures_of, is_finished, row
from msprun.measure.timing import Timer
from msprun.model.failure import Failure
from msprun.model.measurement import Remark
from msprun.model.operator import SIDES, Side
from msprun.model.plan import Plan
from msprun.model.result import CaseRow
from msprun.process import Spare

_SAME = 3
_NOT_AGAIN = "after three such cases it was not tried again: keep_going=true tries it in every case"


class Execution:
    """A plan under way. `tallies` hold what is known at any moment, in the order in which the cases run."""

    def __init__(
        self,
        plan: Plan,
        made: Bench,
        journal: Journal,
        on_change: Callable[[CaseRow], None],
        say: Callable[[str], None] = print,
    ) -> None:
        by_index = {case.index: case for case in plan.operator.cases}
        self.tallies = [Tally(by_index[index], plan, journal.add) for index in plan.cases]
        self.rows = {tally.case.index: row(tally) for tally in self.tallies}
        self.environment: dict[str, Any] = {}
        self._journal = journal
        self._plan = plan
        self._made = made
        self._on_change = on_change
        self.remarks: list[Remark] = []
        device = DEVICES[plan.device.kind]
        self._sentinel = Sentinel(device, plan, made.claim, say) if plan.device.lease else None
        self._crew = Crew(plan, made, self.environment.update, sentinel=self._sentinel)
        self._began = time.monotonic()

    def resume(self, memory: Memory) -> None:
        """Take over the cases that an earlier run finished; the others start from nothing."""
        for tally in self.tallies:
            stored = memory.rows.get(tally.case.index)
            if stored is not None and is_finished(stored):
                tally.restore(stored, memory.samples.get(tally.case.index, ()))
                self.rows[tally.case.index] = stored
            else:
                tally.begin()

    def start(self, spare: Spare | None = None) -> None:
        """Have a worker begin to import torch, if there is anything to do; it may take over the process `spare`."""
        if not all(tally.is_over for tally in self.tallies):
            self._crew.start(spare)

    def run(self) -> None:
        """Do everything. Raises MachineError when no worker ever starts, KeyboardInterrupt when the user stops it."""
        try:
            self._each(lambda tally: check(self._crew, tally, self._plan))
            if self._plan.mode != "check":
                if len(self._plan.sessions) > 1:
                    self._time_apart(self.tallies, self._plan)
                else:
                    self._time_here()
        except MachineError as error:
            self._crew.kill()
            if not self.environment:
                raise
            self._give_up(error)
        except KeyboardInterrupt:
            self._crew.kill()
            self._break_off()
            raise
        except BaseException:
            self._crew.kill()
            raise
        self._crew.close()

    def _break_off(self) -> None:
        """Interrupted: cases that were not sampled to their end say so, and show what there is."""
        for tally in self.tallies:
            if not tally.is_over and tally.samples and tally.stop is None:
                tally.stop = "interrupted"
                self._changed(tally)

    def _time_here(self) -> None:
        """The worker that checked also times."""
        timer = Timer(self._crew, self._plan)
        for visit in range(self._plan.schedule.visits):
            self._each(lambda tally, number=visit: timer.visit(tally, number))  # type: ignore[misc]
        self._each(lambda tally: recheck(self._crew, tally, self._plan))
        self._each(lambda tally: break_down(self._crew, tally))
        parted = [t for t in self.tallies if t.is_parted and len(t.timed_sides) > 1 and not t.samples]
        if parted:
            self._time_apart(parted, _side_after_side(self._plan))

    def _time_apart(self, tallies: Sequence[Tally], plan: Plan) -> None:
        """Sessions behind the check hold warm-up and timed calls and nothing else."""
        self._each(lambda tally: probe(self._crew, tally), tallies)
        self._each(lambda tally: recheck(self._crew, tally, self._plan), tallies)
        self._crew.close()
        if (seen := self._crew.look_back()) is not None:
            self.remark(seen.remarks)
        wanted = "candidate" if "candidate" in self._plan.sides else "reference"
        if any(wanted in tally.timed_sides for tally in tallies if not tally.is_over):
            apart = Apart(plan, self._made, self.environment.update, self._changed, self._sentinel)
            try:
                limit_s = self._plan.limits.time_limit_s
                apart.run(tallies, None if limit_s is None else self._began + limit_s)
            finally:
                self.remark(apart.remarks)

    def remark(self, found: Sequence[Remark]) -> None:
        """Keep remarks about the run as a whole, each code once."""
        known = {remark.code for remark in self.remarks}
        self.remarks += [remark for remark in found if remark.code not in known]

    def _give_up(self, error: MachineError) -> None:
        """No new worker starts any more: what was measured stays, the rest has failed."""
        for tally in self.tallies:
            if tally.is_over or tally.samples:
                continue
            if isinstance(error, SickDevice) and not any(told.failure for told in tally.sides.values()):
                tally.skipped = "skipped_device"
            else:
                tally.fail(None, Failure(stage="launch", kind="launch", message=error.message, hint=error.hint))
            self._changed(tally)

    def _each(self, step: Callable[[Tally], None], tallies: Sequence[Tally] | None = None) -> None:
        for tally in self.tallies if tallies is None else tallies:
            if not tally.is_over:
                self._skip_or(step, tally)
                self._changed(tally)

    def _changed(self, tally: Tally) -> None:
        known = row(tally)
        self.rows[tally.case.index] = known
        self._journal.add(Known(row=known))
        self._on_change(known)

    def _skip_or(self, step: Callable[[Tally], None], tally: Tally) -> None:
        limit_s = self._plan.limits.time_limit_s
        if limit_s is not None and time.monotonic() - self._began > limit_s:
            tally.skipped = None if tally.samples else "skipped_time"
            return
        if not tally.is_checked and not self._plan.keep_going:
            hopeless = self._hopeless()
            if any(side in SIDES for side in hopeless):
                tally.skipped = "skipped_same_failure"
                return
            for side, failure in hopeless.items():
                tally.fail(side, replace(failure, hint=_NOT_AGAIN))
        step(tally)

    def _hopeless(self) -> dict[Side, Failure]:
        """The sides that failed in the same way in three cases, and how."""
        failures = [(s, f) for r in self.rows.values() for s, f in failures_of(r).items()]
        same = Counter((side, failure.kind, _shape_of(failure.message)) for side, failure in failures)
        return {s: f for s, f in failures if same[s, f.kind, _shape_of(f.message)] >= _SAME}


def _side_after_side(plan: Plan) -> Plan:
    """The same with isolation=side."""
    return replace(
        plan,
        profiling=replace(plan.profiling, isolation="side"),
        schedule=replace(plan.schedule, visits=2),  # as each side has two sessions
    )


def _shape_of(message: str) -> str:
    """A message without its numbers: the same fault in another case."""
    return re.sub(r"\d+", "#", message)
