"""The host's time of a call, seen by the check's worker: by it the calls of a profiled session are planned."""

from __future__ import annotations

import statistics

from msprun.launch import Reply
from msprun.measure.crew import Crew
from msprun.measure.tally import Tally
from msprun.model.operator import Side

_CALLS = 5


def probe(crew: Crew, tally: Tally) -> None:
    """Call each timed side a few times; a side that fails has failed."""
    for side in tally.timed_sides:
        reply = crew.ready(tally, side)
        if reply.failure is None:
            reply = _call(crew, tally, side)
        while crew.make_room(tally, reply):
            reply = _call(crew, tally, side)
        if reply.failure is not None:
            tally.fail(reply.side or side, reply.failure)
            continue
        times = reply.body.get("elapsed_ns")
        if isinstance(times, list) and times:
            tally.sides[side].host_us = statistics.median(times) / 1000


def _call(crew: Crew, tally: Tally, side: Side) -> Reply:
    return crew.ask("time", "timing", tally, blocks=[[side, 1]] * _CALLS)
