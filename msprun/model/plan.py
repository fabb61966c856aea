"""The frozen plan: everything that will happen, decided before anything runs."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from msgspec import Struct

from msprun.model.npu import Finding
from msprun.model.operator import Operator, Side
from msprun.model.soc import Soc

Source = Literal["cli", "config", "env", "auto"]
FailOn = Literal["any", "incorrect", "failed", "never"]
Isolation = Literal["shared", "side", "case"]
Busy = Literal["wait", "refuse", "warn"]
Metric = Literal["device", "span", "host"]


class Command(Struct, frozen=True, kw_only=True):
    """One process to start; `env` is the whole environment, not an addition.

    `grace_s` is how long it may take to obey an INT. `dies_with_parent`: the system kills it when its parent goes.
    """

    argv: tuple[str, ...]
    cwd: Path
    env: tuple[tuple[str, str], ...]
    stdout: Path
    stderr: Path
    timeout_s: float | None = None
    grace_s: float = 0.5
    dies_with_parent: bool = False


class Outcome(Struct, frozen=True, kw_only=True):
    """How a process ended: `returncode` None means that it had to be killed or died by `signal`."""

    returncode: int | None
    signal: int | None
    timed_out: bool
    elapsed_s: float


class Heard(Outcome, frozen=True, kw_only=True):
    """How a tool ended and what it printed, both channels together; `is_cut` where it printed more than was kept."""

    text: str
    is_cut: bool


class Schedule(Struct, frozen=True, kw_only=True):
    """How often each side is called. `warmup` and `repeats` None mean auto; counts are calls of each side."""

    warmup: int | None
    repeats: int | None
    budget_s: float
    order: Literal["interleaved", "sequential"]
    cache: Literal["warm", "rotate", "flush"]
    seed: int
    visits: int
    quads_min: int
    quads_max: int
    precision: float
    block_us: float
    block_calls_max: int
    warmup_min: int
    warmup_max: int
    warmup_s: float

    @property
    def is_explicit(self) -> bool:
        """A count was given: one visit, and the calls that were asked for."""
        return self.warmup is not None or self.repeats is not None


class CheckRule(Struct, frozen=True, kw_only=True):
    """How outputs are compared (measuring rules: MERE and MARE, double benchmark, or rtol and atol).

    `compare` is `file.py:function`, relative to the operator's folder.
    """

    name: str
    rule: Literal["standard", "close", "none"]
    level: Literal["L0", "L1", "L2"]
    budget_s: float
    rtol: float | None
    atol: float | None
    threshold: float | None
    compare: str | None
    mask: str | None = None


class Limits(Struct, frozen=True, kw_only=True):
    """Time limits in seconds: one operator on the device, first call, calls of a case, one session, the run."""

    op_timeout_s: float
    compile_timeout_s: float
    case_timeout_s: float
    timeout_s: float
    time_limit_s: float | None


class DeviceFacts(Struct, frozen=True, kw_only=True):
    """What is known of the device before torch is imported.

    `id` is what torch calls it in the caller's shell, `index` in the worker, which sees no other NPU. `logic` is what
    ASCEND_RT_VISIBLE_DEVICES counts, `physical` what the host agrees on, `card` and `chip` what npu-smi asks for.
    `lease` is the name under which it is leased, None for what is shared as it is.
    """

    kind: str
    id: int
    id_source: Source
    name: str
    cores: int | None
    threads: int
    index: int = 0
    id_why: str | None = None
    logic: int | None = None
    physical: int | None = None
    card: int | None = None
    chip: int | None = None
    health: str | None = None
    lease: str | None = None


class Session(Struct, frozen=True, kw_only=True):
    """One worker's process: which cases and sides it serves and the command that starts it.

    `collector` names who sees the device meanwhile, None where nobody does.
    """

    number: int
    round: Literal["check", "timing", "check+timing"]
    profiler: str
    cases: tuple[int, ...]
    sides: tuple[Side, ...]
    folder: Path
    command: Command
    collector: str | None = None

    @property
    def log(self) -> Path:
        """What the program around the worker prints; without one the worker's own, whose stdout is diverted."""
        return self.command.stdout if self.command.dies_with_parent else self.command.stderr


class Provenance(Struct, frozen=True, kw_only=True):
    """Where a value came from, and for `auto` why it was chosen."""

    value: str
    source: Source
    why: str | None = None


class Profiling(Struct, frozen=True, kw_only=True):
    """How timing is shared out to processes, which of a call's times counts, and what is done around it."""

    isolation: Isolation
    metric: Metric
    boost: bool
    keep_prof: bool


class Access(Struct, frozen=True, kw_only=True):
    """What becomes of a run whose device somebody else uses, and how long it waits (seconds)."""

    busy: Busy
    wait_s: float


class Plan(Struct, frozen=True, kw_only=True):
    """A request that was checked whole. `cases` are the selected indices, in the order in which they run.

    `files` are the operator's files with their digests; `soc` are the figures of the device's chip, None without any.
    """

    mode: str
    operator: Operator
    cases: tuple[int, ...]
    sides: tuple[Side, ...]
    schedule: Schedule
    check: CheckRule
    limits: Limits
    device: DeviceFacts
    profiler: str
    profiling: Profiling
    access: Access
    python: Path
    sessions: tuple[Session, ...]
    retry: int
    keep_going: bool
    fail_on: FailOn
    save_to_op: bool
    folder: Path
    pages: tuple[tuple[str, str | None, str], ...]
    lang: str
    log_limit_mb: float
    provenance: dict[str, Provenance]
    files: dict[str, str]
    overrides: tuple[str, ...]
    choices: dict[str, str]
    expected_s: float
    soc: Soc | None = None
    findings: tuple[Finding, ...] = ()
