"""The first and the last line of a CSV file."""

from __future__ import annotations

import io
import re
from pathlib import Path

from msprun.reader import mend
from msprun.reader.reading import Complaints

# A line that is longer is no row; a header neither.
LINE_BYTES = 1 << 20
LINE_END = re.compile(rb"\r\n|\r|\n")
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_BOM = b"\xef\xbb\xbf"


def header_line(path: Path, complaints: Complaints) -> list[str] | None:
    """The cells of the first line; None, with a complaint, where there is none. Raises OSError."""
    with path.open("rb") as file:
        block = file.read(LINE_BYTES)
    if not block:
        complaints.add("unreadable", None, "the file is empty")
    elif block.startswith(_UTF16) or b"\0" in (first := LINE_END.split(block.removeprefix(_BOM), maxsplit=1)[0]):
        complaints.add("unreadable", 1, "this is no UTF-8 text")
    else:
        cells = mend.parse(first.decode(errors="replace")) if len(first) < LINE_BYTES - len(_BOM) else None
        if cells:
            return cells
        complaints.add("unreadable", 1, "its first line is no header")
    return None


def ends_with_a_line(path: Path) -> bool:
    """Whether the last byte ends a line. Raises OSError."""
    with path.open("rb") as file:
        file.seek(-1, io.SEEK_END)
        return file.read(1) in b"\r\n"


def last_line(path: Path) -> str | None:
    """The last line that is not blank; None where the first is the only one, or it is too long. Raises OSError."""
    with path.open("rb") as file:
        size = file.seek(0, io.SEEK_END)
        file.seek(max(0, size - LINE_BYTES))
        lines = [line for line in LINE_END.split(file.read()) if line.strip()]
    return lines[-1].decode(errors="replace") if len(lines) > 1 else None
