"""From a checked request to the frozen plan: reads files, runs nothing, leaves nothing open."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Literal, cast

from msgspec import Struct, convert
from msgspec.structs import replace

from msprun import language, schema, soc
from msprun.batches import batches
from msprun.device import DEVICES, accelerators
from msprun.device.claim import Claim
from msprun.errors import ConfigError
from msprun.interpreter import choose, surroundings
from msprun.model.invocation import Invocation
from msprun.model.npu import Finding
from msprun.model.operator import SIDES, Operator, Side
from msprun.model.plan import (
    Access,
    Busy,
    CheckRule,
    Command,
    DeviceFacts,
    FailOn,
    Isolation,
    Limits,
    Metric,
    Plan,
    Profiling,
    Provenance,
    Schedule,
    Session,
)
from msprun.profiler import PROFILERS
from msprun.resources import data_folder
from msprun.source.digest import digests
from msprun.source.selection import select
from msprun.work.amounts import verify

START_S = 2.5  # Python and torch until the first call, as seen on two cores
_GRACE_S = 5.0  # told to stop, msprof first gives the device's channel back
CASE_S = 0.3  # a case beside its sampling: inputs, first calls, checking, breakdown
Variables = tuple[tuple[str, str], ...]


class Bench(Struct, frozen=True, kw_only=True):
    """What a session needs to know before its cases are known: where it runs and by which interpreter.

    `environment` is that of a process which serves all sides, `apart` that of one which serves a single side.
    """

    operator: Operator
    device: DeviceFacts
    python: Path
    python_why: str
    profiler: str
    environment: Variables
    apart: dict[str, Variables]
    claim: Claim | None = None
    findings: tuple[Finding, ...] = ()

    @property
    def fds(self) -> tuple[int, ...]:
        """The lease of the device, open in every process that uses it."""
        return () if self.claim is None else self.claim.fds


def interpreter(run: schema.Run, environ: Mapping[str, str] = os.environ) -> tuple[Path, str]:
    """The worker's Python and why it was taken. Raises ConfigError or MachineError when there is none."""
    needs = ("torch", "torch_npu") if run.device.kind == "npu" else ("torch",)
    return choose(run.python, environ, accelerators(), needs)


def bench(
    run: schema.Run,
    operator: Operator,
    python: tuple[Path, str],
    claimed: Claim | None = None,
    environ: Mapping[str, str] = os.environ,
) -> Bench:
    """Device and environment; the device is the one `claimed`, else it is chosen here.

    `python` is the worker's interpreter and why it was taken. Raises ConfigError when they cannot serve the request.
    """
    if run.profiler.kind not in PROFILERS or run.device.kind not in DEVICES:
        raise ConfigError(f"device={run.device.kind} cannot be measured with profiler={run.profiler.kind}")
    device = DEVICES[run.device.kind]
    findings = device.check(python[0], environ)
    facts = device.select(run, environ) if claimed is None else claimed.facts
    ours = device.environment(facts)

    def with_own(own: Mapping[str, str]) -> Variables:
        return tuple(sorted(surroundings(python[0], ours, environ, own).items()))

    return Bench(
        operator=operator,
        device=facts,
        python=python[0],
        python_why=python[1],
        profiler=run.profiler.kind,
        environment=with_own(_own_variables(operator, run.isolation)),
        apart={side: with_own(own) for side, own in _apart(operator).items()},
        claim=claimed,
        findings=findings,
    )


class Service(Struct, frozen=True, kw_only=True):
    """What one worker's process is for: cases, sides, and whether the device is looked at meanwhile.

    `follows_lost`: the one before it died, so is the device sound? `without`: words that the profiler is not told,
    since it does not know them or they were of no use.
    """

    cases: tuple[int, ...]
    sides: tuple[Side, ...]
    is_collected: bool = False
    follows_lost: bool = False
    without: tuple[str, ...] = ()


