"""Finding columns under every name that they have had."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec import Struct

from msprun.reader.reading import Complaints

Cell = Literal["time", "whole", "text", "number"]
# In the year 2096. A longer time since the boot or since 1970 is none.
LATEST_NS = 4 * 10**18
# A collection lasts minutes.
LONGEST_NS = 24 * 3600 * 10**9
# Columns that are kept under their own name, by how they are spelled today.
OTHER_TEXTS = (
    "Model Name", "OP State", "HF32 Eligible", "Input Shapes", "Input Data Types", "Input Formats", "Output Shapes",
    "Output Data Types", "Output Formats",
)  # fmt: skip
OTHER_NUMBERS = ("Step Id", "Model ID", "Infer ID", "Context ID", "Task Wait Time(us)")
SAME = {"waittime": "taskwaittime"}
# How the counters of every chip and group are called.
_COUNTER = re.compile(r"\((us|GB/s|%|KB)\)$|_(ratio|rate|cycles|fops|hit|miss|allocate|victim|bound)$")
_UNIT = re.compile(r"\(us\)$")
_LOOSE = re.compile(r"[\s_]+")


class Role(Struct, frozen=True, kw_only=True):
    """A column that readers know: `names` are its spellings as `key` makes them, the better one first.

    A table without a needed column is another table; a row without a needed time is dropped. A time above `most_ns` is
    none.
    """

    role: str
    cell: Cell
    names: tuple[str, ...]
    is_needed: bool = False
    most_ns: int = LATEST_NS


class Layout(Struct, frozen=True, kw_only=True):
    """A table. `free` are the roles, side by side, whose text may hold commas that nobody quoted."""

    table: str
    roles: tuple[Role, ...]
    free: tuple[str, ...]


class Column(Struct, frozen=True, kw_only=True):
    """A column of a file: where it stands, what it is called in the frame, and of which kind its cells are.

    `cell` is None where nothing is known about them; `is_known` is whether it is more than a counter.
    """

    index: int
    name: str
    cell: Cell | None
    is_known: bool


class Header(Struct, frozen=True, kw_only=True):
    """The columns of a file that are to be read, how many cells its rows have, and how many nameless ones follow."""

    columns: tuple[Column, ...]
    cells: int
    blanks: int = 0

    def index(self, name: str) -> int | None:
        """Where the column of this name in the frame stands."""
        return next((column.index for column in self.columns if column.name == name), None)


def key(name: str) -> str:
    """A header without case, blanks, underscores and the unit: `Task Start Time(us)` is taskstarttime."""
    return _LOOSE.sub("", _UNIT.sub("", name.strip().casefold()))


_SPELLED_TODAY = {key(name): name for name in (*OTHER_TEXTS, *OTHER_NUMBERS)}


def match(names: Sequence[str], layout: Layout, complaints: Complaints) -> Header | None:
    """The columns of a header line; None, with a complaint that names what is missing, where it is another table.

    An unnamed last column, which a comma at the end of each line makes (msopprof's habit), is none.
    """
    blanks = next((count for count, name in enumerate(reversed(names)) if name.strip()), len(names))
    names = names[: len(names) - blanks]
    known = _known(names, layout)
    missing = [role.role for role in layout.roles if role.is_needed and role.role not in known.values()]
    if missing:
        wanted = ", ".join(missing)
        complaints.add("unknown_table", 1, f"this is no {layout.table} table: it has no column for {wanted}")
        return None
    return Header(columns=tuple(_columns(names, known, layout, complaints)), cells=len(names), blanks=blanks)


def _known(names: Sequence[str], layout: Layout) -> dict[int, str]:
    """The role of each column that has one. The first of several columns wins, and a better name before it."""
    keys = [key(name) for name in names]
    found: dict[int, str] = {}
    for role in layout.roles:
        spelled = next((name for name in role.names if name in keys), None)
        if spelled is not None:
            found[keys.index(spelled)] = role.role
    return found


def _columns(names: Sequence[str], known: Mapping[int, str], layout: Layout, complaints: Complaints) -> list[Column]:
    cells: dict[str, Cell] = {role.role: role.cell for role in layout.roles}
    made: list[Column] = []
    for index, name in enumerate(names):
        if index in known:
            made.append(Column(index=index, name=known[index], cell=cells[known[index]], is_known=True))
        elif key(name) in [key(earlier) for earlier in names[:index]]:
            complaints.add("odd_value", 1, f"two columns are called {name.strip()!r}; the first one was read")
        else:
            made.append(_other(index, name, {*cells, "kind", "file", "line"}))
    return made


def _other(index: int, name: str, taken: set[str]) -> Column:
    """A column without a role: in today's spelling, and told apart from ours where it is called like one."""
    plain = key(name)
    today = _SPELLED_TODAY.get(SAME.get(plain, plain))
    own = today or name.strip() or f"column {index + 1}"
    cell: Cell | None = "text" if today in OTHER_TEXTS else None
    if today in OTHER_NUMBERS or _COUNTER.search(own):
        cell = "number"
    own = f"{own} (as written)" if own in taken else own
    return Column(index=index, name=own, cell=cell, is_known=today is not None)
