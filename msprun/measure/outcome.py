"""A run's result as it stands at any moment, and the exit code that it stands for."""

from __future__ import annotations

import platform
import time
from collections.abc import Sequence
from typing import Any

import msgspec

import msprun
from msprun.device import DEVICES
from msprun.measure.execute import Execution
from msprun.measure.tally import failures_of
from msprun.model.measurement import Remark
from msprun.model.plan import Plan
from msprun.model.result import SCHEMA_VERSION, CaseRow, Result
from msprun.profiler import PROFILERS
from msprun.source.digest import is_same_build
from msprun.stat.aggregate import against, aggregates, by_dtype, counts, is_old_wrong
from msprun.stat.family import with_family

_LOST = ("skipped_time", "skipped_same_failure", "skipped_device")


def result(plan: Plan, execution: Execution, run_id: str, started_s: float, exit_code: int | None) -> Result:
    """Everything known now. `exit_code` None means that the run is not over; 130 that it was interrupted."""
    rows = with_family(tuple(execution.rows.values()))
    sides = [side for r in rows for side in r.sides.values()]
    older = plan.operator.against
    figures = msgspec.structs.asdict(aggregates(rows))
    return Result(
        task=plan.operator.name,
        task_dir=str(plan.operator.folder),
        n_cases_total=len(plan.operator.cases),
        n_cases_valid=sum(r.speedup is not None for r in rows),
        **figures,
        warmup=max((s.warmup_calls for s in sides), default=0),
        repeats=max((s.estimate.calls for s in sides if s.estimate), default=0),
        seed=plan.schedule.seed,
        device_id=plan.device.id,
        device_select_source=plan.device.id_source,
        timing_method=PROFILERS[plan.profiler].timing_method,
        per_case=rows,
        profiling_mode=plan.mode,
        n_cases_run=sum(r.status not in ("skipped", "pending") for r in rows),
        schema_version=SCHEMA_VERSION,
        msprun_version=msprun.__version__,
        run_id=run_id,
        started_at=time.strftime("%Y-%m-%dT%H:%M:%S%z", time.localtime(started_s)),
        elapsed_s=max(0.0, time.time() - started_s),
        complete=exit_code is not None and exit_code != 130,
        exit_code=1 if exit_code is None else exit_code,
        request=_request(plan),
        environment=_environment(plan, execution.environment),
        provenance=plan.provenance,
        gate=None,
        remarks=(*_remarks(plan), *execution.remarks),
        by_dtype=by_dtype(rows),
        counts=counts(rows),
        against=None if older is None else against(rows, str(older.folder)),
        folder=str(plan.folder),
    )


def exit_code(plan: Plan, rows: Sequence[CaseRow]) -> int:
    """0, or 1 when a case failed, was wrong or has no number, as far as `fail_on` cares."""
    is_wrong = any(r.status == "incorrect" or is_old_wrong(r) for r in rows)
    has_failed = any(r.status in ("failed", "pending") or r.skipped in _LOST or failures_of(r) for r in rows)
    cares = {"any": is_wrong or has_failed, "incorrect": is_wrong, "failed": has_failed, "never": False}
    return int(cares[plan.fail_on])


def _remarks(plan: Plan) -> tuple[Remark, ...]:
    """What a reader must know of the whole run."""
    found = tuple(Remark(code=told.code, figures={"what": told.message}, next=told.hint) for told in plan.findings)
    return (Remark(code="same_build"), *found) if is_same_build(plan.operator, plan.files) else found


def _request(plan: Plan) -> dict[str, Any]:
    """What was asked for, as far as it decides numbers."""
    asked = {name: getattr(plan, name) for name in ("mode", "overrides", "choices", "cases", "sides", "profiler")}
    built: dict[str, Any] = msgspec.to_builtins({**asked, "schedule": plan.schedule, "check": plan.check})
    return built


def _environment(plan: Plan, told: dict[str, Any]) -> dict[str, Any]:
    set_by_us = DEVICES[plan.device.kind].environment(plan.device)
    set_by_us.pop("PATH", None)  # the interpreter's folder stands before it: each session's command has the whole
    return {
        "host": platform.node(),
        "platform": platform.platform(),
        "device": msgspec.to_builtins(plan.device),
        "python": str(plan.python),
        "variables": set_by_us,
        "worker": told,
    }
