"""Samples for spreadsheets."""

from __future__ import annotations

import csv
import io
from types import ModuleType

import pytest

from msprun.report.csv import write


def rows(page: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(page.decode())))


def test_every_sample_is_a_row(made: ModuleType) -> None:
    first, second = rows(write(made.mixed(), made.samples(), "en"))
    assert first == {
        "case": "0", "name": "case_0", "side": "reference", "phase": "warmup", "visit": "0", "group": "", "calls": "10",
        "elapsed_ns": "842000", "call_us": "84.2",
    }  # fmt: skip
    assert (second["group"], second["call_us"]) == ("0", "21.0505")


def test_header_stands_alone_without_samples(made: ModuleType) -> None:
    assert write(made.mixed(), (), "en") == b"case,name,side,phase,visit,group,calls,elapsed_ns,call_us\n"


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@SUM(A1)", " =1", "\t=1", "＝1"])
def test_name_does_not_become_a_formula(made: ModuleType, name: str) -> None:
    result = made.result(made.row(0, "pending", name=name))
    shown = rows(write(result, made.samples(), "en"))[0]["name"]
    assert shown.startswith(("'", "\\t")) and shown.endswith(name.strip()[-1])


@pytest.mark.parametrize("name", ['a,"b"', "comma, quote \" and ' mark", "算子"])
def test_marks_in_a_name_survive(made: ModuleType, name: str) -> None:
    result = made.result(made.row(0, "pending", name=name))
    assert rows(write(result, made.samples(), "en"))[0]["name"] == name


def test_chinese_page_begins_with_a_byte_order_mark_and_is_the_same_otherwise(made: ModuleType) -> None:
    chinese = write(made.mixed(), made.samples(), "zh")
    assert chinese == b"\xef\xbb\xbf" + write(made.mixed(), made.samples(), "en")
    assert [row["case"] for row in csv.DictReader(io.StringIO(chinese.decode("utf-8-sig")))] == ["0", "0"]
