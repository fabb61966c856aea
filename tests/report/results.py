"""Invented results for the pages; every figure is chosen here."""

from __future__ import annotations

import math
from typing import Any

import msgspec
from msgspec.structs import replace

from msprun.model.failure import Failure
from msprun.model.measurement import (
    Accounting,
    CacheFacts,
    Correctness,
    Kernel,
    Paired,
    Remark,
    Sample,
    SideResult,
)
from msprun.model.plan import Provenance
from msprun.model.result import Against, CaseRow, Counts, DtypeAggregate, Result, WorkFigures
from tests.report.rows import (
    CORRECT,
    FAILED,
    FASTER,
    INCORRECT,
    NOT_CHECKED,
    SKIPPED,
    SLOWER,
    UNRESOLVED,
    measured,
    pair,
    row,
    side,
)


def geomean(values: list[float]) -> float | None:
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None


def median(values: list[float]) -> float | None:
    ordered = sorted(values)
    middle = len(ordered) // 2
    if not ordered:
        return None
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def result(*rows: CaseRow, **more: Any) -> Result:
    """A result whose aggregates are recomputed here from its rows, by the definitions of the specification."""
    good = tuple(r for r in rows if r.status == "measured" and r.speedup)
    ran = sum(r.status not in ("skipped", "pending") for r in rows)
    fields: dict[str, Any] = {
        "n_cases_total": len(rows),
        "n_cases_valid": len(good),
        "n_cases_run": ran,
        "per_case": rows,
        "by_dtype": tuple(
            _of_dtype(dtype, [r for r in good if r.dtype == dtype]) for dtype in sorted({r.dtype for r in good})
        ),
        "counts": _counts(rows, good, ran),
    }
    return Result(**(RUN | _speedups(good) | _times(rows, good) | fields | more))


RUN: dict[str, Any] = {
    "task": "toy_norm", "task_dir": "/ops/toy_norm", "warmup": 10, "repeats": 96, "seed": 7, "device_id": 0,
    "device_select_source": "auto", "timing_method": "clock.perf_counter_ns", "profiling_mode": "quick",
    "schema_version": 1, "msprun_version": "0.1.0", "run_id": "20260102-030405-toy_norm-ab12",
    "started_at": "2026-01-02T03:04:05+00:00", "elapsed_s": 74.512, "complete": True, "exit_code": 0,
    "request": {"overrides": ["mode=quick", "op=/ops/toy_norm", "seed=7"]},
    "environment": {
        "host": "toybox", "device": {"kind": "cpu", "threads": 1, "name": "Toy CPU 5000"},
        "worker": {"torch": "2.13.0"},
    },
    "provenance": {"device": Provenance(value="cpu", source="auto", why="no accelerator here")}, "gate": None,
    "remarks": (), "folder": "/runs/20260102-030405-toy_norm-ab12",
}  # fmt: skip


def _speedups(good: tuple[CaseRow, ...]) -> dict[str, float | None]:
    speedups = [r.speedup for r in good if r.speedup]
    pairs = [r.paired for r in good if r.paired]
    return {
        "geomean_speedup": geomean([p.speedup for p in pairs if p.speedup]),
        "mean_speedup": mean(speedups),
        "median_speedup": median(speedups),
        "min_speedup": min(speedups, default=None),
        "max_speedup": max(speedups, default=None),
        "geomean_low": geomean([p.low for p in pairs if p.low]),
        "geomean_high": geomean([p.high for p in pairs if p.high]),
    }


def _times(rows: tuple[CaseRow, ...], good: tuple[CaseRow, ...]) -> dict[str, float | None]:
    found: dict[str, float | None] = {"total_speedup": None}
    for side_name in ("ref_us", "asc_us"):
        times = [getattr(r, side_name) for r in rows if getattr(r, side_name)]
        found |= {
            f"mean_{side_name}": mean(times),
            f"median_{side_name}": median(times),
            f"geomean_{side_name}": geomean(times),
            f"total_{side_name}": sum(times) if times else None,
        }
    if good:
        found["total_speedup"] = sum(r.ref_us for r in good if r.ref_us) / sum(r.asc_us for r in good if r.asc_us)
    return found


def _counts(rows: tuple[CaseRow, ...], good: tuple[CaseRow, ...], ran: int) -> Counts:
    status = [r.status for r in rows]
    verdicts = [r.paired.verdict for r in good if r.paired]
    return Counts(
        total=len(rows),
        run=ran,
        measured=len(good),
        correct=sum(r.correctness.state == "correct" for r in rows),
        incorrect=status.count("incorrect"),
        failed=status.count("failed"),
        skipped=status.count("skipped"),
        **{word: verdicts.count(word) for word in ("faster", "slower", "same", "unresolved")},
    )


