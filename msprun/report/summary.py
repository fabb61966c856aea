"""One JSON object of at most 4096 bytes for programs: `print=json`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from msprun.model.measurement import Paired
from msprun.model.result import Against, CaseRow, Result
from msprun.render import macro, plain
from msprun.report.json import ascii_text
from msprun.report.overview import CaseFailure, Overview, has_speed, overview

LIMIT_BYTES = 4096
_TEXT_BYTES = (600, 300, 150, 75, 40, 20, 8)


def summary(result: Result, folder: Path | None) -> dict[str, Any]:
    """The object; its JSON (`ascii_text`) and a line feed take at most 4096 bytes, however long the texts are.

    `path` is whole or None, for a cut path leads nowhere.
    """
    view = overview(result)
    path = None if folder is None else str(folder)
    following = macro("words.j2", "next_step", view) or None
    drafts = (
        _draft(result, view, size) | {"next": cut(following, size), "path": where}
        for where in (path, None)
        for size in _TEXT_BYTES
    )
    return next(draft for draft in drafts if len(ascii_text(draft)) < LIMIT_BYTES)


def _draft(result: Result, view: Overview, size: int) -> dict[str, Any]:
    counts = result.counts
    return {
        "exit": result.exit_code,
        "verdict": view.word,
        "state": view.state,
        "complete": result.complete,
        "mode": cut(result.profiling_mode, size),
        "op": cut(result.task, size),
        "counts": {name: getattr(counts, name) for name in counts.__struct_fields__}
        | {"not_checked": view.not_checked},
        "geomean": _geomean(result),
        "against": _against(result.against, view) if result.against else None,
        "worst": [_case(row, size) for row in view.worst],
        "first_failure": _failure(view.failures[0], size) if view.failures else None,
    }


def _geomean(result: Result) -> dict[str, float | None] | None:
    if result.geomean_speedup is None or result.profiling_mode == "check":
        return None
    return {"speedup": result.geomean_speedup, "low": result.geomean_low, "high": result.geomean_high}


def _against(known: Against, view: Overview) -> dict[str, Any]:
    """The candidate against the older build, and the case that lost most."""
    told = {"speedup": known.geomean_speedup, "low": known.geomean_low, "high": known.geomean_high}
    pairs = [(old.pair.speedup, old.row.case, old.pair) for old in view.older if old.pair and old.pair.speedup]
    names = ("cases", "faster", "slower", "same", "unresolved", "correct", "incorrect", "failed")
    worst = min(pairs, key=lambda pair: pair[:2])[1:] if pairs else None
    return told | {name: getattr(known, name) for name in names} | {"worst": worst and _pair(*worst)}


def _pair(case: int, pair: Paired) -> dict[str, Any]:
    return {"case": case, "speedup": pair.speedup, "low": pair.low, "high": pair.high, "verdict": pair.verdict}


def _case(row: CaseRow, size: int) -> dict[str, Any]:
    found: dict[str, Any] = {
        "case": row.case, "name": cut(row.name, size), "shape": cut(row.shape, size), "dtype": cut(row.dtype, size),
        "status": row.status, "state": row.correctness.state,
    }  # fmt: skip
    if has_speed(row) and row.paired:
        found |= _pair(row.case, row.paired)
    return found


def _failure(found: CaseFailure, size: int) -> dict[str, Any]:
    failure = found.failure
    return {
        "case": found.row.case, "side": found.side, "stage": failure.stage, "kind": cut(failure.kind, size),
        "acl_code": failure.acl_code, "message": cut(failure.message, size), "log": cut(failure.log, size),
        "hint": cut(failure.hint, size),
    }  # fmt: skip


def cut(text: str | None, size: int) -> str | None:
    """Text of at most `size` bytes as JSON says it."""
    if text is None:
        return None
    shown = plain(text[: 4 * size])
    if len(ascii_text(shown)) <= size + 2 and len(text) <= 4 * size:
        return shown
    while len(ascii_text(shown)) > size - 1:
        shown = shown[: len(shown) - max(1, (len(ascii_text(shown)) - size) // 12)]
    return shown + "..."
