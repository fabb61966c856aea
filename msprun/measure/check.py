"""Right before fast: all sides of a case run once, and outputs are compared with the reference's."""

from __future__ import annotations

import msgspec

from msprun.measure.crew import Crew
from msprun.measure.tally import Tally
from msprun.model.measurement import Correctness
from msprun.model.operator import Side
from msprun.model.plan import Plan


def check(crew: Crew, tally: Tally, plan: Plan) -> None:
    """Load, construct and call once what was asked for, then compare; what fails is noted in the tally."""
    tally.is_checked = True
    failure = crew.load(tally)
    if failure is not None:
        tally.fail(None, failure)
    if failure is not None or tally.skipped is not None:
        return
    for side in tally.timed_sides:
        reply = crew.ready(tally, side)
        if reply.failure is not None:
            tally.fail(side, reply.failure)
    if plan.check.rule != "none":
        for side in _comparable(tally):
            _compare(crew, tally, side)


def recheck(crew: Crew, tally: Tally, plan: Plan) -> None:
    """After timing: a side that was right must still be right, with the inputs that it was first checked with."""
    for side in _comparable(tally):
        told = tally.sides[side]
        has_run = tally.samples or told.host_us is not None
        if told.correctness.state != "correct" or not has_run:
            continue
        stored = _outputs(crew, tally, side)
        if stored is not None:
            _judge(crew, tally, side, ("recheck", stored))


def _comparable(tally: Tally) -> tuple[Side, ...]:
    """The sides whose outputs can be compared with the reference's."""
    sides = tally.timed_sides
    return tuple(side for side in sides if side != "reference") if "reference" in sides else ()


def _compare(crew: Crew, tally: Tally, side: Side) -> None:
    # A side that took the worker with it left the next one without the reference's outputs.
    stored = _outputs(crew, tally, side)
    if stored is None:
        return
    _judge(crew, tally, side, ("check", stored))
    if tally.sides[side].correctness.state == "correct":
        _judge(crew, tally, side, ("attack", stored))


def _outputs(crew: Crew, tally: Tally, other: Side) -> str | None:
    """The hash of the reference's outputs in the present worker, where both sides are ready; None after a failure."""
    if tally.sides["reference"].failure is not None:
        return None
    for side in ("reference", other):
        reply = crew.ready(tally, side)
        if reply.failure is not None:
            tally.fail(side, reply.failure)
            return None
    return crew.stored(tally)


def _judge(crew: Crew, tally: Tally, side: Side, asked: tuple[str, str]) -> None:
    """Take over the state that a request found; later ones only replace it where they find a fault.

    `asked` is the request and the hash of the stored outputs.
    """
    do, stored = asked
    rule = msgspec.to_builtins(tally.plan.check)
    reply = crew.ask(do, "check", tally, side=side, rule=rule, hash=stored)
    if reply.failure is not None:
        tally.fail(reply.side or side, reply.failure)
        return
    told = {
        "state": reply.body.get("state"),
        "rule": reply.body.get("rule"),
        "figures": reply.body.get("figures") or {},
    }
    found = msgspec.convert(told, Correctness)
    if do == "check" or found.state != "correct":
        tally.sides[side].correctness = found
