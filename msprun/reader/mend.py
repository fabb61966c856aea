"""Rows that do not have as many cells as the header: which can be put right, and how."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence

from msprun.reader.columns import Header, Layout

# Every quote begins or ends a cell, so that what lies between quotes can be told by counting them.
TIDY = re.compile(r'(?:"(?:[^"]|"")*"|[^",]*)(?:,(?:"(?:[^"]|"")*"|[^",]*))*')
_CELL = re.compile(r'(?:^|,)("(?:[^"]|"")*"|[^",]*)')
_NEEDS_QUOTES = re.compile(r'[",]')
_AROUND = ' \t"'
_NUMBER = re.compile(r"[+-]?\d+(\.\d*)?")
_OPENING, _CLOSING = "<([{", ">)]}"


def parse(line: str) -> list[str] | None:
    """The values of one line; None where it is no CSV (a quote that nobody closes, a cell beyond any size)."""
    try:
        rows = list(csv.reader([line], strict=True))
    except csv.Error:
        return None
    return rows[0] if len(rows) == 1 else None


def split(line: str) -> list[str] | None:
    """The cells of one line with their quotes, which tell an empty text from nothing; None as for `parse`."""
    if TIDY.fullmatch(line):
        return [found[1] for found in _CELL.finditer(line)]
    values = parse(line)
    return None if values is None else [_quoted(value) if _NEEDS_QUOTES.search(value) else value for value in values]


def _quoted(value: str) -> str:
    doubled = value.replace('"', '""')
    return f'"{doubled}"'


def shorten(cells: list[str], layout: Layout, header: Header) -> list[str] | None:
    """A row of too many cells with as many as it should have; None where that cannot be done soundly.

    msprof quotes nothing, so a demangled C++ name with commas pushes what follows to the right. Counted from the right,
    the cells behind it stand where they belong. A comma at the end of the line may have pushed it once more.
    """
    places = [place for role in layout.free if (place := header.index(role)) is not None]
    if not places or places != list(range(places[0], places[0] + len(places))):
        return None
    while len(cells) > header.cells:
        first, behind = places[0], len(cells) - (header.cells - places[-1] - 1)
        mended = [*cells[:first], *_names(cells[first:behind], len(places)), *cells[behind:]]
        if stands_right(mended, layout, header):
            return mended
        if cells[-1].strip(_AROUND):
            return None
        cells = cells[:-1]
    return None


def _names(pieces: Sequence[str], count: int) -> list[str]:
    """The texts that these pieces were before somebody split them at their commas: one, or a name and its type."""
    if count == 1:
        return [_joined(pieces)]
    half, odd = divmod(len(pieces), 2)
    if not odd and pieces[:half] == pieces[half:]:  # a custom launch: its symbol is the name and the type
        return [_joined(pieces[:half]), _joined(pieces[half:])]
    whole = _outside_brackets(pieces)
    if len(whole) == count:
        return whole
    return [_joined(pieces[:-1]), pieces[-1]]


def _joined(pieces: Sequence[str]) -> str:
    return pieces[0] if len(pieces) == 1 else _quoted(",".join(pieces))


def _outside_brackets(pieces: Sequence[str]) -> list[str]:
    """The pieces joined again where a bracket is open between them."""
    whole: list[list[str]] = []
    depth = 0
    for piece in pieces:
        if depth > 0:
            whole[-1].append(piece)
        else:
            whole.append([piece])
        depth += sum(piece.count(sign) for sign in _OPENING) - sum(piece.count(sign) for sign in _CLOSING)
    return [_joined(pieces) for pieces in whole]


def stands_right(cells: Sequence[str], layout: Layout, header: Header) -> bool:
    """Whether numbers stand where numbers belong, and none in the type of the task."""
    texts = {role.role for role in layout.roles if role.cell == "text" and role.role not in layout.free}
    for column in header.columns:
        cell = cells[column.index].strip(_AROUND)
        is_number = _NUMBER.fullmatch(cell) is not None
        if column.cell in ("time", "whole") and not is_number and cell not in ("", "N/A", "NA"):
            return False
        if column.name in texts and is_number:
            return False
    return True
