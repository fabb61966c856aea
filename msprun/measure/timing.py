"""Timing one case: warm-up, then blocks of all sides in turn, until enough is known or the time is used up."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from msprun.measure.crew import Crew
from msprun.measure.tally import Tally
from msprun.model.measurement import Block, CacheFacts, Sample
from msprun.model.operator import Side
from msprun.model.plan import Plan
from msprun.profiler import PROFILERS
from msprun.stat import order
from msprun.stat.block import even_blocks
from msprun.stat.estimate import call_us
from msprun.stat.stop import stop_reason
from msprun.stat.warmup import is_steady

_ASK_US = 100_000.0  # a request asks for about this much, so that clocks and limits are looked at between requests
_ASK_BLOCKS = 2000
_WARM = 10  # later visits warm up what is warm already: caches and the clock, for a tenth of the time


class Timer:
    """Times the cases of a plan, one visit after the other; with `sides` these alone."""

    def __init__(self, crew: Crew, plan: Plan, sides: tuple[Side, ...] | None = None) -> None:
        self._crew = crew
        self._plan = plan
        self._sides = plan.sides if sides is None else sides
        self._profiler = PROFILERS[plan.profiler]
        self._random = random.Random(plan.schedule.seed)

    def visit(self, tally: Tally, number: int) -> None:
        """One visit of a case. Where a side fails it is noted, and the visit is made again without it.

        Sides that do not fit into memory together are not visited: they are timed in sessions of one side.
        """
        while sides := self.present(tally):
            if tally.is_parted and len(sides) > 1:
                return
            self._attempt(tally, sides, number)
            if self.present(tally) == sides:
                return
            self._forget(tally, number)

    @property
    def is_worth_reading(self) -> bool:
        """Records that come when a session is over would tell times of calls that were made."""
        return False

    def present(self, tally: Tally) -> tuple[Side, ...]:
        """The sides of a case that are timed here."""
        return tuple(side for side in tally.timed_sides if side in self._sides)

    def _forget(self, tally: Tally, number: int) -> None:
        tally.forget_visit(number)

    def _abandon(self, answer: dict[str, Any]) -> None:
        """The calls of a request that failed count nowhere."""

    def _keep(self, tally: Tally, samples: Sequence[Sample], answer: dict[str, Any]) -> None:
        tally.add(samples)

    def _attempt(self, tally: Tally, sides: tuple[Side, ...], number: int) -> None:
        for side in sides:
            reply = self._crew.ready(tally, side)
            if reply.failure is not None:
                tally.fail(side, reply.failure)
                return
        if (cache := self._plan.schedule.cache) != "warm" and tally.cache is None:
            reply = self._crew.ask("cache_facts", "timing", tally)
            tally.cache = None if reply.failure else msgspec.convert({**reply.body, "policy": cache}, CacheFacts)
        deadline = time.monotonic() + self._plan.limits.case_timeout_s
        for together in self._rounds(sides):
            tally.stop = None  # of a side's sessions or turns each one says when it is done
            self._warm_up(tally, together, number, deadline)
            if self._plan.schedule.repeats is not None:
                self._explicit(tally, together, number, deadline)
            else:
                self._sample(tally, together, number, deadline)

    def _rounds(self, sides: tuple[Side, ...]) -> list[tuple[Side, ...]]:
        """All sides in turn, or with order=sequential one after the other."""
        return [(side,) for side in sides] if self._plan.schedule.order == "sequential" else [sides]

    def _warm_up(self, tally: Tally, sides: tuple[Side, ...], visit: int, deadline: float) -> None:
        schedule = self._plan.schedule
        if schedule.warmup is None:
            for side in sides:
                self._steady(tally, side, visit, deadline)
            return
        calls = order.warmup(sides, schedule.warmup, schedule.order)
        self._run(tally, [block(tally, side, "warmup", visit, None) for side in calls], deadline)

    def _steady(self, tally: Tally, side: Side, visit: int, deadline: float) -> None:
        """Warm up until calls no longer get faster: within the schedule's counts, and its time for slow calls."""
        schedule = self._plan.schedule
        limit_us = schedule.warmup_s * 1e6 / (1 if visit == 0 else _WARM)
        times: list[float] = []
        while len(times) < schedule.warmup_max and sum(times) < limit_us:
            if len(times) >= schedule.warmup_min and is_steady(times):
                return
            calls = _chunk(times[-1] if times else _ASK_US, schedule.warmup_max - len(times))
            samples = self._run(tally, [block(tally, side, "warmup", visit, None)] * calls, deadline)
            if not samples:
                return
            times += [s.call_us for s in samples]

    def _explicit(self, tally: Tally, sides: tuple[Side, ...], visit: int, deadline: float) -> None:
        schedule = self._plan.schedule
        assert schedule.repeats is not None
        if any(side not in tally.timed_sides for side in sides):
            return
        pairs = order.pairs(sides, schedule.repeats, schedule.order)
        if self._run(tally, [block(tally, side, "timed", visit, group) for side, group in pairs], deadline):
            tally.stop = "explicit"

    def _sample(self, tally: Tally, sides: tuple[Side, ...], visit: int, deadline: float) -> None:
        """Quads until this visit's share is done; `stat` decides when that is."""
        schedule = self._plan.schedule
        group, began, before = 0, time.monotonic(), tally.sampled_s.get(sides, 0.0)
        while all(side in tally.timed_sides for side in sides):
            spent_s = time.monotonic() - began
            tally.sampled_s[sides] = before + spent_s
            mine = [s for s in tally.samples if s.side in sides]
            reason = stop_reason(mine, schedule, visit=visit, visit_elapsed_s=spent_s, elapsed_s=before + spent_s)
            if reason is not None:
                tally.stop = reason if visit + 1 == schedule.visits else None
                return
            calls = self._calls({side: _of(mine, side, visit) for side in sides})
            blocks: list[Block] = []
            for _ in range(self._quads(mine, visit, calls)):
                for side in order.quad(sides, self._random, schedule.order):
                    blocks.append(replace(block(tally, side, "timed", visit, group), calls=calls[side]))
                group += 1
            self._run(tally, blocks, deadline)

    def _first_size(self, tally: Tally, blocks: Sequence[Block]) -> int:
        """Blocks of the first request, by what the first calls took: they are slower than any later one."""
        first_us = [tally.sides[side].first_call_us for side in {block.side for block in blocks}]
        known = [us for us in first_us if us is not None and us > 0]
        if not known or not blocks:
            return 1
        return max(1, int(_ASK_US / (max(known) * max(block.calls for block in blocks))))

    def _calls(self, seen: dict[Side, list[Sample]]) -> dict[Side, int]:
        """Calls of a block; one while nothing is known, since a call may take seconds, and after each flush."""
        if self._plan.schedule.cache == "flush" or not all(seen.values()):
            return dict.fromkeys(seen, 1)
        return even_blocks({side: call_us(samples) for side, samples in seen.items()}, self._plan.schedule)

    def _quads(self, samples: Sequence[Sample], visit: int, calls: dict[Side, int]) -> int:
        """Quads of one request: as many as take a tenth of a second, never more than the schedule wants."""
        blocks = 4 if len(calls) == 1 else 2
        quad_us = sum(blocks * n * call_us(_of(samples, side, visit)) for side, n in calls.items())
        return max(1, min(self._plan.schedule.quads_min, int(_ASK_US / quad_us) if quad_us > 0 else 1))

    def _run(self, tally: Tally, blocks: Sequence[Block], deadline: float) -> list[Sample]:
        """Time blocks in requests of bounded length; empty when a side failed, which is then noted."""
        gathered: list[Sample] = []
        rest = list(blocks)
        size = self._first_size(tally, rest)
        while rest:
            asked, rest = rest[:size], rest[size:]
            words = [[b.side, b.calls] for b in asked]
            reply = self._crew.ask("time", "timing", tally, deadline, blocks=words)
            if reply.failure is not None:
                self._abandon(reply.body)
                if self._crew.make_room(tally, reply, may_part=False):
                    rest = [*asked, *rest]
                    continue
                tally.fail(reply.side, reply.failure)
                return []
            samples = self._profiler.samples(asked, reply.body)
            self._keep(tally, samples, reply.body)
            gathered += samples
            took_us = sum(s.elapsed_ns for s in samples) / 1000
            size = max(1, min(_ASK_BLOCKS, int(size * _ASK_US / took_us) if took_us > 0 else _ASK_BLOCKS))
        return gathered


def block(tally: Tally, side: Side, phase: Literal["warmup", "timed"], visit: int, group: int | None) -> Block:
    """A single call of a side, to be timed."""
    return Block(case=tally.case.index, side=side, phase=phase, visit=visit, group=group, calls=1)


def _chunk(last_us: float, left: int) -> int:
    """Warm-up calls of one request: one when they are slow, else five."""
    return min(left, 5 if last_us * 5 < _ASK_US else 1)


def _of(samples: Sequence[Sample], side: Side, visit: int) -> list[Sample]:
    return [s for s in samples if s.side == side and s.visit == visit]
