"""Columns of pyarrow as arrays of pandas and numpy: exact nanoseconds, whole numbers with gaps, shared texts."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

Whole = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
Mask = npt.NDArray[np.bool_]
NOTHING = ("N/A", "NA")
# Microseconds with three decimals: the digits without the point are nanoseconds.
MICROSECONDS = pa.decimal128(38, 3)
SHARED_TEXT = pa.dictionary(pa.int32(), pa.string())
# What pyarrow makes a number without a doubt.
_PLAIN_TIME = (r"^-?\d{1,16}(\.\d{1,3})?$", MICROSECONDS)
_PLAIN_WHOLE = (r"^-?\d{1,18}$", pa.int64())
_PLAIN_US = re.compile(r"(-?\d{1,15}|-?[0-8]\d{15})(?:\.(\d{0,3}))?", re.ASCII)
# What 64 bits hold for sure.
_SAFE = 9 * 10**18


class Numbers(NamedTuple):
    """Values, where there is one, and the rows whose cell is no number with its text."""

    values: Whole
    has: Mask
    odd: tuple[tuple[int, str], ...]


class Texts(NamedTuple):
    """The distinct texts of a column and which of them each row has; -1 for none."""

    distinct: tuple[str | None, ...]
    codes: Codes

    def array(self, change: Callable[[str | None], str | None] = lambda text: text) -> npt.NDArray[np.object_]:
        """The text of every row as an object, one object a distinct text."""
        pool = np.empty(len(self.distinct) + 1, dtype=object)
        pool[:] = [*map(change, self.distinct), change(None)]
        return pool[self.codes]


def nanoseconds(column: pa.ChunkedArray) -> Numbers:
    """Nanoseconds of decimals, or of texts, that say microseconds; exact, since nothing becomes a float."""
    return _of_decimals(column) if pa.types.is_decimal(column.type) else _of_texts(column, ns_of, _PLAIN_TIME)


def wholes(column: pa.ChunkedArray) -> Numbers:
    """Whole numbers of integers or of texts."""
    if not pa.types.is_integer(column.type):
        return _of_texts(column, whole_of, _PLAIN_WHOLE)
    return Numbers(_numpy(column.fill_null(0)).astype(np.int64, copy=False), _numpy(column.is_valid()), ())


def ns_of(text: str) -> int | None:
    """Nanoseconds of a text that says microseconds, the fourth decimal rounded; None where it is no time."""
    plain = _PLAIN_US.fullmatch(text)
    return int(plain[1] + (plain[2] or "").ljust(3, "0")) if plain else _thousands(text)


def whole_of(text: str) -> int | None:
    """A whole number, written with or without a point; None where it is none."""
    number = _decimal(text)
    return int(number) if number is not None and number == int(number) and abs(number) < _SAFE else None


def float_of(text: str | None) -> float:
    """A finite number; NaN where there is none."""
    try:
        number = float(text or "nan")
    except ValueError:
        return np.nan
    return number if np.isfinite(number) else np.nan


def texts(column: pa.ChunkedArray) -> Texts:
    """The texts without the blanks, and the quotes of torn_npu's shapes, around them; N/A and NA are none."""
    column = column.unify_dictionaries()
    if column.num_chunks == 0:
        return Texts((), np.zeros(0, dtype=np.int32))
    codes = _numpy(pa.chunked_array([chunk.indices for chunk in column.chunks]).fill_null(-1))
    return Texts(tuple(map(bare, column.chunk(0).dictionary.to_pylist())), codes)


def bare(text: str) -> str | None:
    """A text as it was before it was made a cell."""
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] == '"':
        text = text[1:-1]
    return None if text in NOTHING else text


def breaks_lines(column: pa.ChunkedArray) -> bool:
    """Whether a text, of dictionaries that are one, holds a line break, so that rows are not lines."""
    if pa.types.is_dictionary(column.type):
        return column.num_chunks > 0 and breaks_lines(pa.chunked_array([column.chunk(0).dictionary]))
    if not pa.types.is_string(column.type):
        return False
    return bool(pc.any(pc.match_substring_regex(column, "[\r\n]")).as_py())


