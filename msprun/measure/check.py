"""Right before fast: both sides of a case run once, and their outputs are compared."""

from __future__ import annotations

import msgspec

from msprun.measure.crew import Crew
from msprun.measure.tally import Tally
from msprun.model.measurement import Correctness
from msprun.model.plan import Plan


def check(crew: Crew, tally: Tally, plan: Plan) -> None:
    """Load, construct and call once what was asked for, then compare; what fails is noted in the tally."""
    tally.is_checked = True
    failure = crew.load(tally)
    if failure is not None:
        tally.fail(None, failure)
    if failure is not None or tally.skipped is not None:
        return
    for side in plan.sides:
        reply = crew.ready(tally, side)
        if reply.failure is not None:
            tally.fail(side, reply.failure)
    is_whole = len(plan.sides) > 1 and not any(told.failure for told in tally.sides.values())
    if is_whole and plan.check.rule != "none":
        _compare(crew, tally, plan)


def recheck(crew: Crew, tally: Tally, plan: Plan) -> None:
    """After timing: a candidate that was right must still be right, with the inputs that it was first checked with."""
    if tally.correctness.state != "correct" or "candidate" not in tally.timed_sides or not tally.samples:
        return
    stored = _outputs(crew, tally, plan)
    if stored is not None:
        _judge(crew, tally, plan, "recheck", stored)


def _compare(crew: Crew, tally: Tally, plan: Plan) -> None:
    # A candidate that took the worker with it left the next one without the reference's outputs.
    stored = _outputs(crew, tally, plan)
    if stored is None:
        return
    _judge(crew, tally, plan, "check", stored)
    if tally.correctness.state == "correct":
        _judge(crew, tally, plan, "attack", stored)


def _outputs(crew: Crew, tally: Tally, plan: Plan) -> str | None:
    """The hash of the reference's outputs in the present worker, where both sides are ready; None after a failure."""
    for side in plan.sides:
        reply = crew.ready(tally, side)
        if reply.failure is not None:
            tally.fail(side, reply.failure)
            return None
    return crew.stored(tally)


def _judge(crew: Crew, tally: Tally, plan: Plan, do: str, stored: str) -> None:
    """Take over the state that a request found; later ones only replace it where they find a fault."""
    rule = msgspec.to_builtins(plan.check)
    reply = crew.ask(do, "check", tally, side="candidate", rule=rule, hash=stored)
    if reply.failure is not None:
        tally.fail(reply.side or "candidate", reply.failure)
        return
    told = {
        "state": reply.body.get("state"),
        "rule": reply.body.get("rule"),
        "figures": reply.body.get("figures") or {},
    }
    found = msgspec.convert(told, Correctness)
    if do == "check" or found.state != "correct":
        tally.correctness = found
