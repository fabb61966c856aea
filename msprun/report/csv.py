"""Every timed block as one row: `samples.csv`."""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Sequence

from msprun.model.measurement import Sample
from msprun.model.result import Result, WorkFigures
from msprun.render import plain

HEADER = ("case", "name", "side", "phase", "visit", "group", "calls", "elapsed_ns", "call_us")
RATES = ("gb_s", "tflop_s", "floor_us", "floor_share")


def write(result: Result, samples: Sequence[Sample], lang: str) -> bytes:
    """The page: `call_us` is `elapsed_ns / calls / 1000`; `group` is empty in warm-up.

    Where bytes or operations of some case are known, columns follow: `gb_s` and `tflop_s` (1e9 bytes, 1e12 operations a
    second), `floor_us`, and `floor_share`, which is `floor_us / call_us`; empty where one is not known.
    With `zh` a byte order mark begins it: without one Chinese spreadsheet programs read UTF-8 as GBK.
    """
    names = {row.case: cell_text(row.name) for row in result.per_case}
    works = {row.case: row.work for row in result.per_case if row.work}
    page = io.StringIO()
    writer = csv.writer(page, lineterminator="\n", strict=True)
    writer.writerow(HEADER + RATES if works else HEADER)
    for s in samples:
        cells = (s.case, names.get(s.case, ""), s.side, s.phase, s.visit, s.group, s.calls, s.elapsed_ns, s.call_us)
        writer.writerow(cells + _rates(works.get(s.case), s.call_us) if works else cells)
    return (codecs.BOM_UTF8 if lang == "zh" else b"") + page.getvalue().encode(errors="backslashreplace")


def _rates(work: WorkFigures | None, call_us: float) -> tuple[float | None, ...]:
    """The columns of RATES for one call."""
    if work is None or call_us <= 0:
        return (None,) * len(RATES)
    gb_s = None if work.bytes is None else work.bytes / call_us / 1e3
    tflop_s = None if work.flops is None else work.flops / call_us / 1e6
    return gb_s, tflop_s, work.floor_us, None if work.floor_us is None else work.floor_us / call_us


def cell_text(name: str) -> str:
    """Spreadsheets run a cell that begins like a formula; an apostrophe makes it text."""
    text = plain(name)
    return f"'{text}" if text.lstrip().startswith(("=", "+", "-", "@", "＝", "＋", "－", "＠")) else text
