"""Samples, schedules and rows, made by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from msprun.model.measurement import Correctness, Sample
from msprun.model.operator import Side
from msprun.model.plan import Schedule
from msprun.model.result import CaseRow


def _sample(side: Side, us: float, group: int | None = None, **more: Any) -> Sample:
    calls = more.pop("calls", 1)
    fields = {"case": 0, "phase": "timed", "visit": 0} | more
    return Sample(side=side, group=group, calls=calls, elapsed_ns=round(us * 1000 * calls), **fields)


def _groups(reference: Sequence[float], candidate: Sequence[float], visit: int = 0) -> list[Sample]:
    """One group for each pair of times (us)."""
    made = []
    for group, (one, other) in enumerate(zip(reference, candidate, strict=True)):
        made += [_sample("reference", one, group, visit=visit), _sample("candidate", other, group, visit=visit)]
    return made


def _schedule(**more: Any) -> Schedule:
    fields: dict[str, Any] = {
        "warmup": None, "repeats": None, "budget_s": 2.0, "order": "interleaved", "cache": "warm", "seed": 0,
        "visits": 3,
        "quads_min": 8, "quads_max": 200, "precision": 0.02, "block_us": 50.0, "block_calls_max": 1000,
        "warmup_min": 10, "warmup_max": 200, "warmup_s": 1.0,
    }  # fmt: skip
    return Schedule(**(fields | more))


def _row(case: int = 0, **more: Any) -> CaseRow:
    fields: dict[str, Any] = {
        "case": case, "shape": "[8]", "dtype": "float32", "name": str(case), "status": "measured",
        "correctness": Correctness(state="correct"),
    }  # fmt: skip
    fields |= more
    if fields.get("ref_us") and fields.get("asc_us"):
        fields.setdefault("speedup", fields["ref_us"] / fields["asc_us"])
    return CaseRow(**fields)


@pytest.fixture
def sample() -> Callable[..., Sample]:
    return _sample


@pytest.fixture
def groups() -> Callable[..., list[Sample]]:
    return _groups


@pytest.fixture
def schedule() -> Callable[..., Schedule]:
    return _schedule


@pytest.fixture
def row() -> Callable[..., CaseRow]:
    return _row
