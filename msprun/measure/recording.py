"""Timing on a device whose kernels are told when the session is over: the calls are planned, made and written down."""

from __future__ import annotations

import time
from collections.abc import Sequence
from math import ceil
from typing import Any, Literal, cast

from msgspec import Struct, convert

from msprun.batches import Cost
from msprun.measure.crew import Crew
from msprun.measure.tally import Tally
from msprun.measure.timing import Timer, block
from msprun.model.call import DeviceCall, Purpose
from msprun.model.measurement import Sample
from msprun.model.operator import Side
from msprun.model.plan import Plan
from msprun.stat import order

_AROUND_US = 150.0  # what a synchronised, marked call costs the host beside its own time
_KERNELS = 20  # of a call, before any records tell; operators of one kernel are common, of fifty are not


class Recorded(Struct, frozen=True, kw_only=True, array_like=True):
    """One line of a worker's record: see worker/protocol.py."""

    number: int
    case: int
    side: Side | None
    purpose: Literal["call", "restore", "flush", "boost", "pause"]
    start_ns: int
    end_ns: int


class Ran(Struct, frozen=True, kw_only=True):
    """All calls of a session, in order, and the numbers of those that were begun by requests that failed.

    `pauses` are numbers of separators that stand before no call; none: markers work, and there are no separators.
    `unanswered_from`: a last request was never answered; its calls have this number and higher ones.
    """

    calls: tuple[DeviceCall, ...]
    abandoned: tuple[int, ...] = ()
    unanswered_from: int | None = None
    pauses: tuple[int, ...] = ()


class Recording(Timer):
    """`calls` are all that ran, in order; `hosts` the host's view of those that count, by number.

    `abandoned` are numbers of calls that were begun by requests that failed.
    """

    def __init__(self, crew: Crew, plan: Plan, sides: tuple[Side, ...] | None = None) -> None:
        super().__init__(crew, plan, sides)
        self.calls: list[DeviceCall] = []
        self.hosts: dict[int, Sample] = {}
        self.abandoned: list[int] = []
        self._under_way: tuple[int, int] | None = None
        self._is_unanswered = False
        self.pauses: list[int] = []

    @property
    def ran(self) -> Ran:
        """What the session's records are matched against."""
        known = (call.number for call in self.calls)
        last = max((*known, *self.abandoned, *self.pauses), default=-1)
        return Ran(
            calls=tuple(self.calls), abandoned=tuple(self.abandoned), pauses=tuple(self.pauses),
            unanswered_from=last + 1 if self._is_unanswered else None,
        )  # fmt: skip

    def visit(self, tally: Tally, number: int) -> None:
        """One visit of a case; where a side fails it is made again without it, as long as the worker lives."""
        self._under_way = tally.case.index, number
        self._visit(tally, number)
        self._under_way = None

    @property
    def is_worth_reading(self) -> bool:
        """Some visit was finished, so that the records have times to tell."""
        return any((s.case, s.visit) != self._under_way for s in self.hosts.values())

    def break_off(self, answer: dict[str, Any] | None) -> None:
        """Have the visit under way count nowhere; `answer` is that of its last request, None where none came."""
        self.hosts = {n: s for n, s in self.hosts.items() if (s.case, s.visit) != self._under_way}
        self._is_unanswered = answer is None
        self._abandon(answer or {})
        self.abandoned += [line.number for line in _recorded(answer or {})]

    def _visit(self, tally: Tally, number: int) -> None:
        if self._plan.profiling.boost:
            self._boost(tally, number)
        while (sides := self.present(tally)) and not self._crew.is_lost:
            self._attempt(tally, sides, number)
            if self.present(tally) == sides:
                return
            self._forget(tally, number)

    def _boost(self, tally: Tally, visit: int) -> None:
        reply = self._crew.ask("boost", "timing", tally)
        if reply.failure is None:
            self._note(reply.body, (), visit)
        elif not self._crew.is_lost:
            tally.note([{"code": "no_boost", "figures": {"error": reply.failure.message}}])

    def _forget(self, tally: Tally, number: int) -> None:
        case = tally.case.index
        self.hosts = {n: s for n, s in self.hosts.items() if (s.case, s.visit) != (case, number)}

    def _abandon(self, answer: dict[str, Any]) -> None:
        self.abandoned += convert(answer.get("abandoned") or (), list[int])

    def _keep(self, tally: Tally, samples: Sequence[Sample], answer: dict[str, Any]) -> None:
        self._note(answer, samples, samples[0].visit)

    def _note(self, answer: dict[str, Any], samples: Sequence[Sample], visit: int) -> None:
        """Write down what ran, each call beside the block that was asked for."""
        rest = iter(samples)
        for line in _recorded(answer):
            if line.purpose == "pause":
                self.pauses.append(line.number)
                continue
            sample = next(rest) if line.purpose == "call" else None
            if sample is not None:
                self.hosts[line.number] = sample
            self.calls.append(
                DeviceCall(
                    number=line.number,
                    case=line.case,
                    side=line.side,
                    purpose=sample.phase if sample is not None else cast(Purpose, line.purpose),
                    visit=visit,
                    group=sample.group if sample is not None else None,
                    start_ns=line.start_ns,
                    end_ns=line.end_ns,
                )
            )

    def _sample(self, tally: Tally, sides: tuple[Side, ...], visit: int, deadline: float) -> None:
        """As many groups as were planned: how narrow an interval becomes shows when the session is over."""
        blocks = [
            block(tally, side, "timed", visit, group)
            for group in range(groups_of_visit(self._plan, tally))
            for side in order.quad(sides, self._random, self._plan.schedule.order)
        ]
        began = time.monotonic()
        self._run(tally, blocks, deadline)
        tally.sampled_s[sides] = tally.sampled_s.get(sides, 0.0) + time.monotonic() - began


def _recorded(answer: dict[str, Any]) -> list[Recorded]:
    return convert(answer.get("recorded") or (), list[Recorded])


def cost(plan: Plan, tally: Tally) -> Cost:
    """What a case takes of a session, by the host's times of its calls."""
    schedule, sides, call_us = plan.schedule, tally.timed_sides, _call_us(tally)
    repeats = schedule.repeats
    timed = 2 * groups_of_visit(plan, tally) if repeats is None else repeats
    warm = schedule.warmup_max if schedule.warmup is None else schedule.warmup
    most_warm = warm if schedule.warmup is not None else min(warm, int(schedule.warmup_s * 1e6 / call_us) + 1)
    calls = len(sides) * schedule.visits * (timed + most_warm)
    return Cost(seconds=calls * call_us / 1e6, rows=calls * _KERNELS)


def groups_of_visit(plan: Plan, tally: Tally) -> int:
    """The groups of one visit: what `budget_s` holds by the host's time of a call, within the schedule's counts."""
    schedule = plan.schedule
    quad_us = 4 * _call_us(tally)
    groups = min(max(int(schedule.budget_s * 1e6 / quad_us), schedule.quads_min), schedule.quads_max)
    most = max(1, schedule.quads_max // schedule.visits)
    return min(ceil(groups / schedule.visits), most)


def _call_us(tally: Tally) -> float:
    """What a recorded call takes of the host, as the mean of the sides whose calls the probe timed."""
    known = [us for side in tally.timed_sides if (us := tally.sides[side].host_us) is not None]
    return _AROUND_US + (sum(known) / len(known) if known else 0.0)
