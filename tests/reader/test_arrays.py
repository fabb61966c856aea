"""Times are exact, and gaps are gaps."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from msprun.reader import arrays


def decimals(*values: str | None) -> pa.ChunkedArray:
    cells = [None if value is None else Decimal(value) for value in values]
    return pa.chunked_array([pa.array(cells, arrays.MICROSECONDS)])


@given(st.integers(-(2**63), 2**63 - 1))
def test_every_nanosecond_of_64_bits_survives(ns: int) -> None:
    us = str(Decimal(ns).scaleb(-3))
    assert arrays.nanoseconds(decimals(us, None)).values.tolist() == [ns, 0]


@given(st.integers(0, 4 * 10**18))
def test_text_and_decimal_agree(ns: int) -> None:
    text = f"{ns // 1000}.{ns % 1000:03d}"
    assert arrays.ns_of(text) == ns
    assert arrays.nanoseconds(pa.chunked_array([[text]])).values.tolist() == [ns]


@pytest.mark.parametrize(
    ("text", "ns"),
    [
        ("1780676244313289.001", 1780676244313289001),
        ("1780676244313289", 1780676244313289000),
        ("82.11", 82110),
        ("5.", 5000),
        ("6958.620000", 6958620),
        ("0.0004", 0),
        ("0.0016", 2),
        ("1e3", 1000000),
        ("-5.250", -5250),
        ("9999999999999999", None),
        ("1e400", None),
        ("nan", None),
        ("Infinity", None),
        ("12,5", None),
        ("", None),
        ("0x10", None),
    ],
)
def test_microseconds_in_all_spellings(text: str, ns: int | None) -> None:
    assert arrays.ns_of(text) == ns


def test_a_decimal_beyond_64_bits_is_odd() -> None:
    found = arrays.nanoseconds(decimals("1.000", "99999999999999999999.000", None))
    assert found.has.tolist() == [True, False, False]
    assert found.odd == ((1, "99999999999999999999.000"),)


def test_slices_of_arrow_arrays_keep_their_place() -> None:
    column = pa.chunked_array([decimals("1.000", "2.000", None, "4.000").chunk(0).slice(1), decimals("5").chunk(0)])
    assert arrays.nanoseconds(column).values.tolist() == [2000, 0, 4000, 5000]


def test_whole_numbers_of_texts() -> None:
    found = arrays.wholes(pa.chunked_array([["7", "8.0", "8.5", None, "N/A", "", "x", str(2**63)]]))
    assert found.values[:2].tolist() == [7, 8]
    assert found.has.tolist() == [True, True] + [False] * 6
    assert [row for row, _ in found.odd] == [2, 6, 7]


def test_texts_of_several_dictionaries_are_one() -> None:
    chunks = [pa.array(words).dictionary_encode() for words in (["b", "a", None], ["a", "c"])]
    assert arrays.texts(pa.chunked_array(chunks)).array().tolist() == ["b", "a", None, "a", "c"]


@pytest.mark.parametrize(
    ("text", "bare"),
    [(" add\t", "add"), ('"8,8;8,8"', "8,8;8,8"), ('""', ""), ('"', '"'), ("N/A", None), ("NA", None), ("", "")],
)
def test_texts_are_bared(text: str, bare: str | None) -> None:
    assert arrays.bare(text) == bare


def test_numbers_with_a_word_among_them_stay_numbers() -> None:
    values, odd = arrays.numbers(pa.chunked_array([["0.5", "x", None, "2"]]))
    assert values[[0, 3]].tolist() == [0.5, 2.0] and odd == ((1, "x"),)


def test_a_date_stays_the_text_that_it_was() -> None:
    dates = pa.array(["2024-01-02"]).cast(pa.date32())
    assert arrays.plain(pa.chunked_array([dates]))[0].tolist() == ["2024-01-02"]
