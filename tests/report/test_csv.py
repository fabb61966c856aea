"""Samples for spreadsheets."""

from __future__ import annotations

import csv
import io
from types import ModuleType

import pytest
from msgspec.structs import replace

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


def test_rates_of_each_block_follow_where_the_work_is_known(made: ModuleType) -> None:
    first, second = rows(write(made.rates(), made.samples(), "en"))
    # 842 us for 10 calls of 131072 bytes and 65536 operations, which take a chip 10.525 us.
    assert float(first["gb_s"]) == pytest.approx(131.072 / 84.2)
    assert float(first["tflop_s"]) == pytest.approx(0.065536 / 84.2)
    assert (first["floor_us"], float(first["floor_share"])) == ("10.525", pytest.approx(0.125))
    assert float(second["floor_share"]) == pytest.approx(10.525 / 21.0505)


def test_rates_that_are_not_known_are_empty(made: ModuleType) -> None:
    samples = [replace(sample, case=case) for sample in made.samples()[1:] for case in (1, 2)]
    compute, unknown = rows(write(made.rates(), [*samples, replace(samples[0], elapsed_ns=0)], "en"))[:2]
    assert (compute["gb_s"], float(compute["tflop_s"])) == ("", pytest.approx(1e3 / 21.0505))
    assert [unknown[name] for name in ("gb_s", "tflop_s", "floor_us", "floor_share")] == [""] * 4
    assert rows(write(made.rates(), [replace(samples[0], elapsed_ns=0)], "en"))[0]["tflop_s"] == ""
