"""What pages say about a result as a whole: drawn from the result, nothing measured anew."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, Literal

from msgspec import Struct

from msprun.model.failure import Failure
from msprun.model.measurement import RIGHT, Accounting, Paired, SideResult, State
from msprun.model.operator import ALL_SIDES, Side
from msprun.model.result import CaseRow, Result

# What a command that looks at one case alone, and longer, must not take over.
_OTHER_EFFORT = ("cases", "max_cases", "warmup", "repeats", "budget_s", "save_to_op", "resume", "rerun")
# Of what `op.work` and the figures of a chip lead to, pages show the columns in which some case has a number.
WORK_COLUMNS = (
    "reference_gb_s", "candidate_gb_s", "against_gb_s", "reference_tflop_s", "candidate_tflop_s", "against_tflop_s",
    "floor_us", "bound", "reference_floor_share", "candidate_floor_share", "against_floor_share",
)  # fmt: skip
MIB = 1 << 20
Word = Literal[
    "interrupted", "partial", "incorrect", "failed", "nothing", "correct", "one_sided",
    "faster", "slower", "same", "unresolved",
]  # fmt: skip


class CaseFailure(Struct, frozen=True, kw_only=True):
    """A failure with the case and, where one is to blame, the side it belongs to."""

    row: CaseRow
    side: Side | None
    failure: Failure


class Noted(Struct, frozen=True, kw_only=True):
    """A remark once, with the figures of its first appearance and the cases that have it (none: the whole run)."""

    code: str
    figures: dict[str, Any]
    next: str | None
    cases: tuple[int, ...]


class Caches(Struct, frozen=True, kw_only=True):
    """What the cache policy did, least and most over the cases, in MiB of all sets or of the buffer that flushes."""

    policy: str
    sets: tuple[int, int]
    mib: tuple[float, float]
    llc_mib: float | None


class OldRow(Struct, frozen=True, kw_only=True):
    """A case of a run with an older build: whether that is sound, and the pair where the speed-up counts."""

    row: CaseRow
    has_failed: bool
    state: State | None
    pair: Paired | None


class Accounted(Struct, frozen=True, kw_only=True):
    """What a device's records say of one side of a case."""

    case: int
    side: Side
    account: Accounting
    told: SideResult | None


class Overview(Struct, frozen=True, kw_only=True):
    """The whole run in a few values; see the functions below."""

    check_only: bool
    word: Word
    state: State | None
    device: str
    not_checked: int
    one_sided: int
    wrong: tuple[CaseRow, ...]
    failures: tuple[CaseFailure, ...]
    skipped: tuple[CaseRow, ...]
    pending: int
    remarks: tuple[Noted, ...]
    worst: tuple[CaseRow, ...]
    quads_low: int | None
    quads_high: int | None
    stops: tuple[tuple[str, int], ...]
    command: tuple[str, ...]
    folder: str
    closer: tuple[str, ...]
    worked: tuple[CaseRow, ...]
    work_columns: tuple[str, ...]
    caches: Caches | None
    older: tuple[OldRow, ...]
    old_wrong: tuple[OldRow, ...]
    accounted: tuple[Accounted, ...]


def overview(result: Result) -> Overview:
    """The overview of a result."""
    rows = result.per_case
    quads = [row.paired.quads for row in rows if row.paired]
    older = tuple(map(_old_row, rows)) if result.against else ()
    return Overview(
        check_only=result.profiling_mode == "check",
        word=_word(result),
        state=_state(rows),
        device=_device(result),
        not_checked=sum(_is_unchecked(row) for row in rows),
        one_sided=sum(row.status == "one_sided" for row in rows),
        wrong=tuple(row for row in rows if row.status == "incorrect"),
        failures=tuple(found for row in rows for found in _failures(row)),
        skipped=tuple(row for row in rows if row.status == "skipped"),
        pending=sum(row.status == "pending" for row in rows),
        remarks=_remarks(result),
        worst=_worst(rows),
        quads_low=min(quads, default=None),
        quads_high=max(quads, default=None),
        stops=tuple(sorted(Counter(row.stop for row in rows if row.stop).items())),
        command=_command(result),
        folder=result.folder,
        closer=_closer(result),
        worked=tuple(row for row in rows if any(_has(row, name) for name in WORK_COLUMNS)),
        work_columns=tuple(name for name in WORK_COLUMNS if any(_has(row, name) for row in rows)),
        caches=_caches(rows),
        older=older,
        old_wrong=tuple(old for old in older if old.state not in (*RIGHT, None)),
        accounted=tuple(found for row in rows for found in _accounted(row)),
    )


def has_speed(row: CaseRow) -> bool:
    """Right before fast: only a correct or an unchecked case shows a speed-up."""
    return row.status == "measured" and row.correctness.state in RIGHT and row.paired is not None


def _accounted(row: CaseRow) -> Iterator[Accounted]:
    """Sides whose calls were looked for in a device's records; a clock's account has nothing to tell."""
    for side in ALL_SIDES:
        account = row.accounting.get(side)
        if account is not None and account.expected is not None:
            yield Accounted(case=row.case, side=side, account=account, told=row.sides.get(side))


def _old_row(row: CaseRow) -> OldRow:
    return OldRow(
        row=row,
        has_failed=row.against is not None and row.against.failure is not None,
        state=row.against_correctness.state if row.against_correctness else None,
        pair=row.pair_of_builds,
    )