def session(made: Bench, number: int, folder: Path, service: Service) -> Session:
    """The session of this number below a run folder."""
    place = folder / "sessions" / str(number)
    profiler = PROFILERS[made.profiler] if service.is_collected else PROFILERS["clock"]
    argv = tuple(word for word in profiler.command(made.python, place / "wrapper.py") if word not in service.without)
    is_wrapped = argv[0] != str(made.python)
    command = Command(
        argv=argv,
        cwd=Path.cwd(),
        env=_variables(made, place, is_wrapped, service.sides),
        stdout=place / "stdout.log",
        stderr=place / "stderr.log",
        grace_s=_GRACE_S if is_wrapped else 0.5,
        dies_with_parent=is_wrapped,
    )
    return Session(
        number=number,
        round=_round(made, service),
        profiler=made.profiler,
        cases=service.cases,
        sides=service.sides,
        folder=place,
        command=command,
        collector=profiler.collector,
    )


def _round(made: Bench, service: Service) -> Literal["check", "timing", "check+timing"]:
    return "timing" if service.is_collected else "check" if PROFILERS[made.profiler].collector else "check+timing"


def _variables(made: Bench, place: Path, is_wrapped: bool, sides: tuple[Side, ...]) -> Variables:
    """The worker's variables. Behind a wrapping program its parent is not this process."""
    found = dict(made.apart[sides[0]] if len(sides) == 1 else made.environment)
    if is_wrapped:
        found["MSPRUN_PARENT"] = "0"
    if made.device.kind == "npu":
        found["ASCEND_PROCESS_LOG_PATH"] = str(place / "plog")
    return tuple(sorted(found.items()))


def make(run: schema.Run, invocation: Invocation, made: Bench) -> Plan:
    """The whole plan of a check or quick run. Raises ConfigError when the selection or the rules make no sense."""
    mode = invocation.choices["mode"]
    cases = select(made.operator.cases, run.cases, run.max_cases)
    sides = _sides(run, made.operator)
    if mode == "check" and run.check.rule == "none":
        raise ConfigError("mode=check with check=none would do nothing", "drop check=none, or use mode=quick")
    verify(made.operator, cases)
    return Plan(
        mode=mode,
        operator=made.operator,
        cases=cases,
        sides=sides,
        schedule=_schedule(run),
        check=_rule(run, invocation.choices.get("check", "default")),
        limits=_limits(run),
        device=made.device,
        profiler=made.profiler,
        profiling=_profiling(run, made),
        access=Access(busy=convert(run.device.busy, Busy), wait_s=run.lease.wait_s),
        python=made.python,
        sessions=_sessions(run, invocation, made, cases),
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
        findings=made.findings,
        expected_s=_expected_s(run, mode, len(cases)),
    )


def _expected_s(run: schema.Run, mode: str, cases: int) -> float:
    """Explicit counts are quick enough not to be reckoned with."""
    samples = mode != "check" and run.repeats == "auto"
    return START_S + cases * (CASE_S + (run.budget_s if samples else 0))


def _sessions(run: schema.Run, invocation: Invocation, made: Bench, cases: tuple[int, ...]) -> tuple[Session, ...]:
    """The check's session, and those behind it where timing is not part of it."""
    sides, collector = _sides(run, made.operator), PROFILERS[made.profiler].collector
    is_timed = invocation.choices["mode"] != "check"
    planned = batches(cases, sides, run.isolation, collector) if is_timed else ()
    services = [
        Service(cases=cases, sides=sides),
        *(Service(cases=batch.cases, sides=batch.sides, is_collected=True) for batch in planned),
    ]
    return tuple(session(made, number, invocation.folder, service) for number, service in enumerate(services))


def _profiling(run: schema.Run, made: Bench) -> Profiling:
    """Only NPUs clock down while nothing runs. Raises ConfigError for a time that the profiler does not see."""
    if run.metric == "span" and PROFILERS[made.profiler].collector is None:
        raise ConfigError(f"metric=span: profiler={made.profiler} sees no kernels", "use metric=device or metric=host")
    return Profiling(
        isolation=convert(run.isolation, Isolation),
        metric=convert(run.metric, Metric),
        boost=run.boost == "auto" and made.device.kind == "npu",
        keep_prof=run.keep_prof,
    )


