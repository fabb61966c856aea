"""How much of a table is missing, as far as anybody knows."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from msprun.reader.reading import TOLD, Complaint, Complaints, Reading

FILE = Path("op_summary_1.csv")


def reading(*complaints: Complaint) -> Reading:
    return Reading(frame=pd.DataFrame(), complaints=complaints, files=(FILE,))


def test_rows_that_were_dropped_are_counted_also_those_that_are_not_told_one_by_one() -> None:
    heard = Complaints(FILE)
    for line in range(TOLD + 3):
        heard.add("dropped", line + 2, "no time")
    heard.add("mended", 99, "a name with commas")
    assert len(heard.all()) == TOLD + 2
    assert reading(*heard.all()).dropped_rows == TOLD + 3


def test_nobody_knows_how_many_rows_a_missing_part_held() -> None:
    part = Complaint(file=FILE, line=None, code="missing_part", what="slice 1 is not there")
    assert reading(part, Complaint(file=FILE, line=3, code="dropped", what="torn")).dropped_rows is None


def test_a_whole_table_lacks_none() -> None:
    assert reading().dropped_rows == 0