def _of_dtype(dtype: str, rows: list[CaseRow]) -> DtypeAggregate:
    speedups = [r.speedup for r in rows if r.speedup]
    verdicts = [r.paired.verdict for r in rows if r.paired]
    return DtypeAggregate(
        dtype=dtype,
        cases=len(rows),
        geomean_speedup=geomean(speedups) or 0,
        mean_speedup=mean(speedups) or 0,
        faster=verdicts.count("faster"),
        slower=verdicts.count("slower"),
    )


def mixed() -> Result:
    return result(
        FASTER,
        SLOWER,
        UNRESOLVED,
        INCORRECT,
        FAILED,
        SKIPPED,
        exit_code=1,
        remarks=(Remark(code="plugin_remark", figures={"load": 3.5}, next="ask the plug-in"),),
    )


def all_good() -> Result:
    second = measured(1, 60.0, 30.0, pair(2.004, 1.951, 2.049, "faster", 32), dtype="float32")
    return result(FASTER, second, SKIPPED)


def all_failed() -> Result:
    hang = Failure(stage="timing", kind="timeout", message="no answer within 60 s", log="sessions/2/stderr.log")
    both = Failure(
        stage="import", kind="exception", message="ImportError: libtoy.so", acl_code=507033, hint="build it again"
    )
    return result(
        row(0, "failed", ref_error="timeout", reference=SideResult(failure=hang)),
        row(1, "failed", failure=both),
        exit_code=1,
    )


def check_mode() -> Result:
    bad = row(1, "incorrect", correctness=INCORRECT.correctness, asc_error="incorrect")
    return result(
        row(0, "checked", correctness=CORRECT),
        bad,
        SKIPPED,
        profiling_mode="check",
        exit_code=1,
        warmup=0,
        repeats=0,
        request={"overrides": ["mode=check", "op=/ops/toy_norm"]},
    )


def one_sided() -> Result:
    rows = [
        row(n, "one_sided", ref_us=us, asc_error="skipped (--impl)", reference=side(us), stop="planned")
        for n, us in enumerate((84.2, 40.0))
    ]
    return result(*rows)


def not_checked() -> Result:
    return result(*(msgspec.structs.replace(r, correctness=NOT_CHECKED) for r in (FASTER, SLOWER)))


def partial() -> Result:
    return result(FASTER, row(1, "pending"), row(2, "pending"), complete=False, exit_code=130)


def rates() -> Result:
    """A chip whose memory bounds case 0 and whose peak bounds case 1; nothing is known of the work of case 2."""
    first = WorkFigures(
        bytes=131072.0, flops=65536.0, floor_us=10.525, bound="memory", level="l2",
        reference_gb_s=131072 / 84.2 / 1e3, candidate_gb_s=131072 / 21.05 / 1e3,
        reference_tflop_s=65536 / 84.2 / 1e6, candidate_tflop_s=65536 / 21.05 / 1e6,
        reference_floor_share=0.125, candidate_floor_share=0.5,
    )  # fmt: skip
    second = WorkFigures(
        flops=1e9, floor_us=2.0, bound="compute", reference_tflop_s=25.0, candidate_tflop_s=20.0,
        reference_floor_share=0.05, candidate_floor_share=0.04,
    )  # fmt: skip
    held = [CacheFacts(policy="rotate", sets=s, bytes=b << 20, llc_bytes=35127296) for s, b in ((64, 8), (2, 512))]
    return result(
        msgspec.structs.replace(FASTER, work=first, cache=held[0]),
        msgspec.structs.replace(SLOWER, work=second, cache=held[1]),
        UNRESOLVED,
    )


def npu() -> Result:
    """A device: exact times, lost rows with a gap as border, and a candidate that ran nothing there."""
    softmax = Kernel(name="aclnnSoftmax_SoftmaxV2", kind="AI_VECTOR_CORE", block_num=48, count=1.0, duration_us=21.0)
    parts = [
        Kernel(name=f"aclnn{name}", kind="AI_VECTOR_CORE", block_num=48, count=count, duration_us=20.0)
        for name, count in (("Cast", 2.0), ("Sub", 1.0), ("Exp", 1.0), ("Div", 1.0))
    ]
    slow = replace(side(84.2), device_us=84.2, span_us=90.5, host_us=210.0, kernels=tuple(parts))
    fast = replace(side(21.05), device_us=21.05, span_us=21.05, host_us=120.0, kernels=(softmax,))
    sound = Accounting(
        verdict="exact", source="op_summary", rows=480, calls=96, borders="markers", expected=96,
        figures={"clock": {"source": "npu-smi", "mhz": 1800.0, "rated_mhz": 1800.0}, "is_shared": False},
    )  # fmt: skip
    lossy = replace(sound, verdict="lost_rows", rows=95, calls=95, borders="gaps")
    silent = replace(sound, verdict="no_kernels", rows=0, calls=0)
    why = Failure(
        stage="accounting", kind="no_kernels", log="sessions/1/stdout.log",
        message="no_kernels: the device ran nothing of it between the borders of its calls",
        hint="does it run on the device?",
    )  # fmt: skip
    failed = row(
        2, "failed", ref_us=84.2, reference=slow, failure=why, asc_error=why.message,
        candidate=SideResult(warmup_calls=10, failure=why), accounting={"reference": sound, "candidate": silent},
    )  # fmt: skip
    return result(
        replace(FASTER, reference=slow, candidate=fast, accounting={"reference": sound, "candidate": sound}),
        replace(
            SLOWER, accounting={"reference": sound, "candidate": lossy},
            remarks=(Remark(code="lost_rows", figures={"side": "candidate", "calls": 95, "total": 96}),),
        ),
        failed,
        timing_method="msprof.op_summary.task_duration",
    )  # fmt: skip


