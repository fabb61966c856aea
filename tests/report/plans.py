"""An invented plan for the console."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from msprun.model.case import Case, TensorInput
from msprun.model.operator import SIDES, Implementation, Operator
from msprun.model.plan import (
    Access,
    CheckRule,
    Command,
    DeviceFacts,
    Limits,
    Plan,
    Profiling,
    Provenance,
    Schedule,
    Session,
)
from msprun.model.result import Result

FOLDER = Path("/ops/toy_norm")


def case(index: int, shape: str, dtype: str) -> Case:
    size = (0,) if shape.startswith("[0") else (2,)
    return Case(
        index=index,
        name=f"case_{index}",
        shape_label=shape,
        dtype_label=dtype,
        inputs=(TensorInput(name="x", dtype="float16", shape=size),),
    )


def operator(cases: tuple[Case, ...]) -> Operator:
    return Operator(
        name="toy_norm",
        folder=FOLDER,
        reference=Implementation(file=FOLDER / "model.py", cls="Model"),
        candidate=Implementation(file=FOLDER / "model_new_ascendc.py", cls="ModelNew"),
        cases=cases,
        cases_file=FOLDER / "toy_norm.jsonl",
        origin="jsonl:toy_norm.jsonl",
    )


def schedule(**more: Any) -> Schedule:
    fields: dict[str, Any] = {
        "warmup": None,
        "repeats": None,
        "budget_s": 2.0,
        "order": "interleaved",
        "cache": "warm",
        "seed": 7,
        "visits": 3,
        "quads_min": 8,
        "quads_max": 200,
        "precision": 0.02,
        "block_us": 50.0,
        "block_calls_max": 1000,
        "warmup_min": 10,
        "warmup_max": 200,
        "warmup_s": 1.0,
    }
    return Schedule(**(fields | more))


CHECK = CheckRule(
    name="default", rule="standard", level="L0", budget_s=20.0, rtol=None, atol=None, threshold=None, compare=None
)  # fmt: skip
RUN: dict[str, Any] = {
    "sides": SIDES, "check": CHECK,
    "limits": Limits(op_timeout_s=30, compile_timeout_s=600, case_timeout_s=60, timeout_s=600, time_limit_s=None),
    "device": DeviceFacts(kind="cpu", id=0, id_source="auto", name="Toy CPU 5000", cores=2, threads=1),
    "profiler": "clock", "access": Access(busy="wait", wait_s=600),
    "profiling": Profiling(isolation="shared", metric="device", boost=False, keep_prof=False),
    "python": Path("/usr/bin/python3"), "retry": 1, "keep_going": False, "fail_on": "any",
    "save_to_op": True, "lang": "en", "folder": Path("/runs/one"), "log_limit_mb": 20.0,
    "pages": (("json", None, "result.json"), ("log", "performance.log.j2", "performance.log")),
    "provenance": {
        "device": Provenance(value="cpu", source="auto", why="no accelerator here"),
        "warmup": Provenance(value="auto", source="config"),
    },
    "files": {"model.py": "00"},
    "overrides": ("mode=quick",), "choices": {"mode": "quick"}, "expected_s": 9.0,
}  # fmt: skip


def session(cases: tuple[int, ...], folder: Path) -> Session:
    command = Command(
        argv=("/usr/bin/python3", "wrapper.py"),
        cwd=folder,
        env=(("OMP_NUM_THREADS", "1"),),
        stdout=folder / "stdout.log",
        stderr=folder / "stderr.log",
    )
    return Session(
        number=1, round="check+timing", profiler="clock", cases=cases, sides=SIDES, folder=folder, command=command
    )


def plan(result: Result, **more: Any) -> Plan:
    """A plan that could have led to `result`."""
    numbers = tuple(row.case for row in result.per_case)
    fields: dict[str, Any] = {
        "mode": result.profiling_mode,
        "operator": operator(tuple(case(row.case, row.shape, row.dtype) for row in result.per_case)),
        "cases": numbers,
        "schedule": schedule(),
        "sessions": (session(numbers, Path("/runs/one")),),
    }
    return Plan(**(RUN | fields | more))
