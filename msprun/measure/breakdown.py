"""What torch operators a call is made of: one call of each side under Kineto, apart from all timing."""

from __future__ import annotations

import msgspec

from msprun.measure.crew import Crew
from msprun.measure.tally import Tally
from msprun.model.measurement import OperatorTime


def break_down(crew: Crew, tally: Tally) -> None:
    """Note the operators of each timed side. A side that fails here keeps its times: they were sound."""
    for side in tally.timed_sides:
        if crew.ready(tally, side).failure is not None:
            continue
        reply = crew.ask("breakdown", "breakdown", tally, side=side)
        if reply.failure is not None:
            tally.note([{"code": "no_breakdown", "figures": {"side": side, "error": reply.failure.message}}])
            continue
        if reply.body.get("kernels_vary"):
            tally.note([{"code": "kernels_vary", "figures": {"side": side}}])
        told = tally.sides[side]
        told.operators = msgspec.convert(reply.body.get("operators", []), tuple[OperatorTime, ...])
        told.operators_us = reply.body.get("operators_us")
        wall_us = reply.body.get("wall_us")
        if told.operators_us is not None and wall_us:
            told.operators_coverage = min(1.0, told.operators_us / wall_us)
