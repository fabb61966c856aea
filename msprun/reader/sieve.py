"""A sieve that lets through only rows as wide as the header; others are put right or dropped, and it says so."""

from __future__ import annotations

import io
import re
from array import array
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from msprun.reader import mend
from msprun.reader.columns import Header, Layout
from msprun.reader.reading import Complaints
from msprun.reader.text import LINE_BYTES, LINE_END

BLOCK_BYTES = 1 << 20
# So many lines may have been one row that a line break tore.
TORN_LINES = 4
_TIDY = re.compile(mend.TIDY.pattern.encode())


class Sieve(io.RawIOBase):
    """Reads a file as rows that all have as many cells as the header, which is left out. `lines` says where each stood.

    Rows that can be put right are, others are dropped; both are complaints. Blank lines vanish. What is not UTF-8
    becomes a replacement character. Memory is bounded by a block and a line, whatever the file is.
    """

    def __init__(self, path: Path, layout: Layout, header: Header, is_strict: bool) -> None:
        """Where it is not strict, quotes inside cells may hide commas from it, and what reads it then refuses."""
        super().__init__()
        self.lines = array("q")
        self.complaints = Complaints(path)
        self._layout, self._header, self._is_strict = layout, header, is_strict
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
        torn: list[tuple[int, bytes]] = []
        for number, text, lines in self._blocks():
            if text is None:
                self.complaints.add("dropped", number, f"a line of more than {LINE_BYTES} bytes")
            elif not torn and not self._is_strict and self._is_clean(text, lines):
                self.lines.extend(range(number, number + len(lines)))
                yield text
            else:
                for place, line in enumerate(lines, number):
                    yield from self._line(place, self._decoded(place, line), torn)
        self._give_up(torn)

    def _is_clean(self, text: bytes, lines: list[bytes]) -> bool:
        """Whether all lines are sound rows, seen at once by counting commas outside quotes."""
        if not text.endswith(b"\n") or text.count(b"\r") != text.count(b"\r\n") or not _is_utf8(text):
            return False
        signs = np.frombuffer(text, dtype=np.uint8)
        commas, ends = signs == ord(","), np.flatnonzero(signs == ord("\n"))
        if b'"' in text:
            inside = np.cumsum(signs == ord('"'), dtype=np.uint32) & 1 == 1
            if inside[ends].any():
                return False
            commas &= ~inside
        counts = np.diff(np.cumsum(commas, dtype=np.uint32)[ends], prepend=0)
        return bool((counts == self._header.cells - 1).all()) and max(map(len, lines)) <= LINE_BYTES

    def _line(self, number: int, line: bytes, torn: list[tuple[int, bytes]]) -> Iterator[bytes]:
        """The row of a line, where it is one or ends one; what may begin one goes to the torn lines."""
        if torn and (row := self._rejoined(torn, line)) is not None:
            yield self._kept(torn[0][0], row)
            torn.clear()
            return
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
            self.complaints.add("dropped", number, "a line of NUL bytes")

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
        self.complaints.add("odd_value", number, f"the file ends in {name}, so that it may be cut off")
        return ",".join([*cells[:-1], ""]).encode()

    def _give_up(self, torn: list[tuple[int, bytes]], leave: int = 0) -> None:
        """Say of the oldest torn lines that they are dropped, until only so many are left."""
        while len(torn) > leave:
            number, line = torn.pop(0)
            cells = mend.split(line.decode(errors="replace"))
            found = "an open quote" if cells is None else f"{len(cells)} cells"
            self.complaints.add("dropped", number, f"a row with {found} where the header has {self._header.cells}")

    def _rejoined(self, torn: list[tuple[int, bytes]], line: bytes) -> bytes | None:
        """The row that the torn lines and this one were, if they were one: together they have all cells."""
        if self._count(line) == self._header.cells:
            return None
        for start in range(len(torn)):
            whole = b" ".join([*(text for _, text in torn[start:]), line])
            cells = mend.split(whole.decode(errors="replace")) or []
            if len(cells) == self._header.cells and mend.stands_right(cells, self._layout, self._header):
                self._give_up(torn, len(torn) - start)
                told = f"a line break inside the row; put together again from {len(torn) + 1} lines"
                self.complaints.add("mended", torn[0][0], told)
                return ",".join(cells).encode()
        return None

    def _count(self, line: bytes) -> int | None:
        """How many cells a line has; None where only taking it apart could tell."""
        if b'"' not in line:
            return line.count(b",") + 1
        pieces = line.split(b'"')
        if len(pieces) % 2 == 0 or (self._is_strict and _TIDY.fullmatch(line) is None):
            return None
        return sum(outside.count(b",") for outside in pieces[::2]) + 1

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
        self.complaints.add("mended", number, told)
        return ",".join(mended).encode()

    def _blocks(self) -> Iterator[tuple[int, bytes | None, list[bytes]]]:
        """Whole lines behind the header: the number of the first, their text, and each. A line too long has no text."""
        number, rest, is_over = 1, b"", False
        while block := self._file.read(BLOCK_BYTES):
            text = rest + block
            end = text.rfind(b"\n") + 1 or text.rfind(b"\r", 0, -1) + 1
            text, rest = text[:end], text[end:]
            if text and (is_over or number == 1):
                if is_over:
                    yield number, None, []
                number, is_over, text = number + 1, False, LINE_END.split(text, maxsplit=1)[1]
            if lines := text.splitlines():
                yield number, text, lines
                number += len(lines)
            if len(rest) > LINE_BYTES:
                rest, is_over = b"", True
        if is_over:
            yield number, None, []
        elif rest and number > 1:
            self._cut = None if rest.endswith(b"\r") else number
            yield number, rest, rest.splitlines()

    def _decoded(self, number: int, line: bytes) -> bytes:
        if line.isascii():
            return line
        text = line.decode(errors="replace")
        if "\ufffd" in text:
            self.complaints.add("mended", number, "bytes that are no UTF-8")
        return text.encode()


def _is_utf8(text: bytes) -> bool:
    try:
        return text.isascii() or bool(text.decode())
    except UnicodeDecodeError:
        return False
