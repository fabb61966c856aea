"""What is aimed at, as a table, and in which words a figure is said to hold it or not."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from benchmarks.on_npu import QUICK_ALLOWANCE, TWENTY_ALLOWANCE
from benchmarks.pairs import Figure


class Target(Struct, frozen=True, kw_only=True):
    """`mine` against `theirs`, names of contenders; a difference and its limit are in seconds, a count stands alone."""

    row: int
    what: str
    mine: str
    theirs: str | None = None
    measure: Literal["ratio", "difference", "count"] = "ratio"
    bound: Literal["at most", "at least"] = "at most"
    limit: float


TARGETS = (
    Target(row=1, what="20 cases, no check, json", mine="msprun plain", theirs="bare torch", limit=1.5),
    Target(row=1, what="20 cases, default check and reports", mine="msprun default", theirs="bare torch", limit=3.0),
    Target(
        row=1,
        what="a process per case and side",
        mine="40 processes",
        theirs="msprun plain",
        bound="at least",
        limit=20,
    ),
    Target(row=2, what="emulated npu: sessions of 20 cases", mine="npu sessions", measure="count", limit=2),
    Target(row=2, what="emulated npu: check workers", mine="npu check workers", measure="count", limit=1),
    Target(row=2, what="emulated npu: sessions of compare", mine="npu compare sessions", measure="count", limit=20),
    Target(row=3, what="emulated npu: check of a case", mine="npu check", theirs="npu start", limit=1.2),
    Target(row=3, what="emulated npu: quick of a case", mine="npu quick", theirs=QUICK_ALLOWANCE, limit=1),
    Target(row=3, what="emulated npu: quick of 20 cases", mine="npu 20 cases", theirs=TWENTY_ALLOWANCE, limit=1),
    Target(row=4, what="op_summary of 1,000,000 rows", mine="msprun reader", theirs="bare pyarrow", limit=2),
    Target(row=4, what="csv.DictReader", mine="DictReader", theirs="msprun reader", bound="at least", limit=10),
    Target(row=5, what="--help", mine="--help", theirs="bare python", measure="difference", limit=0.060),
    Target(row=5, what="--version", mine="--version", theirs="bare python", measure="difference", limit=0.060),
    Target(row=5, what="completion", mine="completion", theirs="bare python", measure="difference", limit=0.060),
    Target(
        row=6,
        what="start to first session",
        mine="first session",
        theirs="trivial app",
        measure="difference",
        limit=0.3,
    ),
)


def keeps(value: float, target: Target) -> bool:
    """Within the target's limit."""
    return value <= target.limit if target.bound == "at most" else value >= target.limit


def miss_percent(value: float, target: Target) -> int:
    """By how much of the limit a value misses it, rounded away from zero so that a miss is never 0 %."""
    share = abs(value / target.limit - 1) * 100
    return max(1, round(share))


def verdict(figure: Figure, target: Target) -> str:
    """`holds`, `misses by 12 %`; where not every round agrees, in how many it holds."""
    kept = sum(keeps(value, target) for value in figure.rounds)
    held = keeps(figure.value, target)
    words = "holds" if held else f"misses by {miss_percent(figure.value, target)} %"
    return words if kept == (len(figure.rounds) if held else 0) else f"{words} ({kept} of {len(figure.rounds)} rounds)"
