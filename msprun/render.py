"""The only door to jinja2: a template and values become text."""

from __future__ import annotations

import functools
import shlex
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msprun.resources import data_folder

if TYPE_CHECKING:
    from jinja2 import Environment

MISSING = "–"
TAB = "\t"
_BIDI = frozenset("\u061c\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_MARKDOWN = (("\\", "\\\\"), ("|", "\\|"), ("&", "&amp;"), ("<", "&lt;"), ("*", "\\*"), ("`", "\\`"), ("](", "]\\("),
             ("__", "\\_\\_"))  # fmt: skip


def render(template: str, **context: Any) -> str:
    """The text of a file in `templates/`. Raises jinja2.UndefinedError when it names something unknown."""
    return _environment(data_folder("templates")).get_template(template).render(**context)


def macro(template: str, name: str, *arguments: Any) -> str:
    """The text of one macro of a template."""
    return str(getattr(_environment(data_folder("templates")).get_template(template).module, name)(*arguments))


@functools.cache
def _environment(folder: Path) -> Environment:
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        undefined=jinja2.StrictUndefined,
        autoescape=lambda name: name is not None and name.endswith((".html", ".html.j2")),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(_FILTERS)
    return environment


def plain(value: object) -> str:
    """Text on one line that cannot move a cursor, change a colour or turn the writing direction."""
    return "".join(c if _is_harmless(c) else _escape(c) for c in str(value))


def _is_harmless(character: str) -> bool:
    return unicodedata.category(character) not in ("Cc", "Cs") and character not in _BIDI


def _escape(character: str) -> str:
    short = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(character)
    return short or (f"\\x{ord(character):02x}" if ord(character) < 128 else f"\\u{ord(character):04x}")


def number(value: float | None, digits: int = 2, missing: str = MISSING) -> str:
    """A number with fixed decimals."""
    return missing if value is None else f"{value:.{digits}f}"


def ratio(value: float | None, digits: int = 3, missing: str = MISSING) -> str:
    """A ratio as `4.000x`."""
    return missing if value is None else f"{value:.{digits}f}x"


def percent(value: float | None, digits: int = 1, missing: str = MISSING) -> str:
    """A share of 0..1 as `12.5 %`."""
    return missing if value is None else f"{100 * value:.{digits}f} %"


def interval(low: float | None, high: float | None, digits: int = 2, missing: str = MISSING) -> str:
    """Both ends of an interval as `1.37 - 1.48`."""
    return missing if low is None or high is None else f"{low:.{digits}f} - {high:.{digits}f}"


def figures(values: Mapping[str, Any]) -> str:
    """Named values on one line, as `change 0.031, side candidate`."""
    return ", ".join(f"{plain(name)} {_figure(value)}" for name, value in values.items())


def _figure(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: MISSING}[value]
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 1e4 or abs(value) >= 1e6 else f"{value:.0f}"
    if isinstance(value, Mapping):
        return f"({figures(value)})"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return " ".join(_figure(item) for item in value) or MISSING
    return plain(value)


def width(text: str) -> int:
    """Columns of a terminal that `text` takes; Chinese characters take two."""
    return sum(map(_cells, text))


def _cells(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def fit(value: object, columns: int) -> str:
    """Plain text cut in its middle to at most `columns` columns: the ends of long shapes tell them apart.

    A number is never cut, for its rest would be another number.
    """
    text = plain(value)
    if width(text) <= columns:
        return text
    tail = (columns - 3) // 3
    return _head(text, columns - 3 - tail) + "..." + _head(text[::-1], tail)[::-1]


def _head(text: str, columns: int) -> str:
    used = 0
    for index, character in enumerate(text):
        used += _cells(character)
        if used > columns:
            head = text[:index]
            return head.rstrip("0123456789.") if character in "0123456789." else head
    return text


def pad(text: str, columns: int, align: str = "<") -> str:
    """Text filled with blanks to `columns` columns, `<` left or `>` right."""
    blanks = " " * (columns - width(text))
    return blanks + text if align == ">" else text + blanks


def row(values: Iterable[object]) -> str:
    """Cells of one line for `columns`."""
    return TAB.join(map(plain, values))


def columns(text: str, aligns: str, gap: str = "  ") -> str:
    """Lines of tab-separated cells as a table whose columns are as wide as their longest cell.

    A line without a tab stays as it is; cells beyond `aligns` are not aligned.
    """
    lines = [line.split(TAB) for line in text.splitlines()]
    widths = [max((width(line[i]) for line in lines if len(line) > max(i, 1)), default=0) for i in range(len(aligns))]
    return "\n".join(_aligned(line, widths, aligns, gap) if len(line) > 1 else line[0] for line in lines) + "\n"


def _aligned(cells: Sequence[str], widths: Sequence[int], aligns: str, gap: str) -> str:
    padded = [pad(cell, *how) for cell, how in zip(cells, zip(widths, aligns, strict=True), strict=False)]
    return gap.join([*padded, *cells[len(padded) :]]).rstrip()


def cell(value: object) -> str:
    """Text that markdown shows as it is, also inside a table."""
    text = plain(value)
    for mark, escaped in _MARKDOWN:
        text = text.replace(mark, escaped)
    return text


def cells(values: Iterable[object]) -> str:
    """One line of a markdown table."""
    return "| " + " | ".join(map(cell, values)) + " |"


def code(value: object) -> str:
    """Markdown code (not for tables): a fence of backticks longer than any inside."""
    text = plain(value)
    fence = "`" * (1 + max((len(run) for run in "".join(c if c == "`" else " " for c in text).split()), default=0))
    blank = " " if "`" in text else ""
    return f"{fence}{blank}{text}{blank}{fence}"


def shell(words: Iterable[str]) -> str:
    """A command line that can be pasted into a shell."""
    return " ".join(shlex.quote(word) if plain(word) == word else _quoted(word) for word in words)


def _quoted(word: str) -> str:
    backslash = chr(92)
    return "$'" + plain(word.replace(backslash, 2 * backslash).replace("'", backslash + "'")) + "'"


_FILTERS: dict[str, Callable[..., str]] = {
    "plain": plain, "us": number, "number": number, "ratio": ratio, "percent": percent, "interval": interval,
    "figures": figures, "fit": fit, "row": row, "columns": columns, "cell": cell, "cells": cells, "code": code,
    "shell": shell,
}  # fmt: skip
