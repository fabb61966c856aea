"""What is known so far of one case; grows while the run goes on, and is drawn as a row at any moment."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from msprun.journal import Again, Entry, Seen
from msprun.measure.records import copies, flags, kernels, merged, operators, sum_us
from msprun.measure.work import BELOW_FLOOR, Work, work
from msprun.model.call import SideAccount
from msprun.model.case import Case
from msprun.model.failure import Failure
from msprun.model.measurement import (
    RIGHT,
    Accounting,
    CacheFacts,
    Correctness,
    Estimate,
    FreshCall,
    OperatorTime,
    Paired,
    Remark,
    Sample,
    SideResult,
    StopReason,
)
from msprun.model.operator import ALL_SIDES, OLD_AND_NEW, SIDES, Pair, Side
from msprun.model.plan import Plan
from msprun.model.result import CaseRow, Status
from msprun.profiler import PROFILERS
from msprun.stat.estimate import estimate, median_us, paired
from msprun.stat.remarks import Evidence, case_remarks
from msprun.work.facts import Facts, of_case, with_outputs

# The old script's words for a side that was not asked for; its callers look for them.
NOT_ASKED = "skipped (--impl)"
Failures = dict[Side, Failure | None]


class SideTally:
    """One side: what it told beside its times."""

    def __init__(self) -> None:
        self.first_call_us: float | None = None
        self.construct_s: float | None = None
        self.prepare_us: float | None = None
        self.host_us: float | None = None
        self.accounts: list[SideAccount] = []
        self.operators: tuple[OperatorTime, ...] = ()
        self.operators_us: float | None = None
        self.operators_coverage: float | None = None
        self.fresh: list[FreshCall] = []
        self.failure: Failure | None = None
        self.correctness = Correctness(state="not_checked")


class Tally:
    """One case of a run, of which at first nothing is known but its description."""

    def __init__(self, case: Case, plan: Plan, write: Callable[[Entry], None]) -> None:
        self.case = case
        self.plan = plan
        self._write = write
        self.shape = case.shape_label
        self.dtype = case.dtype_label
        self.sides: dict[Side, SideTally] = {side: SideTally() for side in ALL_SIDES}
        self.samples: list[Sample] = []
        self.is_checked = False
        self.is_parted = False  # its sides do not fit into memory together
        self.skipped: str | None = None
        self.stored: CaseRow | None = None
        self.stop: StopReason | None = None
        self.remarks: list[Remark] = []
        self.inputs_from: str | None = None
        self.bytes = 0
        self.arguments: Facts | None = of_case(case)
        self.output_bytes: int | None = None
        self.cache: CacheFacts | None = None
        self.sampled_s: dict[tuple[Side, ...], float] = {}

    @property
    def correctness(self) -> Correctness:
        """That of the candidate."""
        return self.sides["candidate"].correctness

    @correctness.setter
    def correctness(self, found: Correctness) -> None:
        self.sides["candidate"].correctness = found

    @property
    def timed_sides(self) -> tuple[Side, ...]:
        """The sides that are worth timing: sound, and not known to be wrong."""
        known = ((side, self.sides[side]) for side in self.plan.sides)
        return tuple(side for side, told in known if told.failure is None and told.correctness.state in RIGHT)

    @property
    def is_over(self) -> bool:
        """Nothing is left to do: it was skipped, or an earlier run finished it."""
        return self.skipped is not None or self.stored is not None

    def add(self, samples: Sequence[Sample]) -> None:
        """Keep samples, on disk first."""
        self._write(Seen(samples=tuple(samples)))
        self.samples += samples

    def forget_visit(self, number: int) -> None:
        """A visit was cut short: what it saw of the sides that go on is measured again."""
        self.samples = [s for s in self.samples if s.visit != number]
        self._write(Again(case=self.case.index))
        self._write(Seen(samples=tuple(self.samples)))

    def begin(self) -> None:
        """Start from nothing, also where an interrupted run has seen something of this case."""
        self._write(Again(case=self.case.index))

    def again(self) -> Callable[[], bool]:
        """Its times are of little use, and it is timed once more. To call: are they back, since no others came?"""
        samples, accounts = self.samples, {side: told.accounts for side, told in self.sides.items()}
        self.samples = []
        for told in self.sides.values():
            told.accounts = []
        self.begin()

        def back() -> bool:
            if self.samples:
                return False
            for side, told in self.sides.items():
                told.accounts = accounts[side]
            self.add(samples)
            return True

        return back

    def restore(self, stored: CaseRow, samples: Sequence[Sample]) -> None:
        """Take over what an earlier run finished."""
        self.stored = stored
        self.samples = [s for s in samples if s.side not in failures_of(stored)]

    def fail(self, side: Side | None, failure: Failure) -> None:
        """Note why a side has no number; its samples go. Without a side all lose theirs."""
        for name in self.plan.sides if side is None else (side,):
            if self.sides[name].failure is None:
                self.sides[name].failure = failure
        self.samples = [s for s in self.samples if self.sides[s.side].failure is None]

    def note(self, notes: list[dict[str, Any]]) -> None:
        """Keep a worker's notes as remarks, each code once a side."""
        for told in notes:
            code, figures = str(told.get("code", "unknown")), dict(told.get("figures") or {})
            if all((r.code, r.figures.get("side")) != (code, figures.get("side")) for r in self.remarks):
                self.remarks.append(Remark(code=code, figures=figures))


