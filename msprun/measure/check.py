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
    stored: str | None = None
    for side in plan.sides:
        reply = crew.ready(tally, side)
        if reply.failure is not None:
            tally.fail(side, reply.failure)
        elif side == "reference":
            stored = reply.body.get("hash")
    if stored is not None and plan.check.rule != "none" and not any(t.failure for t in tally.sides.values()):
        _compare(crew, tally, plan, stored)


def _compare(crew: Crew, tally: Tally, plan: Plan, stored: str) -> None:
    # A candidate that took the worker with it left the next one without the reference's outputs.
    for side in plan.sides:
        reply = crew.ready(tally, side)
        if reply.failure is not None:
            tally.fail(side, reply.failure)
            return
        stored = reply.body.get("hash") or stored
    reply = crew.ask("check", "check", tally, rule=msgspec.to_builtins(plan.check), hash=stored)
    if reply.failure is not None:
        tally.fail(reply.side or "candidate", reply.failure)
        return
    tally.note(reply.body.get("notes", []))
    told = {
        "state": reply.body.get("state"),
        "rule": reply.body.get("rule"),
        "figures": reply.body.get("figures") or {},
    }
    tally.correctness = msgspec.convert(told, Correctness)
