"""Correctness, then one timing round."""

from __future__ import annotations

from msprun import schema
from msprun.model.invocation import Invocation
from msprun.process import Spare
from msprun.run import examine as examine_plan
from msprun.run import run as run_plan

KEYS = frozenset({
    "op", "device", "lease", "profiler", "check", "pages", "warmup", "repeats", "budget_s", "seed", "impl", "cases",
    "max_cases", "order", "cache", "boost", "isolation", "metric", "aa", "against", "retry", "op_timeout_s",
    "case_timeout_s", "compile_timeout_s", "timeout_s", "time_limit_s", "keep_going", "fail_on", "print",
    "lang", "out", "save_to_op", "prof_tag", "keep_prof", "keep_runs", "log_limit_mb", "python", "dry_run",
})  # fmt: skip


def examine(run: schema.Run, invocation: Invocation) -> dict[str, str]:
    """Check the request without running anything."""
    return examine_plan(run, invocation)


def run(run: schema.Run, invocation: Invocation, spare: Spare | None = None) -> int:
    """Check every selected case, time what is right, say how sure that is."""
    return run_plan(run, invocation, spare)
