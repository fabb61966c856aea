"""What a reader hands over: a frame, where it came from, and what was wrong with the files."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Literal

import pandas as pd
from msgspec import Struct

# absent: there is no such table. unreadable: a file of the right name that is none. unknown_table: another header.
# missing_part: one of several files is not there. dropped: a row that could not be used. mended: one that could.
# odd_value: a cell that is no value and counts as none. left_out: files that were there and not read.
Fault = Literal[
    "absent", "unreadable", "unknown_table", "missing_part", "dropped", "mended", "odd_value", "left_out"
]  # fmt: skip
HARMLESS = frozenset(("mended", "odd_value", "left_out"))
# So many of a kind are told one by one; a file of a million bad rows is no reason for a million lines.
TOLD = 10


class Complaint(Struct, frozen=True, kw_only=True):
    """What is wrong with a file, in English; `line` counts from 1, the header, and is None for the file as a whole.

    `count` is how often: more than once in the last of many of a kind.
    """

    file: Path
    line: int | None
    code: Fault
    what: str
    count: int = 1

    @property
    def loses_rows(self) -> bool:
        """Whether kernels may be missing in the frame because of it."""
        return self.code not in HARMLESS

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line is not None else f"{self.file}"
        return f"{place}: {self.what}"


class Reading(Struct, frozen=True, kw_only=True):
    """`frame` is of the columns that msprun.model.frame names. `files` are those read, none where there is no table."""

    frame: pd.DataFrame
    complaints: tuple[Complaint, ...]
    files: tuple[Path, ...]

    @property
    def is_complete(self) -> bool:
        """Whether the table was there and nothing says that rows of it are missing."""
        return bool(self.files) and not any(complaint.loses_rows for complaint in self.complaints)

    @property
    def dropped_rows(self) -> int | None:
        """How many rows could not be used; None where nobody knows, since more than single rows is missing."""
        lost = [complaint for complaint in self.complaints if complaint.loses_rows]
        is_known = all(complaint.code == "dropped" for complaint in lost)
        return sum(complaint.count for complaint in lost) if is_known else None


class Complaints:
    """Gathers the complaints about one file; of each kind the first few, the others as a count."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._told: list[Complaint] = []
        self._counts: Counter[Fault] = Counter()
        self._last: dict[Fault, int | None] = {}

    def add(self, code: Fault, line: int | None, what: str) -> None:
        """One more."""
        self._counts[code] += 1
        self._last[code] = line
        if self._counts[code] <= TOLD:
            self._told.append(Complaint(file=self.file, line=line, code=code, what=what))

    def absorb(self, other: Complaints) -> None:
        """Those of another, about the same file, behind these."""
        for complaint in other.all():
            self._counts[complaint.code] += complaint.count
            self._last[complaint.code] = complaint.line
            if complaint.count == 1 and self._counts[complaint.code] <= TOLD:
                self._told.append(complaint)

    def all(self) -> tuple[Complaint, ...]:
        """Every kind, in the order in which they were found."""
        rest = [
            Complaint(
                file=self.file,
                line=self._last[code],
                code=code,
                what=f"and {count - TOLD} more like these",
                count=count - TOLD,
            )
            for code, count in self._counts.items()
            if count > TOLD
        ]
        return (*self._told, *rest)
