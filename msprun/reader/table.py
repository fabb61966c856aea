"""One CSV file as columns: straight through pyarrow where it is sound, through the sieve where it is not."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
from msgspec import Struct
from msgspec.structs import replace

from msprun.reader import arrays
from msprun.reader.columns import Column, Header, Layout, Role, match
from msprun.reader.mend import split
from msprun.reader.reading import Complaints
from msprun.reader.sieve import Sieve
from msprun.reader.text import LINE_BYTES, ends_with_a_line, header_line, last_line

Raw = dict[str, pa.ChunkedArray]
_FAST: dict[str, pa.DataType] = {"time": arrays.MICROSECONDS, "whole": pa.int64(), "text": arrays.SHARED_TEXT}
_CAREFUL: dict[str, pa.DataType] = {"time": pa.string(), "whole": pa.string(), "text": arrays.SHARED_TEXT}


class Columns(Struct, frozen=True, kw_only=True):
    """Arrays of one length: those of the layout that the file has, by role (`times` in ns, `has` where there is one).

    `others` are the file's other columns. `lines` are where the rows stand in the file.
    """

    times: dict[str, arrays.Whole]
    has: dict[str, arrays.Mask]
    wholes: dict[str, arrays.Numbers]
    texts: dict[str, arrays.Texts]
    others: dict[str, Any]
    lines: arrays.Whole


def load(path: Path, layout: Layout, extras: bool, complaints: Complaints) -> Columns | None:
    """The sound rows of a file; None, with a complaint, where it cannot be read or is another table.

    Without `extras` the columns that this wing does not know (the counters) are left out.
    """
    try:
        names = header_line(path, complaints)
        header = None if names is None else match(names, layout, complaints)
        if names is None or header is None:
            return None
        header = header if extras else _without_extras(header)
        raw, lines = _fast(path, header) or _careful(path, layout, header, complaints)
    except OSError as error:
        complaints.add("unreadable", None, f"it cannot be read: {error.strerror or error}")
        return None
    return _sound(_columns(raw, layout, header, lines, complaints), layout, complaints)


def is_sound(path: Path, layout: Layout) -> bool:
    """Whether the header is the table's and the file ends with a whole row."""
    try:
        names = header_line(path, unheard := Complaints(path))
        header = None if names is None else match(names, layout, unheard)
        end = last_line(path)
    except OSError:
        return False
    cells = None if end is None else split(end)
    return header is not None and cells is not None and header.cells <= len(cells)


def _without_extras(header: Header) -> Header:
    return replace(header, columns=tuple(column for column in header.columns if column.is_known))


def _fast(path: Path, header: Header) -> tuple[Raw, arrays.Whole] | None:
    """The file as pyarrow reads it; None where a row is not as wide as the header, or a cell not what it should be."""
    if not ends_with_a_line(path):  # torn perhaps; besides, pyarrow then takes an empty last cell for a quoted one
        return None
    options = pc.ReadOptions(column_names=_labels(header.cells + header.blanks), skip_rows=1)
    try:
        raw = _read(path, header, _FAST, options)
    except pa.ArrowException:
        return None
    if any(arrays.breaks_lines(column) for column in raw.values()):
        return None
    rows = len(next(iter(raw.values())))
    return raw, np.arange(2, rows + 2, dtype=np.int64)


def _careful(path: Path, layout: Layout, header: Header, complaints: Complaints) -> tuple[Raw, arrays.Whole]:
    """The file through the sieve; where cells are not what they should be, times and whole numbers as texts."""
    for types, is_strict in ((_FAST, False), (_CAREFUL, False), (_CAREFUL, True)):
        # The sieve lets no line through that is longer than half of this.
        options = pc.ReadOptions(column_names=_labels(header.cells), block_size=2 * LINE_BYTES)
        with Sieve(path, layout, header, is_strict) as sieve:
            try:
                raw = _read(sieve, header, types, options)
            except pa.ArrowException as error:
                why = error if sieve.lines else None
            else:
                complaints.absorb(sieve.complaints)
                return raw, np.array(sieve.lines, dtype=np.int64)
    complaints.absorb(sieve.complaints)
    if why is not None:
        complaints.add("unreadable", None, f"pyarrow cannot read it: {why}")
    kinds = {_label(column.index): _CAREFUL.get(column.cell or "", pa.null()) for column in header.columns}
    return {label: pa.chunked_array([], kind) for label, kind in kinds.items()}, np.zeros(0, dtype=np.int64)


