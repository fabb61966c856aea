"""What torch operators a call is made of: calls of each side under Kineto, apart from all timing."""

from __future__ import annotations

import time

import msgspec

from msprun.launch import Reply
from msprun.measure.crew import Crew
from msprun.measure.tally import Tally
from msprun.model.measurement import FreshCall, OperatorTime
from msprun.model.operator import Side
from msprun.stat.likeness import FRESH_LOOKS, is_doubtful


def break_down(crew: Crew, tally: Tally) -> None:
    """Note the operators of each timed side, and whether fresh contents cost it more than those it was timed with.

    A side that fails here keeps its times: they were sound.
    """
    for side in tally.timed_sides:
        reply = _look(crew, tally, side)
        if reply is None:
            continue
        if reply.body.get("kernels_vary"):
            tally.note([{"code": "kernels_vary", "figures": {"side": side}}])
        told = tally.sides[side]
        told.operators = msgspec.convert(reply.body.get("operators", []), tuple[OperatorTime, ...])
        told.operators_us = reply.body.get("operators_us")
        wall_us = reply.body.get("wall_us")
        if told.operators_us is not None and wall_us:
            told.operators_coverage = min(1.0, told.operators_us / wall_us)
    if any(is_doubtful(tally.sides[side].fresh[0]) for side in tally.timed_sides if tally.sides[side].fresh):
        _look_on(crew, tally)


def _look_on(crew: Crew, tally: Tally) -> None:
    """Look again, at all sides in turn, so that chance and what the contents do to everybody can be told apart.

    Ends where that takes as long as a case may.
    """
    deadline = time.monotonic() + tally.plan.limits.case_timeout_s
    for _ in range(FRESH_LOOKS):
        for side in tally.timed_sides:
            if time.monotonic() > deadline or _look(crew, tally, side) is None:
                return


def _look(crew: Crew, tally: Tally, side: Side) -> Reply | None:
    """The answer of a side, its fresh call kept; None where it failed, which is noted."""
    if crew.ready(tally, side).failure is not None:
        return None
    reply = crew.ask("breakdown", "breakdown", tally, side=side)
    if reply.failure is not None:
        tally.note([{"code": "no_breakdown", "figures": {"side": side, "error": reply.failure.message}}])
        return None
    fresh_us, again_us = reply.body.get("fresh_us"), reply.body.get("wall_us")
    if fresh_us and again_us:
        tally.sides[side].fresh.append(FreshCall(fresh_us=fresh_us, again_us=again_us))
    return reply
