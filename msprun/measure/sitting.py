"""One session behind the check: its worker made ready, its calls, and an end in order also where it is interrupted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from msprun import process
from msprun.measure.crew import Crew
from msprun.measure.recording import Recording
from msprun.measure.sentinel import Sentinel
from msprun.measure.tally import Tally
from msprun.measure.timing import Timer
from msprun.model.plan import Plan
from msprun.process import Hold
from msprun.profiler import COLLECTORS

# Who interrupts a session waits, from then on, as long for the call under way, which may take seconds, and for the end
# of the profiler; and for its export as long as this, where that has to be made once more.
_CALL_S = 5.0
_END_S = 20.0
_EXPORT_S = 10.0
_INTERRUPTED = "interrupted: reading what was measured; once more to stop at once"


class Sitting:
    """A session's worker and its calls; `changed` hears of cases, `full` are those whose sides do not fit together."""

    def __init__(
        self, plan: Plan, crew: Crew, timer: Timer, sentinel: Sentinel | None, changed: Callable[[Tally], None]
    ) -> None:
        self.crew = crew
        self.timer = timer
        self.full: list[int] = []
        self._ready: list[Tally] = []
        self._timeout_s = plan.limits.timeout_s
        self._sentinel = sentinel
        self._changed = changed
        self._collector = COLLECTORS.get(plan.profiler)

    def prepare(self, waiting: Sequence[Tally]) -> None:
        """Construct and call each side once, then have whoever collects begin. Raises MachineError."""
        self._ready = [tally for tally in waiting if self._is_ready(tally)]
        self.crew.collect("begin")

    def held(self) -> AbstractContextManager[Hold]:
        """Inside, whoever interrupts waits for the call under way, if there is something to lose."""
        return process.held(self._patience(_CALL_S), self._tell_of_interrupt)

    def call(self, hold: Hold, visits: Sequence[int]) -> None:
        """All visits, one after the other. Where they are interrupted, a worker still ends as it should."""
        self.crew.heed(hold)
        end_s = min(_END_S, self._timeout_s)
        try:
            self._visit(visits)
        except KeyboardInterrupt:
            if hold.is_final or not isinstance(self.timer, Recording):
                raise
            hold.patience = self._patience(end_s)
            answer = self.crew.settle()
            self.timer.break_off(None if answer is None else answer.body)
            if answer is None and not self.crew.is_wrapped:
                raise
            if answer is None:
                return
        hold.patience = self._patience(end_s)
        self.crew.collect("end")

    @property
    def is_cut(self) -> bool:
        """Its worker is gone, and with it what was collected."""
        return self._collector is not None and self.crew.is_lost

    @property
    def captures(self) -> list[Path]:
        """All that a profiler left, of a session's attempts and of processes that an operator started, too."""
        if self._collector is None:
            return []
        return [folder for session in self.crew.sessions for folder in self._collector.captures(session.folder)]

    def export_s(self, hold: Hold) -> float:
        """How long an export may take that has to be made once more."""
        return min(self._timeout_s, _EXPORT_S) if hold.is_asked else self._timeout_s

    def _is_ready(self, tally: Tally) -> bool:
        """What does not fit beside the other side is left to sessions of a side."""
        sides = self.timer.present(tally)
        for side in sides:
            if self.is_cut:
                return False
            reply = self.crew.ready(tally, side)
            if reply.failure is None:
                continue
            if reply.failure.kind == "out_of_memory" and len(sides) > 1 and self._collector:
                self.full.append(tally.case.index)
                return False
            tally.fail(side, reply.failure)
            self._changed(tally)
        return bool(self.timer.present(tally))

    def _visit(self, visits: Sequence[int]) -> None:
        for visit in visits:
            for tally in self._ready:
                if self.is_cut:
                    return
                self.timer.visit(tally, visit)
                if self._sentinel is not None:
                    self._sentinel.during()
                self._changed(tally)

    def _patience(self, seconds: float) -> Callable[[], float]:
        """Of who interrupts: none where nothing would be lost."""
        return lambda: seconds if self.timer.is_worth_reading else 0.0

    def _tell_of_interrupt(self) -> None:
        if self._sentinel is not None:
            self._sentinel.tell(_INTERRUPTED)