def numbers(column: pa.ChunkedArray) -> tuple[Any, tuple[tuple[int, str], ...]]:
    """A column of numbers, whole ones where all are, and the rows whose cell is no number with its text."""
    if not pa.types.is_string(column.type):
        return plain(column)
    found = texts(column.dictionary_encode())
    pool = np.array([float_of(text) for text in (*found.distinct, None)])
    values = pool[found.codes]
    empty = np.array([not text for text in (*found.distinct, None)], dtype=bool)
    rows = np.flatnonzero(np.isnan(values) & ~empty[found.codes])
    return values, tuple((int(row), str(found.distinct[found.codes[row]])) for row in rows)


def plain(column: pa.ChunkedArray) -> tuple[Any, tuple[tuple[int, str], ...]]:
    """A column that nobody knows, as pyarrow took it: whole numbers, floats or texts; and infinite ones, as above."""
    kind = column.type
    if pa.types.is_integer(kind):
        if column.null_count == 0:
            return _numpy(column), ()
        found = wholes(column)
        return pd.arrays.IntegerArray(found.values, ~found.has), ()
    if pa.types.is_floating(kind):
        floats = _numpy(column)
        infinite = np.isinf(floats)
        if not infinite.any():
            return floats, ()
        return np.where(infinite, np.nan, floats), tuple((int(row), "inf") for row in np.flatnonzero(infinite))
    if pa.types.is_null(kind):
        return np.full(len(column), np.nan), ()
    column = column.cast(pa.string()).dictionary_encode()  # a cast, since pyarrow takes 2024-01-01 for a date
    return texts(column).array(lambda text: text or None), ()


def _of_decimals(column: pa.ChunkedArray) -> Numbers:
    """A decimal of 128 bits is two words, the low one first; a sound time needs the low one alone."""
    if column.num_chunks == 0:
        return Numbers(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=bool), ())
    words = np.concatenate([_words(chunk) for chunk in column.chunks])
    low, high = words[:, 0], words[:, 1]
    has = _numpy(column.is_valid())
    fits = high == (low >> 63)
    odd = tuple((int(row), f"{column[int(row)].as_py()}") for row in np.flatnonzero(has & ~fits))
    return Numbers(np.where(has & fits, low, 0), has & fits, odd)


def _words(chunk: pa.Array) -> Whole:
    return np.frombuffer(chunk.buffers()[1], dtype=np.int64).reshape(-1, 2)[chunk.offset : chunk.offset + len(chunk)]


def _of_texts(column: pa.ChunkedArray, read: Callable[[str], int | None], plain: tuple[str, pa.DataType]) -> Numbers:
    """Numbers of texts; those that look `plain` at once, as this type, the others one by one."""
    pattern, kind = plain
    column = pc.utf8_trim_whitespace(column)
    is_plain = pc.match_substring_regex(column, pattern)
    found = nanoseconds if pa.types.is_decimal(kind) else wholes
    numbers = found(pc.if_else(is_plain, column, pa.scalar(None, pa.string())).cast(kind))
    odd: list[tuple[int, str]] = []
    values, has = np.array(numbers.values), np.array(numbers.has)
    for row in np.flatnonzero(_numpy(pc.invert(is_plain).fill_null(False))):
        text = bare(column[int(row)].as_py())
        number = read(text) if text else None
        if number is not None:
            values[row], has[row] = number, True
        elif text:
            odd.append((int(row), text))
    return Numbers(values, has, (*numbers.odd, *odd))


def _thousands(text: str) -> int | None:
    number = _decimal(text)
    return round(number * 1000) if number is not None and abs(number) < _SAFE // 1000 else None


def _decimal(text: str) -> Decimal | None:
    """A number of at most 20 digits before the point; None for everything else."""
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return number if number.is_finite() and number.adjusted() < 20 else None


def _numpy(column: pa.ChunkedArray | pa.Array) -> Any:
    return column.to_numpy() if isinstance(column, pa.ChunkedArray) else column.to_numpy(zero_copy_only=False)
