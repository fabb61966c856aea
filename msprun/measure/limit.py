"""How long a request may take, by its stage."""

from __future__ import annotations

from msprun.measure.tally import Tally
from msprun.model.failure import Stage
from msprun.model.plan import Plan


def limit(plan: Plan, stage: Stage, tally: Tally) -> tuple[str, float]:
    """The key that sets it, and the seconds."""
    limits = plan.limits
    if stage in ("construct", "first_call"):
        return "compile_timeout_s", limits.compile_timeout_s
    again_s = limits.compile_timeout_s if tally.is_parted else 0.0  # a side that was let go is made again
    check_s = plan.check.budget_s if stage == "check" else 0.0
    return "case_timeout_s", limits.case_timeout_s + check_s + again_s