def _is_unchecked(row: CaseRow) -> bool:
    return row.correctness.state == "not_checked" and row.status in ("measured", "one_sided", "checked")


def _state(rows: tuple[CaseRow, ...]) -> State | None:
    """The worst correctness of any case that has one; None where every case failed or was skipped."""
    wrong = [row.correctness.state for row in rows if row.status == "incorrect"]
    if wrong:
        return "incorrect" if len(set(wrong)) > 1 else wrong[0]
    if any(map(_is_unchecked, rows)):
        return "not_checked"
    return "correct" if any(row.correctness.state == "correct" for row in rows) else None


def _word(result: Result) -> Word:
    """One word for the run, the worst that is true of it."""
    counts = result.counts
    worst: tuple[tuple[bool, Word], ...] = (
        (result.exit_code == 130, "interrupted"),
        (not result.complete, "partial"),
        (counts.incorrect > 0, "incorrect"),
        (counts.failed > 0, "failed"),
        (counts.run == 0, "nothing"),
        (result.profiling_mode == "check", "correct"),
        (result.geomean_speedup is None, "one_sided"),
    )
    return next((word for is_so, word in worst if is_so), None) or _speed_word(result)


def _speed_word(result: Result) -> Word:
    low, high = result.geomean_low, result.geomean_high
    if low is not None and low > 1:
        return "faster"
    if high is not None and high < 1:
        return "slower"
    return "same" if result.counts.same == result.n_cases_valid else "unresolved"


def _device(result: Result) -> str:
    known = result.environment.get("device")
    kind = known.get("kind") if isinstance(known, dict) else known
    return f"{kind or 'device'}:{result.device_id}"


def _failures(row: CaseRow) -> Iterator[CaseFailure]:
    """A failure that the sides share belongs to the case."""
    reference = row.reference.failure if row.reference else None
    candidate = row.candidate.failure if row.candidate else None
    older = row.against.failure if row.against else None
    if older and older not in (reference, candidate):
        yield CaseFailure(row=row, side="against", failure=older)
    if reference and reference == candidate:
        yield CaseFailure(row=row, side=None, failure=reference)
        return
    if row.failure and row.failure not in (reference, candidate):
        yield CaseFailure(row=row, side=None, failure=row.failure)
    if reference:
        yield CaseFailure(row=row, side="reference", failure=reference)
    if candidate:
        yield CaseFailure(row=row, side="candidate", failure=candidate)


def _remarks(result: Result) -> tuple[Noted, ...]:
    first: dict[str, Noted] = {}
    sources = [(None, remark) for remark in result.remarks]
    for case, remark in sources + [(row.case, remark) for row in result.per_case for remark in row.remarks]:
        seen = first.get(remark.code)
        cases = (seen.cases if seen else ()) + (() if case is None else (case,))
        figures, following = (seen.figures, seen.next) if seen else (remark.figures, remark.next)
        first[remark.code] = Noted(code=remark.code, figures=figures, next=following, cases=tuple(dict.fromkeys(cases)))
    return tuple(first.values())


def _worst(rows: tuple[CaseRow, ...]) -> tuple[CaseRow, ...]:
    """Three cases that need a look first: wrong, failed, then the slowest candidates."""
    rank = {"incorrect": 0, "failed": 1, "measured": 2}

    def key(row: CaseRow) -> tuple[int, float, int]:
        speedup = row.paired.speedup if has_speed(row) and row.paired else None
        return rank[row.status], speedup if speedup is not None else float("inf"), row.case

    return tuple(sorted((row for row in rows if row.status in rank), key=key)[:3])


def _command(result: Result) -> tuple[str, ...]:
    """The command line that asks for the same run again."""
    overrides = result.request.get("overrides")
    if isinstance(overrides, list | tuple):
        return ("msprun", *map(str, overrides))
    return ("msprun", f"mode={result.profiling_mode}", f"op={result.task_dir}", f"seed={result.seed}")


def _has(row: CaseRow, column: str) -> bool:
    return row.work is not None and getattr(row.work, column) is not None


def _caches(rows: tuple[CaseRow, ...]) -> Caches | None:
    """None with warm caches, and before any case was timed."""
    seen = [row.cache for row in rows if row.cache]
    if not seen:
        return None
    sets, held = [facts.sets for facts in seen], [facts.bytes / MIB for facts in seen]
    return Caches(
        policy=seen[0].policy,
        sets=(min(sets), max(sets)),
        mib=(min(held), max(held)),
        llc_mib=None if seen[0].llc_bytes is None else seen[0].llc_bytes / MIB,
    )


def _closer(result: Result) -> tuple[str, ...]:
    """The command line that measures the case with the lowest speed-up alone, and longer; empty where none has one."""
    speeds = [(row.paired.speedup, row.case) for row in result.per_case if has_speed(row) and row.paired]
    known = [(speedup, case) for speedup, case in speeds if speedup is not None]
    if not known:
        return ()
    kept = (word for word in _command(result) if word.lstrip("+~").partition("=")[0] not in _OTHER_EFFORT)
    return (*kept, "warmup=auto", "repeats=auto", f"cases={min(known)[1]}", "budget_s=10")
