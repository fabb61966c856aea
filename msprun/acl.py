"""What an Ascend failure's code means: found in messages and in the logs of CANN, explained by conf/acl/codes.yaml."""

from __future__ import annotations

import functools
import itertools
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from msgspec import Struct, yaml

from msprun import search
from msprun.resources import data_folder

Kind = Literal["operator", "memory", "device", "machine", "profiler", "request"]

FILES_AT_MOST = 8
BYTES_AT_MOST = 1 << 17
_LINES_READ = 1000
_LINES_SHOWN = 5
_WIDTH = 300
# A number is a code only behind a word that says so: process ids, line numbers and sizes have six digits too.
_BEFORE = r"(?:code|result|error|errno|ret|rc|status|failed|return(?:ed)?)"
_GAP = r"[^\w\n-]{0,4}"
_NUMBER = re.compile(rf"{_BEFORE}\b{_GAP}(?:(?:is|value|no|num|rt|acl)\b{_GAP})?(0x[0-9a-f]+|-?\d{{4,6}})\b", re.I)
_LETTERS = re.compile(r"\b(?:E[A-Z]\d{4}|E\d{5}|ERR\d{5})\b")
_NAME = re.compile(r"\bACL(?:NN)?_ERR\w+")
# Lines of a log that tell of a failure; the first is how every error of CANN begins.
_FAULTS = ("[ERROR]", "errorStr", "EE", "EZ", "fault kernel_name")


class Meaning(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A row of the table. `fallout`: it follows from another failure; `says`: the text of one that has no code."""

    kind: Kind
    meaning: str
    next: str
    name: str | None = None
    says: str | None = None
    fallout: bool = False


class Explained(Struct, frozen=True, kw_only=True):
    """A code that was found, what it means and what to do about it."""

    code: str
    name: str | None
    kind: Kind
    meaning: str
    next: str

    @property
    def acl_code(self) -> int | None:
        """The number, where the code is one."""
        return int(self.code) if self.code.lstrip("-").isdecimal() else None

    @property
    def text(self) -> str:
        """`507015 ACL_ERROR_RT_AICORE_EXCEPTION: a kernel failed ...`."""
        return f"{self.code}{f' {self.name}' if self.name else ''}: {self.meaning}"


class Fault(Struct, frozen=True, kw_only=True):
    """What the logs of a session say: their fault lines, at most five, and the code that explains them, if any."""

    lines: tuple[str, ...]
    explained: Explained | None


def explain(text: str) -> Explained | None:
    """The first code in a text that is no mere consequence of another, else the first at all; None without any."""
    found = sorted(_found(text))
    table = codes()
    first = next((code for _, code in found if not table[code].fallout), found[0][1] if found else None)
    if first is None:
        return None
    row = table[first]
    return Explained(code=first, name=row.name, kind=row.kind, meaning=row.meaning, next=row.next)


def read_logs(folder: Path) -> Fault:
    """The fault in the logs below a folder (ASCEND_PROCESS_LOG_PATH): its newest files, the last 128 KiB of each."""
    lines = (line.strip()[:_WIDTH] for file in _logs(folder) for line in _tail(file).splitlines())
    faults = list(itertools.islice((line for line in lines if any(word in line for word in _FAULTS)), _LINES_READ))
    return Fault(lines=tuple(dict.fromkeys(faults))[:_LINES_SHOWN], explained=explain("\n".join(faults)))


@functools.cache
def codes() -> dict[str, Meaning]:
    """The table. Raises msgspec.ValidationError for a row that is none."""
    text = (data_folder("conf") / search.CODES / "codes.yaml").read_bytes()
    return yaml.decode(text, type=dict[str, dict[str, Meaning]])["codes"]


def _found(text: str) -> Iterator[tuple[int, str]]:
    """Known codes with their places in a text."""
    table = codes()
    for match in _NUMBER.finditer(text):
        code = str(int(match[1], 16)) if match[1].lower().startswith("0x") else match[1]
        if code in table:
            yield match.start(1), code
    for match in _LETTERS.finditer(text):
        if match[0] in table:
            yield match.start(), match[0]
    names = {row.name: code for code, row in table.items() if row.name}
    for match in _NAME.finditer(text):
        if match[0] in names:
            yield match.start(), names[match[0]]
    for code, row in table.items():
        if row.says is not None and (place := text.find(row.says)) >= 0:
            yield place, code


def _logs(folder: Path) -> list[Path]:
    """Log files, the oldest first, of the newest; links and what a later process may still write are left alone."""
    found = []
    for place, _, names in os.walk(folder):
        for name in names:
            file = Path(place, name)
            if name.endswith(".log") and not file.is_symlink() and file.is_file():
                found.append((file.stat().st_mtime_ns, file))
    return [file for _, file in sorted(found)[-FILES_AT_MOST:]]


def _tail(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            opened.seek(0, os.SEEK_END)
            opened.seek(max(0, opened.tell() - BYTES_AT_MOST))
            return opened.read(BYTES_AT_MOST).decode(errors="replace")
    except OSError:
        return ""
