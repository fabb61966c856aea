"""The result of a run, as it lies on disk: the old script's keys first, then ours."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import UNSET, Struct, UnsetType

from msprun.model.failure import Failure
from msprun.model.measurement import (
    RIGHT,
    Accounting,
    CacheFacts,
    Correctness,
    Paired,
    Remark,
    SideResult,
    StopReason,
)
from msprun.model.operator import ALL_SIDES, Side
from msprun.model.plan import Provenance
from msprun.model.soc import Bound, Level

SCHEMA_VERSION = 1
Status = Literal["measured", "one_sided", "checked", "incorrect", "failed", "skipped", "pending"]


class WorkFigures(Struct, frozen=True, kw_only=True):
    """What one call moves and computes by `op.work`, the least time that takes, and how fast each side was.

    GB/s count 1e9 bytes, TFLOP/s 1e12 operations a second. `floor_us`, what bounds it, the memory level and the shares
    (floor over time of a call, 1 where nothing could be faster) are None where no figures of the chip are known.
    """

    bytes: float | None = None
    flops: float | None = None
    floor_us: float | None = None
    bound: Bound | None = None
    level: Level | None = None
    reference_gb_s: float | None = None
    candidate_gb_s: float | None = None
    against_gb_s: float | None = None
    reference_tflop_s: float | None = None
    candidate_tflop_s: float | None = None
    against_tflop_s: float | None = None
    reference_floor_share: float | None = None
    candidate_floor_share: float | None = None
    against_floor_share: float | None = None


class CaseRow(Struct, frozen=True, kw_only=True):
    """One case. `speedup` is exactly `ref_us / asc_us`; `paired` holds the figure that verdicts use.

    `skipped` is there only in skipped rows, and the two `*_prof_dir` only in the others. With cache=warm `cache` is
    None. `against` is an older build of the candidate and `paired_against` its time over the candidate's; None where
    none was asked for.
    """

    case: int
    shape: str
    dtype: str
    ref_us: float | None = None
    asc_us: float | None = None
    speedup: float | None = None
    ref_error: str | None = None
    asc_error: str | None = None
    ref_prof_dir: str | None | UnsetType = UNSET
    asc_prof_dir: str | None | UnsetType = UNSET
    skipped: str | UnsetType = UNSET
    name: str
    status: Status
    correctness: Correctness
    accounting: dict[str, Accounting] = {}
    paired: Paired | None = None
    stop: StopReason | None = None
    remarks: tuple[Remark, ...] = ()
    reference: SideResult | None = None
    candidate: SideResult | None = None
    failure: Failure | None = None
    inputs_from: str | None = None
    work: WorkFigures | None = None
    cache: CacheFacts | None = None
    against_us: float | None = None
    against_correctness: Correctness | None = None
    paired_against: Paired | None = None
    against: SideResult | None = None

    @property
    def sides(self) -> dict[Side, SideResult]:
        """The sides that were asked for."""
        told = zip(ALL_SIDES, (self.reference, self.candidate, self.against), strict=True)
        return {side: found for side, found in told if found is not None}

    @property
    def pair_of_builds(self) -> Paired | None:
        """The pair of older build and candidate; None where one of them is wrong or was not judged."""
        states = (self.correctness.state, self.against_correctness and self.against_correctness.state)
        counts_here = self.status in ("measured", "one_sided") and all(state in RIGHT for state in states)
        return self.paired_against if counts_here else None


class Aggregates(Struct, frozen=True, kw_only=True):
    """Figures over cases; speed-ups over measured, correct cases only, None where there is none.

    `geomean_low` to `geomean_high` is how far the geometric mean depends on which cases were chosen,
    `geomean_noise_low` to `geomean_noise_high` the noise of measuring these.
    """

    geomean_speedup: float | None = None
    mean_speedup: float | None = None
    median_speedup: float | None = None
    min_speedup: float | None = None
    max_speedup: float | None = None
    geomean_low: float | None = None
    geomean_high: float | None = None
    geomean_noise_low: float | None = None
    geomean_noise_high: float | None = None
    mean_ref_us: float | None = None
    median_ref_us: float | None = None
    geomean_ref_us: float | None = None
    total_ref_us: float | None = None
    mean_asc_us: float | None = None
    median_asc_us: float | None = None
    geomean_asc_us: float | None = None
    total_asc_us: float | None = None
    total_speedup: float | None = None


class DtypeAggregate(Struct, frozen=True, kw_only=True):
    """Speed-ups of the cases of one dtype label."""

    dtype: str
    cases: int
    geomean_speedup: float
    mean_speedup: float
    faster: int
    slower: int


class Counts(Struct, frozen=True, kw_only=True):
    """How many cases ended how; `*_family`: how many verdicts hold after Holm over all cases of the run."""

    total: int
    run: int
    measured: int
    correct: int
    incorrect: int
    failed: int
    skipped: int
    faster: int
    slower: int
    same: int
    unresolved: int
    faster_family: int | None = None
    slower_family: int | None = None


class Against(Struct, frozen=True, kw_only=True):
    """The candidate against an older build of it: old time over new time, over `cases` where neither is wrong.

    Intervals, verdicts and `*_family` as in Aggregates and Counts. `correct`, `incorrect` and `failed` count how the
    older build ended.
    """

    folder: str
    cases: int
    geomean_speedup: float | None
    geomean_low: float | None
    geomean_high: float | None
    geomean_noise_low: float | None
    geomean_noise_high: float | None
    faster: int
    slower: int
    same: int
    unresolved: int
    faster_family: int | None
    slower_family: int | None
    correct: int
    incorrect: int
    failed: int


class Result(Struct, frozen=True, kw_only=True):
    """A run's result. Times are microseconds; `warmup` and `repeats` are the calls of each side, most of any case."""

    task: str
    task_dir: str
    n_cases_total: int
    n_cases_valid: int
    geomean_speedup: float | None
    mean_speedup: float | None
    median_speedup: float | None
    min_speedup: float | None
    max_speedup: float | None
    mean_ref_us: float | None
    median_ref_us: float | None
    geomean_ref_us: float | None
    total_ref_us: float | None
    mean_asc_us: float | None
    median_asc_us: float | None
    geomean_asc_us: float | None
    total_asc_us: float | None
    total_speedup: float | None
    warmup: int
    repeats: int
    seed: int
    device_id: int
    device_select_source: str
    timing_method: str
    per_case: tuple[CaseRow, ...]
    profiling_mode: str
    n_cases_run: int
    schema_version: int
    msprun_version: str
    run_id: str
    started_at: str
    elapsed_s: float
    complete: bool
    exit_code: int
    request: dict[str, Any]
    environment: dict[str, Any]
    provenance: dict[str, Provenance]
    gate: None
    remarks: tuple[Remark, ...]
    geomean_low: float | None
    geomean_high: float | None
    geomean_noise_low: float | None = None
    geomean_noise_high: float | None = None
    by_dtype: tuple[DtypeAggregate, ...]
    counts: Counts
    against: Against | None = None
    folder: str
