"""From a checked request to the frozen plan: reads files, runs nothing, leaves nothing open."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Literal, cast

from msgspec import Struct, convert
from msgspec.structs import replace

from msprun import config, language, soc
from msprun.device import DEVICES, accelerators
from msprun.errors import ConfigError
from msprun.interpreter import choose, surroundings
from msprun.model.invocation import Invocation
from msprun.model.operator import SIDES, Operator, Side
from msprun.model.plan import CheckRule, Command, DeviceFacts, FailOn, Limits, Plan, Provenance, Schedule, Session
from msprun.profiler import PROFILERS
from msprun.resources import data_folder
from msprun.source.digest import digests
from msprun.source.selection import select
from msprun.work.amounts import verify

START_S = 2.5  # Python and torch until the first call, as seen on two cores
CASE_S = 0.3  # a case beside its sampling: inputs, first calls, checking, breakdown


class Bench(Struct, frozen=True, kw_only=True):
    """What a session needs to know before its cases are known: where it runs and by which interpreter."""

    operator: Operator
    device: DeviceFacts
    python: Path
    python_why: str
    profiler: str
    environment: tuple[tuple[str, str], ...]


def interpreter(run: config.Run, environ: Mapping[str, str] = os.environ) -> tuple[Path, str]:
    """The worker's Python and why it was taken. Raises ConfigError or MachineError when there is none."""
    needs = ("torch", "torch_npu") if run.device.kind == "npu" else ("torch",)
    return choose(run.python, environ, accelerators(), needs)


def bench(
    run: config.Run, operator: Operator, python: Path, python_why: str, environ: Mapping[str, str] = os.environ
) -> Bench:
    """Device and environment. Raises ConfigError when they cannot serve the request."""
    if run.profiler.kind not in PROFILERS or run.device.kind not in DEVICES:
        raise ConfigError(f"device={run.device.kind} cannot be measured with profiler={run.profiler.kind}")
    device = DEVICES[run.device.kind]
    facts = device.select(run, environ)
    variables = surroundings(python, device.environment(facts), environ, _own_variables(operator))
    return Bench(
        operator=operator,
        device=facts,
        python=python,
        python_why=python_why,
        profiler=run.profiler.kind,
        environment=tuple(sorted(variables.items())),
    )


def session(made: Bench, number: int, folder: Path, cases: tuple[int, ...], sides: tuple[Side, ...]) -> Session:
    """The session of this number below a run folder; it serves all cases and both sides."""
    place = folder / "sessions" / str(number)
    command = Command(
        argv=PROFILERS[made.profiler].command(made.python, place / "wrapper.py"),
        cwd=Path.cwd(),
        env=made.environment,
        stdout=place / "stdout.log",
        stderr=place / "stderr.log",
    )
    return Session(
        number=number,
        round="check+timing",
        profiler=made.profiler,
        cases=cases,
        sides=sides,
        folder=place,
        command=command,
    )


def make(run: config.Run, invocation: Invocation, made: Bench) -> Plan:
    """The whole plan of a check or quick run. Raises ConfigError when the selection or the rules make no sense."""
    mode = invocation.choices["mode"]
    cases = select(made.operator.cases, run.cases, run.max_cases)
    sides = _sides(run, made.operator)
    if mode == "check" and run.check.rule == "none":
        raise ConfigError("mode=check with check=none would do nothing", "drop check=none, or use mode=quick")
    verify(made.operator, cases)
    schedule = _schedule(run)
    timed = mode != "check"
    return Plan(
        mode=mode,
        operator=made.operator,
        cases=cases,
        sides=sides,
        schedule=schedule,
        check=_rule(run, invocation.choices.get("check", "default")),
        limits=_limits(run),
        device=made.device,
        profiler=made.profiler,
        python=made.python,
        sessions=(session(made, 0, invocation.folder, cases, sides),),
        retry=run.retry,
        keep_going=run.keep_going,
        fail_on=cast(FailOn, run.fail_on),
        save_to_op=_saves(run, invocation, mode, made.operator),
        folder=invocation.folder,
        pages=tuple((name, page.template, page.file) for name, page in run.pages.items()),
        lang=language.choose(os.environ).lang if run.lang == "auto" else run.lang,
        log_limit_mb=run.log_limit_mb,
        provenance=_provenance(run, invocation, made),
        files=digests(made.operator),
        overrides=invocation.overrides,
        choices=invocation.choices,
        soc=soc.find(made.device.name),
        expected_s=START_S + len(cases) * (CASE_S + (run.budget_s if timed and schedule.repeats is None else 0)),
    )