EVIL = "a|b\n<script>alert(1)</script>\x1b[31mred\x9b2J\u202e`x`**b**[l](javascript:0)"
LONG = "[64, 512] + " * 200
CHINESE = "算子性能测试"


def hostile() -> Result:
    failure = Failure(stage="check", kind=EVIL, message=EVIL, log=EVIL, hint=EVIL)
    return result(
        measured(0, 84.2, 21.05, pair(3.987, 3.912, 4.061, "faster"), shape=EVIL, dtype=EVIL, name=EVIL),
        measured(
            1,
            60.0,
            30.0,
            pair(2.004, 1.951, 2.049, "faster"),
            shape=LONG,
            dtype=CHINESE,
            name=LONG,
            remarks=(Remark(code=EVIL, figures={EVIL: EVIL}, next=EVIL),),
        ),
        row(2, "failed", shape=CHINESE * 20, failure=failure, asc_error=EVIL, ref_error=LONG),
        task=EVIL,
        task_dir="/ops/" + EVIL,
        environment={EVIL: EVIL, "device": {"kind": EVIL, "name": CHINESE}},
        timing_method=EVIL,
        request={"overrides": [EVIL, "it's"]},
        run_id=EVIL,
        exit_code=1,
    )


def against() -> Result:
    """Four cases with an older build: it is slower, as fast, wrong, and dead."""
    wrong = Correctness(state="incorrect", rule="mere_mare", figures={"mere": 0.5, "wrong": 9})
    dead = Failure(stage="timing", kind="signal", message="died of SIGSEGV", log="sessions/0/stderr.log")
    third = measured(2, 30.0, 20.0, pair(1.5, 1.45, 1.55, "faster"), remarks=(OLD_VISITS,))
    rows = (
        _with_old(FASTER, 31.5, CORRECT, pair(1.496, 1.471, 1.523, "faster")),
        _with_old(SLOWER, 50.25, CORRECT, pair(1.002, 0.991, 1.012, "same", 40)),
        msgspec.structs.replace(third, against_correctness=wrong, against=SideResult()),
        msgspec.structs.replace(
            measured(3, 12.0, 10.0, pair(1.2, 1.15, 1.25, "faster")),
            against_correctness=CORRECT, against=SideResult(failure=dead),
        ),
        msgspec.structs.replace(SKIPPED, case=4),
    )  # fmt: skip
    told = Against(
        folder="/ops/toy_norm_v1", cases=2, geomean_speedup=geomean([1.496, 1.002]), geomean_low=1.002,
        geomean_high=1.496, geomean_noise_low=1.21, geomean_noise_high=1.24, faster=1, slower=0, same=1, unresolved=0,
        faster_family=1, slower_family=0, correct=3, incorrect=1, failed=1,
    )  # fmt: skip
    return result(*rows, against=told, exit_code=1)


OLD_VISITS = Remark(code="visits_differ", figures={"side": "against", "least": 0.96, "most": 1.04, "visits": 6})


def _with_old(row: CaseRow, us: float, state: Correctness, old_pair: Paired) -> CaseRow:
    return msgspec.structs.replace(
        row, against_us=us, against_correctness=state, paired_against=old_pair, against=side(us)
    )


RESULTS = {
    "mixed": mixed,
    "all_good": all_good,
    "all_failed": all_failed,
    "check_mode": check_mode,
    "one_sided": one_sided,
    "not_checked": not_checked,
    "partial": partial,
    "hostile": hostile,
    "rates": rates,
    "against": against,
    "npu": npu,
}


def samples() -> tuple[Sample, ...]:
    return (
        Sample(case=0, side="reference", phase="warmup", visit=0, group=None, calls=10, elapsed_ns=842_000),
        Sample(case=0, side="candidate", phase="timed", visit=0, group=0, calls=2, elapsed_ns=42_101),
    )
