"""The schema of a request: types only; defaults live in conf/."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from omegaconf import MISSING


@dataclass
class Side:
    """One implementation of an operator."""

    file: str = MISSING
    cls: str = MISSING
    env: dict[str, str] = MISSING


@dataclass
class OpCheck:
    """What an operator says about comparing its outputs."""

    rtol: float | None = MISSING
    atol: float | None = MISSING
    threshold: float | None = MISSING
    compare: str | None = MISSING
    mask: str | None = MISSING


@dataclass
class OpWork:
    """What a call moves and computes, as expressions in the names of the inputs."""

    bytes: str | None = MISSING
    flops: str | None = MISSING


@dataclass
class Op:
    """An operator folder."""

    dir: str = MISSING
    name: str | None = MISSING
    reference: Side = MISSING
    candidate: Side = MISSING
    cases_file: str | None = MISSING
    build: str | None = MISSING
    grad: bool = MISSING
    check: OpCheck = MISSING
    work: OpWork = MISSING


@dataclass
class Device:
    """Where the operator runs."""

    kind: str = MISSING
    threads: int = MISSING
    id: int | None = MISSING
    physical: int | None = MISSING
    busy: str = MISSING


@dataclass
class Lease:
    """Where devices are leased among runs, and how long one is waited for."""

    dir: str | None = MISSING
    wait_s: float = MISSING


@dataclass
class Page:
    """A report file; `template` None means that code writes it."""

    file: str = MISSING
    template: str | None = MISSING


@dataclass
class Profiler:
    """Who takes the times, and how long it tries (see conf/profiler/)."""

    kind: str = MISSING
    visits: int = MISSING
    quads_min: int = MISSING
    quads_max: int = MISSING
    precision: float = MISSING
    block_us: float = MISSING
    block_calls_max: int = MISSING
    warmup_min: int = MISSING
    warmup_max: int = MISSING
    warmup_s: float = MISSING


@dataclass
class Check:
    """How outputs are compared."""

    rule: str = MISSING
    level: str = MISSING
    budget_s: float = MISSING
    rtol: float | None = MISSING
    atol: float | None = MISSING


@dataclass
class Run:
    """A whole request. Counts are calls; times end in `_s` (seconds) and `_us` (microseconds)."""

    op: Op = MISSING
    device: Device = MISSING
    lease: Lease = MISSING
    profiler: Profiler = MISSING
    check: Check = MISSING
    pages: dict[str, Page] = MISSING
    warmup: int | str = MISSING
    repeats: int | str = MISSING
    budget_s: float = MISSING
    seed: int = MISSING
    impl: str = MISSING
    cases: Any = MISSING
    max_cases: int | None = MISSING
    order: str = MISSING
    cache: str = MISSING
    boost: str = MISSING
    isolation: str = MISSING
    metric: str = MISSING
    aa: bool = MISSING
    against: str | None = MISSING
    retry: int = MISSING
    op_timeout_s: float = MISSING
    case_timeout_s: float = MISSING
    compile_timeout_s: float = MISSING
    timeout_s: float = MISSING
    time_limit_s: float | None = MISSING
    keep_going: bool = MISSING
    fail_on: str = MISSING
    print: str = MISSING
    lang: str = MISSING
    out: str = MISSING
    save_to_op: Any = MISSING
    prof_tag: str | None = MISSING
    keep_prof: bool = MISSING
    keep_runs: int | None = MISSING
    log_limit_mb: float = MISSING
    python: str = MISSING
    dry_run: bool = MISSING
    fail_fast: bool = MISSING
    resume: str | None = MISSING
    rerun: str | None = MISSING