def job(made: Bench, plan_or_none: Plan | None, seed: int, folder: Path) -> dict[str, object]:
    """What a worker is told; without a plan just enough to describe the operator."""
    operator, plan = made.operator, plan_or_none
    by_index = {case.index: case for case in operator.cases}
    return {
        "seed": seed,
        "device": made.device.kind,
        "threads": made.device.threads,
        "folder": str(folder),
        "log": str(folder / "results.jsonl"),
        "operator": {
            "name": operator.name,
            "folder": str(operator.folder),
            "reference": {"file": str(operator.reference.file), "cls": operator.reference.cls},
            "candidate": {"file": str(operator.candidate.file), "cls": operator.candidate.cls},
            "against": _older(operator),
        },
        "n_cases": len(operator.cases),
        "cases": [
            {"index": i, "name": by_index[i].name, "inputs": by_index[i].inputs} for i in (plan.cases if plan else ())
        ],
        "sides": plan.sides if plan else SIDES,
        "check": plan.check if plan else None,
        "warmup": plan.schedule.warmup if plan else None,
        "repeats": plan.schedule.repeats if plan else None,
        "cache": plan.schedule.cache if plan else "warm",
        "grad": operator.grad,
    }


def _sides(run: config.Run, operator: Operator) -> tuple[Side, ...]:
    asked = SIDES if run.impl == "both" else tuple(s for s in SIDES if s == run.impl)
    return asked if operator.against is None else (*asked, "against")


def _older(operator: Operator) -> dict[str, str] | None:
    older = operator.against
    return None if older is None else {"file": str(older.file), "cls": older.cls, "folder": str(older.folder)}


def _own_variables(operator: Operator) -> dict[str, str]:
    """The variables of both sides; one process serves both, so they must agree."""
    ours, theirs = dict(operator.reference.env), dict(operator.candidate.env)
    for name in ours.keys() & theirs.keys():
        if ours[name] != theirs[name]:
            raise ConfigError(
                f"op.reference.env and op.candidate.env want different values of {name}",
                "both sides run in one process: give them the same value",
            )
    return {**ours, **theirs}


def _limits(run: config.Run) -> Limits:
    return Limits(
        compile_timeout_s=run.compile_timeout_s,
        case_timeout_s=run.case_timeout_s,
        timeout_s=run.timeout_s,
        time_limit_s=run.time_limit_s,
    )


def _schedule(run: config.Run) -> Schedule:
    profiler = run.profiler
    return Schedule(
        warmup=None if run.warmup == "auto" else int(run.warmup),
        repeats=None if run.repeats == "auto" else int(run.repeats),
        budget_s=run.budget_s,
        order="interleaved" if run.order == "interleaved" else "sequential",
        cache=convert(run.cache, Literal["warm", "rotate", "flush"]),
        seed=run.seed,
        visits=profiler.visits if run.warmup == "auto" and run.repeats == "auto" else 1,
        quads_min=profiler.quads_min,
        quads_max=profiler.quads_max,
        precision=profiler.precision,
        block_us=profiler.block_us,
        block_calls_max=profiler.block_calls_max,
        warmup_min=profiler.warmup_min,
        warmup_max=profiler.warmup_max,
        warmup_s=profiler.warmup_s,
    )


def _rule(run: config.Run, name: str) -> CheckRule:
    """An operator's own tolerances and compare function go before the chosen check."""
    own = run.op.check
    is_close = own.rtol is not None or own.atol is not None
    rule = {
        "name": name,
        "rule": "none" if run.check.rule == "none" else "close" if is_close else run.check.rule,
        "level": run.check.level,
        "budget_s": run.check.budget_s,
        "rtol": run.check.rtol if own.rtol is None else own.rtol,
        "atol": run.check.atol if own.atol is None else own.atol,
        "threshold": own.threshold,
        "compare": own.compare,
        "mask": own.mask,
    }
    return convert(rule, CheckRule)


def _saves(run: config.Run, invocation: Invocation, mode: str, operator: Operator) -> bool:
    """`save_to_op=auto`: a single, whole, two-sided quick run of a writable folder that is not the package's own."""
    if run.save_to_op is False:
        return False
    if run.save_to_op is True:
        if not os.access(operator.folder, os.W_OK):
            raise ConfigError(f"save_to_op=true but {operator.folder} cannot be written", "use save_to_op=false")
        return True
    is_whole = not run.aa and run.impl == "both" and run.cases is None and run.max_cases is None
    is_ours = operator.folder.is_relative_to(data_folder("examples").resolve())
    is_asked = mode == "quick" and is_whole and not invocation.is_sweep
    return is_asked and not is_ours and os.access(operator.folder, os.W_OK)


def _provenance(run: config.Run, invocation: Invocation, made: Bench) -> dict[str, Provenance]:
    values = dict(_flat(asdict(run)))
    found = {
        key: Provenance(value=str(values.get(key)), source=source, why=invocation.whys.get(key))
        for key, source in invocation.sources.items()
    }
    if run.python == "auto":
        found["python"] = Provenance(value=str(made.python), source="auto", why=made.python_why)
    if run.lang == "auto":
        spoken = language.choose(os.environ)
        found["lang"] = Provenance(value=spoken.lang, source=spoken.source, why=spoken.why)
    return found


def _flat(values: dict[str, object], prefix: str = "") -> Iterator[tuple[str, object]]:
    for key, value in values.items():
        if isinstance(value, dict) and value:
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def with_operator(made: Bench, operator: Operator) -> Bench:
    """The same bench for an operator whose cases were found out."""
    return replace(made, operator=operator)
