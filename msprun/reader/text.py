"""The text of a CSV file: its header line, and a sieve that lets through only rows of as many cells as the header."""

from __future__ import annotations

import io
import re
from array import array
from collections.abc import Iterator
from pathlib import Path

from msprun.reader import mend
from msprun.reader.columns import Header, Layout
from msprun.reader.reading import Complaints

BLOCK_BYTES = 1 << 20
# A line that is longer is no row; a header neither.
LINE_BYTES = 1 << 20
# So many lines may have been one row that a line break tore.
TORN_LINES = 4
_END = re.compile(rb"\r\n|\r|\n")
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_BOM = b"\xef\xbb\xbf"
_TIDY = re.compile(mend.TIDY.pattern.encode())


def header_line(path: Path, complaints: Complaints) -> list[str] | None:
    """The cells of the first line; None, with a complaint, where there is none. Raises OSError."""
    with path.open("rb") as file:
        block = file.read(LINE_BYTES)
    if not block:
        complaints.add("unreadable", None, "the file is empty")
    elif block.startswith(_UTF16) or b"\0" in (first := _END.split(block.removeprefix(_BOM), maxsplit=1)[0]):
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
        lines = [line for line in _END.split(file.read()) if line.strip()]
    return lines[-1].decode(errors="replace") if len(lines) > 1 else None


class Sieve(io.RawIOBase):
    """Reads a file as rows that all have as many cells as the header, which is left out. `lines` says where each stood.

    Rows that can be put right are, others are dropped; both are complaints. Blank lines vanish. What is not UTF-8
    becomes a replacement character. Memory is bounded by a block and a line, whatever the file is.
    """

    def __init__(self, path: Path, layout: Layout, header: Header, complaints: Complaints) -> None:
        super().__init__()
        self.lines = array("q")
        self._layout, self._header, self._complaints = layout, header, complaints
        self._file = path.open("rb")
        self._rows = self._sifted()
        self._ahead = b""
        # The line that the file ends in, where it does not end one.
        self._cut: int | None = None

    def readable(self) -> bool:
        """It is."""
        return True

    def close(self) -> None:
        """Close the file too."""
        self._file.close()
        super().close()

    def read(self, size: int = -1) -> bytes:
        """The next bytes of sound rows, at least one unless the file has ended."""
        pieces = [self._ahead]
        held = len(self._ahead)
        while size < 0 or held < size:
            row = next(self._rows, None)
            if row is None:
                break
            pieces.append(row)
            held += len(row)
        text = b"".join(pieces)
        size = held if size < 0 else size
        self._ahead = text[size:]
        return text[:size]

    def _sifted(self) -> Iterator[bytes]:
        lines = self._physical()
        next(lines, None)  # the header
        torn: list[tuple[int, bytes]] = []
        for number, line in lines:
            if line is None:
                self._complaints.add("dropped", number, f"a line of more than {LINE_BYTES} bytes")
                continue
            if torn and (row := self._rejoined(torn, line)) is not None:
                yield self._kept(torn[0][0], row)
                torn.clear()
                continue
            count, cells, blanks = self._count(line), self._header.cells, self._header.blanks
            if count == cells or (count == cells + blanks and line.endswith(b"," * blanks)):
                self._give_up(torn)
                yield self._kept(number, line if count == cells else line[:-blanks])
            elif (mended := self._mended(number, line)) is not None:
                self._give_up(torn)
                yield self._kept(number, mended)
            elif line.strip(b" \t\0"):
                torn.append((number, line))
                self._give_up(torn, TORN_LINES - 1)
            elif line.strip(b" \t"):
                self._complaints.add("dropped", number, "a line of NUL bytes")
        self._give_up(torn)

    def _kept(self, number: int, row: bytes) -> bytes:
        self.lines.append(number)
        return (row if number != self._cut else self._without_end(number, row)) + b"\n"

    def _without_end(self, number: int, row: bytes) -> bytes:
        """The row that the file ends in without its last cell, where that matters: half of it may be missing."""
        last = self._header.cells - 1
        name = next((column.name for column in self._header.columns if column.index == last), None)
        cells = mend.split(row.decode(errors="replace"))
        if self._header.blanks or cells is None or all(role.role != name for role in self._layout.roles):
            return row
        self._complaints.add("odd_value", number, f"the file ends in {name}, so that it may be cut off")
        return ",".join([*cells[:-1], ""]).encode()

    def _give_up(self, torn: list[tuple[int, bytes]], leave: int = 0) -> None:
        """Say of the oldest torn lines that they are dropped, until only so many are left."""
        while len(torn) > leave:
            number, line = torn.pop(0)
            cells = mend.split(line.decode(errors="replace"))
            found = "an open quote" if cells is None else f"{len(cells)} cells"
            self._complaints.add("dropped", number, f"a row with {found} where the header has {self._header.cells}")

    def _rejoined(self, torn: list[tuple[int, bytes]], line: bytes) -> bytes | None:
        """The row that the torn lines and this one were, if they were one: together they have all cells."""
        if self._count(line) == self._header.cells:
            return None
        for start in range(len(torn)):
            whole = b" ".join([*(text for _, text in torn[start:]), line])
            cells = mend.split(whole.decode(errors="replace")) or []
            if len(cells) == self._header.cells and mend.stands_right(cells, self._layout, self._header):
                del torn[:start]
                told = f"a line break inside the row; put together again from {len(torn) + 1} lines"
                self._complaints.add("mended", torn[0][0], told)
                return ",".join(cells).encode()
        return None

    def _count(self, line: bytes) -> int | None:
        """How many cells a line has; None where only taking it apart could tell."""
        if b'"' not in line:
            return line.count(b",") + 1
        if _TIDY.fullmatch(line) is None:
            return None
        return sum(outside.count(b",") for outside in line.split(b'"')[::2]) + 1

    def _mended(self, number: int, line: bytes) -> bytes | None:
        """A row that was put right, and the complaint about it; None where it cannot be."""
        cells = mend.split(line.decode(errors="replace"))
        if cells is None:
            return None
        wanted = self._header.cells
        is_blank = not any(cells[wanted:])
        if len(cells) >= wanted and is_blank and mend.stands_right(cells, self._layout, self._header):
            return ",".join(cells[:wanted]).encode()
        mended = mend.shorten(cells, self._layout, self._header)
        if mended is None:
            return None
        told = f"{len(cells)} cells where the header has {wanted}: commas in a name, put together again"
        self._complaints.add("mended", number, told)
        return ",".join(mended).encode()

    def _physical(self) -> Iterator[tuple[int, bytes | None]]:
        """Every line with its number, without its end; None for one that is too long."""
        number, rest, is_over = 0, b"", False
        while block := self._file.read(BLOCK_BYTES):
            pieces = (rest + block).splitlines(keepends=True)
            rest = b"" if pieces[-1].endswith(b"\n") else pieces.pop()
            for piece in pieces:
                number += 1
                yield number, None if is_over or len(piece) > LINE_BYTES else self._decoded(number, piece)
                is_over = False
            if len(rest) > LINE_BYTES:
                rest, is_over = b"", True
        if rest or is_over:
            self._cut = None if rest.endswith(b"\r") else number + 1
            yield number + 1, None if is_over else self._decoded(number + 1, rest)

    def _decoded(self, number: int, line: bytes) -> bytes:
        line = line.rstrip(b"\r\n")
        if line.isascii():
            return line
        text = line.decode(errors="replace")
        if "\ufffd" in text and number > 1:
            self._complaints.add("mended", number, "bytes that are no UTF-8")
        return text.encode()