def row(tally: Tally) -> CaseRow:
    """The row as it stands. Statistics come from `stat` and are not repeated here."""
    if tally.stored is not None:
        return tally.stored
    seen = {side: found for side in ALL_SIDES if (found := _estimate(tally, side)) is not None}
    done = work(tally.plan, _facts(tally), {side: found.median_us for side, found in seen.items()})
    failures = {side: tally.sides[side].failure or done.failures.get(side) for side in ALL_SIDES}
    estimates = {side: None if failures[side] else seen.get(side) for side in ALL_SIDES}
    ref_us, asc_us, old_us = (found.median_us if (found := estimates[side]) else None for side in ALL_SIDES)
    pair, old_pair = (_paired(tally, two, estimates) for two in (SIDES, OLD_AND_NEW))
    told = {side: _side(tally, side, estimates[side], failures) for side in ALL_SIDES}
    return CaseRow(
        **_described(tally),
        ref_us=ref_us,
        asc_us=asc_us,
        speedup=ref_us / asc_us if ref_us and asc_us else None,
        ref_error=_error(tally, "reference", failures),
        asc_error=_error(tally, "candidate", failures),
        ref_prof_dir=None if tally.skipped is None else UNSET,
        asc_prof_dir=None if tally.skipped is None else UNSET,
        skipped=UNSET if tally.skipped is None else tally.skipped,
        status=_status(tally, pair is not None, estimates, failures),
        correctness=tally.correctness,
        accounting=_accounts(tally, seen, done),
        paired=pair,
        stop=tally.stop,
        remarks=(*tally.remarks, *_accounted(tally), *_statistical(tally, (pair, old_pair), told), *done.remarks),
        reference=told["reference"],
        candidate=told["candidate"],
        against=told["against"],
        failure=failures["candidate"] or failures["reference"],
        work=done.figures,
        against_us=old_us,
        against_correctness=tally.sides["against"].correctness if told["against"] else None,
        paired_against=old_pair,
    )


def _described(tally: Tally) -> dict[str, Any]:
    """What a row says of the case itself, and of how its inputs were made and kept."""
    return {
        "case": tally.case.index, "name": tally.case.name, "shape": tally.shape, "dtype": tally.dtype,
        "inputs_from": tally.inputs_from, "cache": tally.cache,
    }  # fmt: skip


def _facts(tally: Tally) -> Facts | None:
    return None if tally.arguments is None else with_outputs(tally.arguments, tally.output_bytes)


def _estimate(tally: Tally, side: Side) -> Estimate | None:
    if side not in tally.timed_sides:
        return None
    return estimate([s for s in tally.samples if s.side == side])


def _paired(tally: Tally, two: Pair, estimates: dict[Side, Estimate | None]) -> Paired | None:
    has_both = all(estimates[side] for side in two)
    return paired(tally.samples, tally.plan.schedule.order, two) if has_both else None


