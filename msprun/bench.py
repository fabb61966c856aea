"""Where a request is measured and by which interpreter, and the sessions and jobs of the workers there."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from msprun import schema
from msprun.device import DEVICES, accelerators
from msprun.device.claim import Claim
from msprun.errors import ConfigError
from msprun.interpreter import choose, surroundings
from msprun.model.npu import Finding
from msprun.model.operator import Operator, Side
from msprun.model.plan import Command, DeviceFacts, Plan, Session
from msprun.profiler import PROFILERS

_GRACE_S = 5.0  # told to stop, msprof first gives the device's channel back
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


def prepare(
    run: schema.Run,
    operator: Operator,
    python: tuple[Path, str],
    claimed: Claim | None = None,
    environ: Mapping[str, str] = os.environ,
) -> Bench:
    """Device and environment; the device is the one `claimed`, else it is chosen here, and its software looked at.

    `python` is the worker's interpreter and why it was taken. Raises ConfigError when they cannot serve the request.
    """
    if run.profiler.kind not in PROFILERS or run.device.kind not in DEVICES:
        raise ConfigError(f"device={run.device.kind} cannot be measured with profiler={run.profiler.kind}")
    device = DEVICES[run.device.kind]
    findings = device.check(python[0], environ) if claimed is None else ()
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
    """What one worker's process is for: cases, sides, and whether it only times what another one has checked.

    `follows_lost`: the one before it died, so is the device sound? `without`: words that the profiler is not told,
    since it does not know them or they were of no use.
    """

    cases: tuple[int, ...]
    sides: tuple[Side, ...]
    is_timing: bool = False
    follows_lost: bool = False
    without: tuple[str, ...] = ()


def session(made: Bench, number: int, folder: Path, service: Service) -> Session:
    """The session of this number below a run folder."""
    place = folder / "sessions" / str(number)
    profiler = PROFILERS[made.profiler] if service.is_timing else PROFILERS["clock"]
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
    return "timing" if service.is_timing else "check" if PROFILERS[made.profiler].collector else "check+timing"


def _variables(made: Bench, place: Path, is_wrapped: bool, sides: tuple[Side, ...]) -> Variables:
    """The worker's variables. Behind a wrapping program its parent is not this process."""
    found = dict(made.apart[sides[0]] if len(sides) == 1 else made.environment)
    if is_wrapped:
        found["MSPRUN_PARENT"] = "0"
    if made.device.kind == "npu":
        found["ASCEND_PROCESS_LOG_PATH"] = str(place / "plog")
    return tuple(sorted(found.items()))


def with_operator(made: Bench, operator: Operator) -> Bench:
    """The same bench for an operator whose cases were found out."""
    return replace(made, operator=operator)


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
        "check": plan.check if plan and session.round != "timing" else None,
        "warmup": plan.schedule.warmup if plan else None,
        "repeats": plan.schedule.repeats if plan else None,
        "cache": plan.schedule.cache if plan else "warm",
        "cache_bytes": plan.soc.l2_bytes if plan and plan.soc else None,
        "grad": operator.grad,
    }


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