def _read(source: Any, header: Header, types: dict[str, pa.DataType], options: pc.ReadOptions) -> Raw:
    table = pc.read_csv(
        source,
        read_options=options,
        # A blank line is a row of nothing, so that rows go on being lines.
        parse_options=pc.ParseOptions(ignore_empty_lines=False),
        convert_options=pc.ConvertOptions(
            include_columns=[_label(column.index) for column in header.columns],
            column_types={_label(c.index): types[c.cell] for c in header.columns if c.cell in types},
            null_values=["", *arrays.NOTHING],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            true_values=[],
            false_values=[],
        ),
    )
    return {name: column.unify_dictionaries() for name, column in zip(table.column_names, table.columns, strict=True)}


def _labels(count: int) -> list[str]:
    return [_label(index) for index in range(count)]


def _label(index: int) -> str:
    """Names of our own, since a file may use one twice."""
    return f"c{index}"


def _columns(raw: Raw, layout: Layout, header: Header, lines: arrays.Whole, complaints: Complaints) -> Columns:
    """Empties `raw`: each column goes when its array is made, so that the file is not held twice."""
    roles = {role.role: role for role in layout.roles}
    made = Columns(times={}, has={}, wholes={}, texts={}, others={}, lines=lines)
    for column in header.columns:
        cells = raw.pop(_label(column.index))
        role = roles.get(column.name)
        if role is None:
            made.others[column.name] = _other(cells, column, lines, complaints)
        elif role.cell == "text":
            made.texts[column.name] = arrays.texts(cells)
        elif role.cell == "whole":
            numbers = made.wholes[column.name] = arrays.wholes(cells)
            _say_odd(numbers.odd, column.name, lines, complaints)
        else:
            made.times[role.role], made.has[role.role] = _time(cells, role, lines, complaints)
    return made


def _other(cells: pa.ChunkedArray, column: Column, lines: arrays.Whole, complaints: Complaints) -> Any:
    if column.cell == "text":
        return arrays.texts(cells).array()
    values, odd = arrays.numbers(cells) if column.cell == "number" else arrays.plain(cells)
    _say_odd(odd, column.name, lines, complaints)
    return values


def _time(
    cells: pa.ChunkedArray, role: Role, lines: arrays.Whole, complaints: Complaints
) -> tuple[arrays.Whole, arrays.Mask]:
    """Times within bounds; others are none, and a complaint."""
    values, has, odd = arrays.nanoseconds(cells)
    absurd = has & ((values < 0) | (values > role.most_ns))
    if absurd.any():
        odd = (*odd, *((int(row), f"{values[row] / 1000:.3f}") for row in np.flatnonzero(absurd)))
        has = has & ~absurd
    _say_odd(odd, role.role, lines, complaints)
    return values, has


def _say_odd(odd: Iterable[tuple[int, str]], name: str, lines: arrays.Whole, complaints: Complaints) -> None:
    for row, text in odd:
        complaints.add("odd_value", int(lines[row]), f"{name} reads {text[:80]!r}, which is none")


def _sound(made: Columns, layout: Layout, complaints: Complaints) -> Columns:
    """The rows that have every needed time. Rows without anything, blank lines, go without a word."""
    needed = [role.role for role in layout.roles if role.is_needed and role.cell == "time"]
    keep = np.logical_and.reduce([made.has[role] for role in needed])
    if keep.all():
        return made
    blank = np.logical_and.reduce([*(~has for has in made.has.values()), *(~n.has for n in made.wholes.values())])
    blank &= np.logical_and.reduce([text.codes < 0 for text in made.texts.values()])
    for row in np.flatnonzero(~keep & ~blank):
        missing = " and ".join(role for role in needed if not made.has[role][row])
        complaints.add("dropped", int(made.lines[row]), f"a row without {missing}")
    return Columns(
        times={name: values[keep] for name, values in made.times.items()},
        has={name: has[keep] for name, has in made.has.items()},
        wholes={name: arrays.Numbers(n.values[keep], n.has[keep], ()) for name, n in made.wholes.items()},
        texts={name: arrays.Texts(text.distinct, text.codes[keep]) for name, text in made.texts.items()},
        others={name: values[keep] for name, values in made.others.items()},
        lines=made.lines[keep],
    )
