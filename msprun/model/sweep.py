"""A sweep as it lies on disk: what was asked for, and how each of its jobs ended."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from msprun.model.result import Counts

SCHEMA_VERSION = 1
JobStatus = Literal["not_started", "running", "done", "failed", "refused", "interrupted", "skipped_fail_fast"]


class Ended(Struct, frozen=True, kw_only=True):
    """A job's own `status.json`. `exit_code` is None until the job ends; `reason` and `next` are one line each."""

    status: JobStatus = "not_started"
    exit_code: int | None = None
    reason: str | None = None
    next: str | None = None
    elapsed_s: float | None = None


class Geomean(Struct, frozen=True, kw_only=True):
    """The speedup over the cases of a job, with its 95 % interval."""

    speedup: float
    low: float | None = None
    high: float | None = None


class Job(Struct, frozen=True, kw_only=True):
    """One job. `swept` are the values that this job has of the swept keys, `folder` is relative to the sweep's.

    `verdict` and `state` are the codes of the run as a whole, None as long as there is no result.
    """

    number: int
    overrides: tuple[str, ...]
    swept: dict[str, str]
    status: JobStatus = "not_started"
    exit_code: int | None = None
    folder: str
    verdict: str | None = None
    geomean: Geomean | None = None
    counts: Counts | None = None
    state: str | None = None
    reason: str | None = None
    next: str | None = None
    elapsed_s: float | None = None


class SweepRequest(Struct, frozen=True, kw_only=True):
    """What was asked for: `overrides` and `hydra` are words of the command line, `keys` the swept keys in order.

    `files` holds digests of the operators' files by path: a resumed sweep must measure the same operators.
    """

    overrides: tuple[str, ...]
    hydra: tuple[str, ...]
    keys: tuple[str, ...]
    cwd: str
    fail_fast: bool
    files: dict[str, str]


class Sweep(Struct, frozen=True, kw_only=True):
    """A sweep. `exit_code` is the worst of its jobs by now; `complete`: no job is left to run."""

    schema_version: int
    msprun_version: str
    sweep_id: str
    started_at: str
    request: SweepRequest
    jobs: tuple[Job, ...]
    exit_code: int
    complete: bool
