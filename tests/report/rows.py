"""Invented cases for the pages; every figure is chosen here."""

from __future__ import annotations

from typing import Any

import msgspec

from msprun.model.failure import Failure
from msprun.model.measurement import (
    Accounting,
    Correctness,
    Estimate,
    Paired,
    Remark,
    SideResult,
)
from msprun.model.result import CaseRow

CORRECT = Correctness(
    state="correct", rule="mere_mare", figures={"mere": 0.000125, "mare": 0.00075, "limit": 0.0009766}
)
NOT_CHECKED = Correctness(state="not_checked")


def side(us: float, calls: int = 96) -> SideResult:
    estimate = Estimate(
        calls=calls,
        samples=calls,
        block=1,
        median_us=us,
        low_us=us * 0.98,
        high_us=us * 1.02,
        mean_us=us * 1.01,
        min_us=us * 0.9,
        p95_us=us * 1.1,
    )
    return SideResult(estimate=estimate, samples_us=(us * 0.9, us, us * 1.1), first_call_us=us * 20, warmup_calls=10)


def measured(case: int, ref_us: float, asc_us: float, paired: Paired, **more: Any) -> CaseRow:
    fields: dict[str, Any] = {
        "shape": f"[{64 + case}, 512]",
        "dtype": "float16",
        "name": f"case_{case}",
        "status": "measured",
        "correctness": CORRECT,
        "stop": "narrow",
        "ref_prof_dir": None,
        "asc_prof_dir": None,
    }
    return CaseRow(
        **(fields | more),
        case=case,
        ref_us=ref_us,
        asc_us=asc_us,
        speedup=ref_us / asc_us,
        paired=paired,
        reference=side(ref_us),
        candidate=side(asc_us),
        accounting={
            "reference": Accounting(verdict="exact", source="perf_counter", rows=96, calls=96),
            "candidate": Accounting(verdict="exact", source="perf_counter", rows=96, calls=96),
        },
    )


def pair(speedup: float, low: float | None, high: float | None, verdict: Any, quads: int = 24) -> Paired:
    return Paired(speedup=speedup, low=low, high=high, verdict=verdict, quads=quads)


def row(case: int, status: Any, **more: Any) -> CaseRow:
    fields: dict[str, Any] = {
        "shape": f"[{64 + case}, 512]",
        "dtype": "float16",
        "name": f"case_{case}",
        "correctness": NOT_CHECKED,
        "ref_prof_dir": None,
        "asc_prof_dir": None,
    }
    return CaseRow(**(fields | more), case=case, status=status)


FASTER = measured(0, 84.2, 21.05, pair(3.987, 3.912, 4.061, "faster"))
SLOWER = measured(1, 40.0, 50.0, pair(0.803, 0.781, 0.826, "slower", 48), dtype="float32", stop="budget")
UNRESOLVED = measured(
    2,
    100.5,
    99.25,
    pair(1.011, 0.971, 1.052, "unresolved", 200),
    dtype="bfloat16",
    stop="no_progress",
    remarks=(Remark(code="drift", figures={"side": "reference", "change": 0.0631}),),
)
INCORRECT = row(
    3,
    "incorrect",
    ref_us=310.25,
    asc_error="incorrect: MERE 0.25",
    reference=side(310.25),
    correctness=Correctness(
        state="incorrect", rule="double_benchmark", figures={"mere": 0.25, "wrong": 17, "leaf": "output[0]"}
    ),
)
FAILED = row(
    4,
    "failed",
    ref_us=12.75,
    asc_error="RuntimeError: no kernel",
    reference=side(12.75),
    candidate=SideResult(
        failure=Failure(
            stage="first_call",
            kind="exception",
            message="RuntimeError: no kernel (model_new_ascendc.py:31)",
            log="sessions/1/stderr.log",
            hint="python wrapper.py case=4",
        )
    ),
)
SKIPPED = msgspec.structs.replace(
    row(5, "skipped", shape="[0, 512]", skipped="empty_tensor"), ref_prof_dir=msgspec.UNSET, asc_prof_dir=msgspec.UNSET
)
