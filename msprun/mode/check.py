"""Correctness alone: the inner loop while an operator is being written."""

from __future__ import annotations

from msprun import schema
from msprun.model.invocation import Invocation
from msprun.process import Spare
from msprun.run import examine as examine_plan
from msprun.run import run as run_plan

KEYS = frozenset({
    "op", "device", "lease", "check", "pages", "seed", "cases", "max_cases", "against", "retry", "op_timeout_s",
    "case_timeout_s", "compile_timeout_s", "timeout_s", "time_limit_s", "keep_going", "fail_on", "print", "lang", "out",
    "prof_tag", "keep_runs", "log_limit_mb", "python", "dry_run",
})  # fmt: skip


def examine(run: schema.Run, invocation: Invocation) -> dict[str, str]:
    """Check the request without running anything."""
    return examine_plan(run, invocation)


def run(run: schema.Run, invocation: Invocation, spare: Spare | None = None) -> int:
    """Check every selected case; no time is taken."""
    return run_plan(run, invocation, spare)
