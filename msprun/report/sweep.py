"""What a sweep shows: a line before each job, one table at the end, `sweep.csv`, one JSON object."""

from __future__ import annotations

import csv as csv_format
import io
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from msgspec.structs import replace

from msprun.model.sweep import Job, Sweep
from msprun.render import TAB, fit, macro, pad, width
from msprun.report.csv import cell_text
from msprun.report.json import ascii_text
from msprun.report.overview import Overview
from msprun.report.stream import Stream
from msprun.report.summary import LIMIT_BYTES, cut

_TEMPLATE = "sweep.j2"
SPEEDS = ("faster", "slower", "same", "unresolved")
_GAP = 2
_VALUE_COLUMNS = 40
_REASON_COLUMNS = (12, 60)
_LEAST_COLUMNS = 5
_SHOWN = 10
_ROWS = 60  # more than 4 KiB can hold
_SIZES = (300, 120, 60, 30, 12)
_FIGURES = ("status", "exit_code", "speedup", "low", "high", "verdict", "state", "total", "correct", "incorrect",
            "failed", "skipped", "elapsed_s", "folder", "reason", "next")  # fmt: skip


class Teller:
    """Speaks of a sweep on stdout; under print=json on stderr, with one JSON object on stdout at the end."""

    def __init__(self, lang: str, is_json: bool, stdout: TextIO, stderr: TextIO) -> None:
        self._lang = lang
        self._is_json = is_json
        self._out = Stream(stdout)
        self._say = Stream(stderr) if is_json else self._out

    def start(self, sweep: Sweep, folder: Path | None) -> None:
        """Name the sweep."""
        self._say.line(macro(_TEMPLATE, "start", sweep, folder and str(folder), lang=self._lang))

    def job(self, job: Job, total: int, kept: bool = False) -> None:
        """The line above a job's own output; `kept`: there is nothing to measure again."""
        self._say.line(macro(_TEMPLATE, "job", _nearby(job, str(Path.cwd())), total, kept, lang=self._lang))

    def finish(self, sweep: Sweep, folder: Path, columns: int) -> None:
        """The table over all jobs in at most `columns` columns, then what went wrong and what to type next."""
        lines = table(sweep, self._lang, columns)
        jobs = [_nearby(job, sweep.request.cwd) for job in sweep.jobs]
        ending = macro(_TEMPLATE, "ending", sweep, _told(jobs), str(folder), lang=self._lang)
        self._say.line("\n" + "\n".join(lines) + "\n\n" + ending.rstrip("\n"))
        if self._is_json:
            self._out.line(ascii_text(summary(sweep, folder, self._lang)))


def reason(view: Overview, lang: str) -> str | None:
    """Why a run did not end well, in one line; None where it did."""
    return macro(_TEMPLATE, "reason", view, lang=lang) or None


def table(sweep: Sweep, lang: str, columns: int) -> list[str]:
    """The rows of all jobs, no line wider than `columns`: long values and reasons are cut in the middle."""
    heads = macro(_TEMPLATE, "heads", sweep.request.keys, lang=lang).split(TAB)
    jobs = [_nearby(job, sweep.request.cwd) for job in sweep.jobs]
    rows = [macro(_TEMPLATE, "cells", job, sweep.request.keys, lang=lang).split(TAB) for job in jobs]
    if not any(row[-1] for row in rows):
        heads, rows = heads[:-1], [row[:-1] for row in rows]
    aligns = [">", *["<"] * len(sweep.request.keys), ">", "<", "<", "<"]
    widths = _widths([heads, *rows], len(sweep.request.keys), columns)
    shown = [[fit(cell, size) for cell, size in zip(row, widths, strict=False)] for row in (heads, *rows)]
    return [fit(_line(row, widths, [*aligns, "<"]), columns) for row in shown]


def csv(sweep: Sweep) -> bytes:
    """`sweep.csv`: one line a job, the swept keys behind its number; empty cells where there is no figure."""
    page = io.StringIO()
    writer = csv_format.writer(page, lineterminator="\n", strict=True)
    writer.writerow(["job", *map(cell_text, sweep.request.keys), *_FIGURES])
    for job in sweep.jobs:
        figures = _figures(job)
        swept = [cell_text(job.swept.get(key, "")) for key in sweep.request.keys]
        writer.writerow([job.number, *swept, *(_cell(figures.get(name)) for name in _FIGURES)])
    return page.getvalue().encode(errors="backslashreplace")


