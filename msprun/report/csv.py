"""Every timed block as one row: `samples.csv`."""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Sequence

from msprun.model.measurement import Sample
from msprun.model.result import Result
from msprun.render import plain

HEADER = ("case", "name", "side", "phase", "visit", "group", "calls", "elapsed_ns", "call_us")


def write(result: Result, samples: Sequence[Sample], lang: str) -> bytes:
    """The page: `call_us` is `elapsed_ns / calls / 1000`; `group` is empty in warm-up.

    With `zh` a byte order mark begins it: without one Chinese spreadsheet programs read UTF-8 as GBK.
    """
    names = {row.case: cell_text(row.name) for row in result.per_case}
    page = io.StringIO()
    writer = csv.writer(page, lineterminator="\n", strict=True)
    writer.writerow(HEADER)
    writer.writerows(
        (s.case, names.get(s.case, ""), s.side, s.phase, s.visit, s.group, s.calls, s.elapsed_ns, s.call_us)
        for s in samples
    )
    return (codecs.BOM_UTF8 if lang == "zh" else b"") + page.getvalue().encode(errors="backslashreplace")


def cell_text(name: str) -> str:
    """Spreadsheets run a cell that begins like a formula; an apostrophe makes it text."""
    text = plain(name)
    return f"'{text}" if text.lstrip().startswith(("=", "+", "-", "@", "＝", "＋", "－", "＠")) else text