def _status(tally: Tally, is_paired: bool, estimates: dict[Side, Estimate | None], failures: Failures) -> Status:
    asked = [side for side in tally.plan.sides if side in SIDES]  # an older build's fate is its own
    if tally.skipped is not None:
        return "skipped"
    if any(failures[side] for side in asked):
        return "failed"
    if tally.correctness.state not in RIGHT:
        return "incorrect"
    if not tally.is_checked:
        return "pending"
    if tally.plan.mode == "check":
        return "checked"
    if is_paired:
        return "measured"
    return "one_sided" if len(asked) == 1 and estimates[asked[0]] else "pending"


def _error(tally: Tally, side: Side, failures: Failures) -> str | None:
    if tally.skipped is not None:
        return None
    if side not in tally.plan.sides:
        return NOT_ASKED
    failure = failures[side]
    if failure is not None:
        return failure.message
    state = tally.correctness.state
    return state if side == "candidate" and state not in RIGHT else None


def _accounts(tally: Tally, seen: dict[Side, Estimate], done: Work) -> dict[str, Accounting]:
    found = {side: _accounting(tally, side, seen.get(side), side in done.failures) for side in ALL_SIDES}
    return {side: told for side, told in found.items() if told is not None}


def _accounting(tally: Tally, side: Side, seen: Estimate | None, is_impossible: bool) -> Accounting | None:
    """What the profiler's records led to. The clock records each block that it times, so its account is exact."""
    accounts = tally.sides[side].accounts
    found = merged(accounts) if accounts else None
    if found is None and seen is not None:
        source = PROFILERS[tally.plan.profiler].source
        found = Accounting(verdict="exact", source=source, rows=seen.samples, calls=seen.calls)
    return replace(found, verdict=BELOW_FLOOR) if found and is_impossible else found


def _side(tally: Tally, side: Side, seen: Estimate | None, failures: Failures) -> SideResult | None:
    if side not in tally.plan.sides or tally.skipped is not None:
        return None
    told = tally.sides[side]
    mine = [s for s in tally.samples if s.side == side]
    listed = told.operators or operators(told.accounts)
    return SideResult(
        estimate=seen,
        samples_us=tuple(s.call_us for s in mine if s.phase == "timed") if seen else (),
        first_call_us=told.first_call_us,
        construct_s=told.construct_s,
        prepare_us=told.prepare_us,
        warmup_calls=sum(s.calls for s in mine if s.phase == "warmup"),
        operators=listed,
        operators_us=told.operators_us if told.operators else sum_us(listed),
        operators_coverage=told.operators_coverage,
        device_us=median_us(mine, "device_ns"),
        span_us=median_us(mine, "span_ns"),
        host_us=median_us(mine, "host_ns"),
        kernels=kernels(told.accounts),
        copies=copies(told.accounts),
        fresh=tuple(told.fresh),
        failure=failures[side],
    )


def _accounted(tally: Tally) -> tuple[Remark, ...]:
    """What accounts remarked on, and what flags their times, each remark once."""
    known = {side: tally.sides[side].accounts for side in ALL_SIDES}
    found = [remark for side, accounts in known.items() for remark in flags(accounts, side)]
    found += [remark for accounts in known.values() for account in accounts for remark in account.remarks]
    return tuple(remark for place, remark in enumerate(found) if remark not in found[:place])


def _statistical(
    tally: Tally, pairs: tuple[Paired | None, Paired | None], told: dict[Side, SideResult | None]
) -> tuple[Remark, ...]:
    operator = tally.plan.operator
    evidence = Evidence(
        samples=tuple(tally.samples),
        pair=pairs[0],
        old_pair=pairs[1],
        schedule=tally.plan.schedule,
        sides={side: known for side, known in told.items() if known is not None},
        is_same_code=operator.reference == operator.candidate,
        has_extension=bool(operator.build) or any(name.endswith(".so") for name in tally.plan.files),
    )
    return case_remarks(evidence)


def failures_of(known: CaseRow) -> dict[Side, Failure]:
    """The sides of a row that failed, and why."""
    return {side: told.failure for side, told in known.sides.items() if told.failure is not None}


def is_finished(stored: CaseRow) -> bool:
    """A resumed run need not touch this case again: each side that was asked for has its times or its failure."""
    if stored.status == "skipped":
        return stored.skipped == "empty_tensor"
    if stored.status == "checked" or stored.stop not in (None, "interrupted"):
        return True
    asked, failures = stored.sides, failures_of(stored).values()
    return bool(asked) and len(failures) == len(asked) and all(f.stage != "launch" for f in failures)