def summary(sweep: Sweep, folder: Path, lang: str) -> dict[str, Any]:
    """The JSON object of a sweep; with a line feed it takes at most 4096 bytes.

    `rows` has the jobs as long as there is room, those that went wrong and then the slowest first; `left_out` counts
    the others.
    """
    following = macro(_TEMPLATE, "next_step", sweep, str(folder), lang=lang) or None
    counts: dict[str, int] = Counter(job.status for job in sweep.jobs)
    head = {"exit": sweep.exit_code, "complete": sweep.complete, "sweep": sweep.sweep_id,
            "jobs": {"total": len(sweep.jobs), **counts}}  # fmt: skip
    failed = [job for job in sweep.jobs if job.reason]
    ordered = sorted(sweep.jobs, key=_rank)
    for size in _SIZES:
        ending = {"first_failure": _row(failed[0], size) if failed else None, "next": cut(following, size + 200),
                  "path": str(folder)}  # fmt: skip
        bare = {**head, "keys": [cut(key, size) for key in sweep.request.keys], "rows": [], "left_out": 0, **ending}
        room = LIMIT_BYTES - len(ascii_text(bare)) - 16
        rows = _fitting([_row(job, size) for job in ordered[:_ROWS]], room)
        if rows or size == _SIZES[-1]:
            break
    draft = {**bare, "rows": rows, "left_out": len(ordered) - len(rows)}
    return draft if room > 0 else {**draft, "keys": [], "first_failure": None, "next": None, "path": None}


def _fitting(rows: Sequence[dict[str, Any]], room: int) -> list[dict[str, Any]]:
    taken: list[dict[str, Any]] = []
    for row in rows:
        room -= len(ascii_text(row)) + 2
        if room < 0:
            break
        taken.append(row)
    return taken


def _rank(job: Job) -> tuple[bool, float, int]:
    return (job.exit_code == 0, job.geomean.speedup if job.geomean else 0.0, job.number)


def _row(job: Job, size: int) -> dict[str, Any]:
    found: dict[str, Any] = {
        "job": job.number, "swept": {cut(key, size): cut(value, size) for key, value in job.swept.items()},
        "status": job.status, "exit": job.exit_code, "verdict": job.verdict, "state": job.state,
    }  # fmt: skip
    if job.geomean:
        found |= {"speedup": job.geomean.speedup, "low": job.geomean.low, "high": job.geomean.high}
    if job.reason:
        found |= {"reason": cut(job.reason, size), "next": cut(job.next, size)}
    return found


def _figures(job: Job) -> dict[str, Any]:
    figures = {name: getattr(job, name) for name in job.__struct_fields__}
    for more in (job.geomean, job.counts):
        if more is not None:
            figures |= {name: getattr(more, name) for name in more.__struct_fields__}
    return figures


def _cell(value: object) -> object:
    return "" if value is None else cell_text(value) if isinstance(value, str) else value


def _told(jobs: Sequence[Job]) -> Mapping[str, Any]:
    """The jobs that the lines below the table speak of."""
    wrong = [job for job in jobs if job.status in ("failed", "refused", "interrupted")]
    left = [job.number for job in jobs if job.status in ("not_started", "skipped_fail_fast")]
    return {"wrong": wrong[:_SHOWN], "more": max(0, len(wrong) - _SHOWN), "left": left,
            "counts": Counter(job.status for job in jobs)}  # fmt: skip


def _nearby(job: Job, cwd: str) -> Job:
    """A job whose paths below the current directory are short."""
    near = {key: "." + value.removeprefix(cwd) for key, value in job.swept.items() if value.startswith(f"{cwd}/")}
    return replace(job, swept=job.swept | near)


def _widths(rows: Sequence[Sequence[str]], n_keys: int, columns: int) -> list[int]:
    """Columns as wide as their longest cell; where a line is too long the reason gives way, then swept values.

    A reason without room gets no column: the lines below the table say every reason.
    """
    widths = [max(map(width, cells)) for cells in zip(*rows, strict=True)]
    keys = range(1, 1 + n_keys)
    for index in keys:
        widths[index] = min(widths[index], _VALUE_COLUMNS)
    if len(widths) == n_keys + 6:
        room = columns - _total(widths[:-1]) - _GAP
        least = min(widths[-1], _REASON_COLUMNS[0])
        widths = [*widths[:-1], min(widths[-1], room, _REASON_COLUMNS[1])] if room >= least else widths[:-1]
    while _total(widths) > columns and any(widths[index] > _LEAST_COLUMNS for index in keys):
        widths[max(keys, key=widths.__getitem__)] -= 1
    return widths


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + _GAP * (len(widths) - 1)


def _line(cells: Sequence[str], widths: Sequence[int], aligns: Sequence[str]) -> str:
    return (" " * _GAP).join(pad(*cell) for cell in zip(cells, widths, aligns, strict=False)).rstrip()
