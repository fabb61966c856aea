"""The only door to jinja2: a template and values become text."""

from __future__ import annotations

import contextlib
import functools
import os
import shlex
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from stat import S_ISDIR
from typing import TYPE_CHECKING, Any

from msprun.language import Words
from msprun.resources import data_folder

if TYPE_CHECKING:
    from jinja2 import BytecodeCache, Environment
    from jinja2.bccache import Bucket

MISSING = "–"
TAB = "\t"
_BIDI = frozenset("\u061c\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_MARKDOWN = (("\\", "\\\\"), ("|", "\\|"), ("&", "&amp;"), ("<", "&lt;"), ("*", "\\*"), ("`", "\\`"), ("](", "]\\("),
             ("__", "\\_\\_"))  # fmt: skip


def render(template: str, lang: str = "en", /, **context: Any) -> str:
    """The text of a file in `templates/`. Raises jinja2.UndefinedError when it names something unknown."""
    return _environment(data_folder("templates"), lang).get_template(template).render(**context)


def macro(template: str, name: str, *arguments: Any, lang: str = "en") -> str:
    """The text of one macro of a template."""
    module = _environment(data_folder("templates"), lang).get_template(template).module
    return str(getattr(module, name)(*arguments))


@functools.cache
def _environment(folder: Path, lang: str) -> Environment:
    """Templates see `t(key, **figures)`, the text of a key of the strings file, and `word(table, code)`."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        undefined=jinja2.StrictUndefined,
        autoescape=lambda name: name is not None and name.endswith((".html", ".html.j2")),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        bytecode_cache=_compiled(),
    )
    words = Words(lang, folder / "strings")
    environment.filters.update(_FILTERS, figures=functools.partial(figures, words=words))
    environment.globals.update(t=words, word=lambda table, code: plain(words.word(table, code)))
    return environment


def _compiled() -> BytecodeCache | None:
    """Where templates are kept compiled, which takes half a second; None without a folder that is the user's alone.

    What lies there is run, so nobody else may write into it.
    """
    from pickle import UnpicklingError

    from jinja2 import FileSystemBytecodeCache

    class Kept(FileSystemBytecodeCache):
        def load_bytecode(self, bucket: Bucket) -> None:
            try:
                super().load_bytecode(bucket)
            except (UnpicklingError, EOFError, ValueError, TypeError, AttributeError, IndexError):
                bucket.reset()  # a file that was cut

        def dump_bytecode(self, bucket: Bucket) -> None:
            with contextlib.suppress(OSError):  # a full disk is no reason to have no report
                super().dump_bytecode(bucket)

    folder = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "msprun", "templates")
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.lstat()
    except OSError:
        return None
    is_ours = S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o022
    return Kept(str(folder)) if is_ours else None


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


def rate(value: float | None, missing: str = MISSING) -> str:
    """Four significant digits, written out below a million."""
    if value is None:
        return missing
    return f"{value:.4g}" if abs(value) < 1e4 or abs(value) >= 1e6 else f"{value:.0f}"


def interval(low: float | None, high: float | None, digits: int = 2, missing: str = MISSING) -> str:
    """Both ends of an interval as `1.37 - 1.48`."""
    return missing if low is None or high is None else f"{low:.{digits}f} - {high:.{digits}f}"


def elapsed(seconds: float) -> str:
    """A duration as the old script said it: `74.512s`, below a second `512ms`."""
    return f"{seconds:.3f}s" if seconds >= 1 else f"{seconds * 1000:.0f}ms"


def figures(values: Mapping[str, Any], words: Words) -> str:
    """Named values on one line, as `change 0.031, side candidate`; names and sides in the words of a language."""
    named = (
        f"{plain(words.word('figure', name))} "
        f"{plain(words.word('side', value)) if name == 'side' else _figure(value, words)}"
        for name, value in values.items()
    )
    return words("mark.comma").join(named)


def _figure(value: Any, words: Words) -> str:
    if value is None:
        return MISSING
    if isinstance(value, bool):
        return words("mark.yes") if value else words("mark.no")
    if isinstance(value, float):
        return rate(value)
    if isinstance(value, Mapping):
        return words("mark.group", text=figures(value, words))
    if isinstance(value, Sequence) and not isinstance(value, str):
        return " ".join(_figure(item, words) for item in value) or MISSING
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
    "plain": plain, "us": number, "number": number, "ratio": ratio, "percent": percent, "rate": rate,
    "interval": interval, "elapsed": elapsed, "fit": fit, "row": row, "columns": columns, "cell": cell, "cells": cells,
    "code": code, "shell": shell,
}  # fmt: skip
