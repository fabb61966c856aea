"""A text stream that outlives its reader and says every character in some way."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from typing import TextIO


class Stream:
    """Wraps stdout or stderr: a closed pipe or terminal swallows the rest, what the encoding lacks is escaped."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._is_gone = False

    @property
    def encoding(self) -> str:
        """The encoding that rich asks for to choose its lines."""
        return self._file.encoding or "utf-8"

    def isatty(self) -> bool:
        """Somebody sits before it."""
        return self._file.isatty()

    def fileno(self) -> int:
        """The descriptor, for the terminal's size."""
        return self._file.fileno()

    def write(self, text: str) -> int:
        """Write as much as the reader takes."""
        if not self._is_gone:
            try:
                self._file.write(text.encode(self.encoding, "backslashreplace").decode(self.encoding))
            except OSError as error:
                self._leave(error)
        return len(text)

    def flush(self) -> None:
        """Flush unless the reader has left."""
        if not self._is_gone:
            try:
                self._file.flush()
            except OSError as error:
                self._leave(error)

    def line(self, text: str) -> None:
        """Write lines and flush."""
        self.write(text + "\n")
        self.flush()

    def _leave(self, error: OSError) -> None:
        if error.errno not in (errno.EPIPE, errno.EIO):
            raise error
        # Python flushes stdout once more at exit and would complain there: let it flush into nowhere.
        self._is_gone = True
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self._file.fileno())
        os.close(nowhere)


def is_terminal(stream: Stream, environment: Mapping[str, str]) -> bool:
    """The stream leads to a terminal that can move its cursor."""
    return stream.isatty() and environment.get("TERM", "dumb") not in ("dumb", "unknown", "")
