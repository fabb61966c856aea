"""Where in a cases file something is wrong, and how to say it in one line."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from msprun.errors import ConfigError

_WORD_LIMIT = 60


class Place(Struct, frozen=True, kw_only=True):
    """A case of a file, and the input of it that is being read."""

    file: str
    case: int
    name: str | None = None

    def input(self, name: str) -> Place:
        """The same case, narrowed to an input."""
        return Place(file=self.file, case=self.case, name=name)

    def item(self, number: int) -> Place:
        """The same input, narrowed to an entry of its list."""
        return Place(file=self.file, case=self.case, name=f"{self.name}[{number}]")

    def error(self, what: str, hint: str) -> ConfigError:
        """The error to raise: `file:line: case 2, input 'x': what`."""
        where = f"{self.file}: case {self.case}" + (f", input {word(self.name)}" if self.name is not None else "")
        return ConfigError(f"{where}: {what}", hint)


def word(value: Any) -> str:
    """A value of a stranger as a short piece of one line."""
    if isinstance(value, int) and abs(value) >= 10**_WORD_LIMIT:
        return f"a number of {value.bit_length()} bits"
    if isinstance(value, (list, dict)):
        return "a list" if isinstance(value, list) else "an object"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    is_long = isinstance(value, str) and len(value) > _WORD_LIMIT
    return repr(value[:_WORD_LIMIT]) + "..." if is_long else repr(value)


def guess(given: str, known: Iterable[str], otherwise: str) -> str:
    """`did you mean X?` where a known word is near, else the other text."""
    close = difflib.get_close_matches(given[:200], list(known), n=1)
    return f"did you mean {close[0]}?" if close else otherwise
