"""The run itself: check every case, then time them visit by visit; nothing measured is lost on the way."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from msprun.errors import MachineError
from msprun.measure.breakdown import break_down
from msprun.measure.check import check
from msprun.measure.crew import Crew
from msprun.measure.tally import Tally
from msprun.measure.timing import Timer
from msprun.model.failure import Failure
from msprun.model.plan import Plan
from msprun.plan import Bench

_SAME = 3


class Execution:
    """A plan under way. `tallies` hold what is known at any moment, in the order in which the cases run."""

    def __init__(self, plan: Plan, made: Bench, on_change: Callable[[Tally], None]) -> None:
        by_index = {case.index: case for case in plan.operator.cases}
        self.tallies = [Tally(by_index[index], plan) for index in plan.cases]
        self.environment: dict[str, Any] = {}
        self._plan = plan
        self._on_change = on_change
        self._crew = Crew(plan, made, self.environment.update)
        self._began = time.monotonic()
        self._seen: Counter[tuple[str, str, str]] = Counter()

    def run(self) -> None:
        """Do everything. Raises MachineError when no worker ever starts, KeyboardInterrupt when the user stops it."""
        try:
            self._each(lambda tally: check(self._crew, tally, self._plan))
            if self._plan.mode != "check":
                timer = Timer(self._crew, self._plan)
                for visit in range(self._plan.schedule.visits):
                    self._each(lambda tally, number=visit: timer.visit(tally, number))  # type: ignore[misc]
                self._each(lambda tally: break_down(self._crew, tally))
        except MachineError as error:
            self._crew.kill()
            if not self.environment:
                raise
            self._give_up(error)
        except BaseException:
            self._crew.kill()
            raise
        self._crew.close()

    def _give_up(self, error: MachineError) -> None:
        """No new worker starts any more: what was measured stays, the rest has failed."""
        for tally in self.tallies:
            if tally.skipped is None and not tally.samples:
                tally.fail(None, Failure(stage="launch", kind="launch", message=error.message, hint=error.hint))
                self._on_change(tally)

    def _each(self, step: Callable[[Tally], None]) -> None:
        for tally in self.tallies:
            if tally.skipped is None:
                self._skip_or(step, tally)
                self._on_change(tally)

    def _skip_or(self, step: Callable[[Tally], None], tally: Tally) -> None:
        limit_s = self._plan.limits.time_limit_s
        is_fresh = not tally.samples
        if limit_s is not None and time.monotonic() - self._began > limit_s:
            tally.skipped = "skipped_time" if is_fresh else None
            return
        if not tally.is_checked and not self._plan.keep_going and any(n >= _SAME for n in self._seen.values()):
            tally.skipped = "skipped_same_failure"
            return
        before = {side for side, told in tally.sides.items() if told.failure}
        step(tally)
        for side, told in tally.sides.items():
            if told.failure is not None and side not in before:
                self._seen[(side, told.failure.kind, _shape_of(told.failure.message))] += 1


def _shape_of(message: str) -> str:
    """A message without its numbers: the same fault in another case."""
    return re.sub(r"\d+", "#", message)
