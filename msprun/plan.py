"""From a checked request to the frozen plan: reads files, runs nothing, leaves nothing open."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import asdict
from typing import Literal, cast

from msgspec import convert

from msprun import language, schema, soc
from msprun.batches import batches
from msprun.bench import Bench, Service, session
from msprun.errors import ConfigError
from msprun.model.invocation import Invocation
from msprun.model.operator import SIDES, Operator, Side
from msprun.model.plan import (
    Access,
    Busy,
    CheckRule,
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
CASE_S = 0.3  # a case beside its sampling: inputs, first calls, checking, breakdown


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
        *(Service(cases=batch.cases, sides=batch.sides, is_timing=True) for batch in planned),
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


def _sides(run: schema.Run, operator: Operator) -> tuple[Side, ...]:
    asked = SIDES if run.impl == "both" else tuple(s for s in SIDES if s == run.impl)
    return asked if operator.against is None else (*asked, "against")


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
