"""Rows of too many cells, and how names are told from what follows them."""

from __future__ import annotations

from pathlib import Path

import pytest

from msprun.reader import mend, op_summary
from msprun.reader.columns import Header, match
from msprun.reader.reading import Complaints

NAMES = ["Stream ID", "Op Name", "OP Type", "Task Type", "Task Start Time(us)", "Task Duration(us)", "Context ID"]


@pytest.fixture(scope="module")
def header() -> Header:
    found = match(NAMES, op_summary.LAYOUT, Complaints(Path("a.csv")))
    assert found is not None
    return found


def mended(line: str, header: Header) -> list[str] | None:
    cells = mend.split(line)
    assert cells is not None
    return mend.shorten(cells, op_summary.LAYOUT, header)


@pytest.mark.parametrize(
    ("names", "name", "op_type"),
    [
        ("f<1, 2>(a),F", '"f<1, 2>(a)"', "F"),
        ("f<1, 2>(a),f<1, 2>(a)", '"f<1, 2>(a)"', '"f<1, 2>(a)"'),
        ("f<1, 2>(a),g<3, 4>", '"f<1, 2>(a)"', '"g<3, 4>"'),
        ("F,g<3, 4>", "F", '"g<3, 4>"'),
        ("a, b,Odd", '"a, b"', "Odd"),
        ("a>b, c,Odd", '"a>b, c"', "Odd"),
        ("f(a)[x, y]{1, 2},F", '"f(a)[x, y]{1, 2}"', "F"),
    ],
)
def test_the_name_is_told_from_its_type(header: Header, names: str, name: str, op_type: str) -> None:
    row = mended(f"2,{names},AI_CORE,1.000\t,2.5,0", header)
    assert row == ["2", name, op_type, "AI_CORE", "1.000\t", "2.5", "0"]


def test_a_comma_at_the_end_does_not_push_the_times_aside(header: Header) -> None:
    row = mended("2,a,b,Odd,AI_CORE,1.000,2.5,0,", header)
    assert row == ["2", '"a,b"', "Odd", "AI_CORE", "1.000", "2.5", "0"]


@pytest.mark.parametrize(
    "line",
    [
        "2,a,b,Odd,AI_CORE,soon,2.5,0",
        "2,a,Odd,AI_CORE,1.000,2.5,0,9",  # too much on the right: nobody knows where
        "x,a,b,Odd,AI_CORE,1.000,2.5,0",
    ],
)
def test_a_row_that_makes_no_sense_is_not_guessed(header: Header, line: str) -> None:
    assert mended(line, header) is None


@pytest.mark.parametrize("line", ['a,"b', '"a"b,c', 'a,"b,c\n'])
def test_what_is_no_csv_has_no_cells(line: str) -> None:
    assert mend.split(line) is None


@pytest.mark.parametrize(
    ("line", "cells"),
    [
        ("", [""]),
        (",", ["", ""]),
        ('a,"",', ["a", '""', ""]),
        ('"""8,8""",x', ['"""8,8"""', "x"]),
        ('a"b,c"d', ['"a""b"', '"c""d"']),
    ],
)
def test_cells_keep_their_quotes(line: str, cells: list[str]) -> None:
    assert mend.split(line) == cells