def job(made: Bench, plan_or_none: Plan | None, seed: int, session: Session) -> dict[str, object]:
    """What a worker is told; without a plan just enough to describe the operator."""
    operator, plan, folder = made.operator, plan_or_none, session.folder
    by_index = {case.index: case for case in operator.cases}
    return {
        "seed": seed,
        "device": made.device.kind,
        "device_id": made.device.index,
        "op_timeout_s": plan.limits.op_timeout_s if plan else None,
        "collector": session.collector,
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
        "cases": [{"index": i, "name": by_index[i].name, "inputs": by_index[i].inputs} for i in session.cases],
        "sides": session.sides,
        "check": plan.check if plan else None,
        "warmup": plan.schedule.warmup if plan else None,
        "repeats": plan.schedule.repeats if plan else None,
        "cache": plan.schedule.cache if plan else "warm",
        "cache_bytes": plan.soc.l2_bytes if plan and plan.soc else None,
        "grad": operator.grad,
    }


def _sides(run: schema.Run, operator: Operator) -> tuple[Side, ...]:
    asked = SIDES if run.impl == "both" else tuple(s for s in SIDES if s == run.impl)
    return asked if operator.against is None else (*asked, "against")


def _older(operator: Operator) -> dict[str, str] | None:
    older = operator.against
    return None if older is None else {"file": str(older.file), "cls": older.cls, "folder": str(older.folder)}


def _own_variables(operator: Operator, isolation: str) -> dict[str, str]:
    """The variables of both sides, which must agree where one process times both.

    Apart, only the check has both sides in one process: with the candidate's values.
    """
    ours, theirs = dict(operator.reference.env), dict(operator.candidate.env)
    for name in ours.keys() & theirs.keys():
        if ours[name] != theirs[name] and isolation == "shared":
            raise ConfigError(
                f"op.reference.env and op.candidate.env want different values of {name}",
                "give them the same value, or each side a process of its own: isolation=side",
            )
    return {**ours, **theirs}


def _apart(operator: Operator) -> dict[Side, dict[str, str]]:
    """The variables of each side; an older build wants those of the candidate."""
    theirs = dict(operator.candidate.env)
    return {"reference": dict(operator.reference.env), "candidate": theirs, "against": theirs}


def _limits(run: schema.Run) -> Limits:
    return Limits(
        op_timeout_s=run.op_timeout_s,
        compile_timeout_s=run.compile_timeout_s,
        case_timeout_s=run.case_timeout_s,
        timeout_s=run.timeout_s,
        time_limit_s=run.time_limit_s,
    )


def _schedule(run: schema.Run) -> Schedule:
    profiler = run.profiler
    return Schedule(
        warmup=None if run.warmup == "auto" else int(run.warmup),
        repeats=None if run.repeats == "auto" else int(run.repeats),
        budget_s=run.budget_s,
        order="interleaved" if run.order == "interleaved" else "sequential",
        cache=convert(run.cache, Literal["warm", "rotate", "flush"]),
        seed=run.seed,
        visits=_visits(run),
        quads_min=profiler.quads_min,
        quads_max=profiler.quads_max,
        precision=profiler.precision,
        block_us=profiler.block_us,
        block_calls_max=profiler.block_calls_max,
        warmup_min=profiler.warmup_min,
        warmup_max=profiler.warmup_max,
        warmup_s=profiler.warmup_s,
    )


def _visits(run: schema.Run) -> int:
    """How often each side of a case is visited; apart, once by each of its two sessions."""
    if run.isolation != "shared":
        return 2
    return run.profiler.visits if run.warmup == "auto" and run.repeats == "auto" else 1


def _rule(run: schema.Run, name: str) -> CheckRule:
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


def _saves(run: schema.Run, invocation: Invocation, mode: str, operator: Operator) -> bool:
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


def _provenance(run: schema.Run, invocation: Invocation, made: Bench) -> dict[str, Provenance]:
    values = dict(_flat(asdict(run)))
    found = {
        key: Provenance(value=str(values.get(key)), source=source, why=invocation.whys.get(key))
        for key, source in invocation.sources.items()
    }
    if run.python == "auto":
        found["python"] = Provenance(value=str(made.python), source="auto", why=made.python_why)
    if made.device.lease is not None:
        facts = made.device
        source = found["device.id"].source if facts.id_source == "cli" and "device.id" in found else facts.id_source
        found["device.id"] = Provenance(value=str(facts.id), source=source, why=facts.id_why)
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
