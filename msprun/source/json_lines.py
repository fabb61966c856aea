"""JSON files as data of strangers: every fault is one line that names the file and the line."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec

from msprun.errors import ConfigError

_SIZE_LIMIT_BYTES = 256 * 2**20
_BOM = b"\xef\xbb\xbf"
_POSITION = re.compile(r" \(byte (\d+)\)$")
_NOT_FINITE = re.compile(rb"(?<![\w\"])-?(NaN|Infinity)\b")


class NotJson(ConfigError):
    """The text of a file is no JSON."""


def read_bytes(path: Path) -> bytes:
    """The bytes of a UTF-8 file without a byte order mark. Raises ConfigError when it is not readable or no UTF-8."""
    try:
        if path.stat().st_size > _SIZE_LIMIT_BYTES:
            raise ConfigError(f"{path} is larger than 256 MiB", "name a smaller file with op.cases_file=FILE")
        data = path.read_bytes().removeprefix(_BOM)
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be read: {error.strerror}", "name another file with op.cases_file=FILE"
        ) from None
    try:
        data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{path}:{line}: not UTF-8 text", "save the file as UTF-8") from None
    return data


def parse_lines(path: Path, data: bytes) -> list[tuple[int, Any]]:
    """Line number and value of each line that is not blank. Raises NotJson."""
    lines = enumerate(data.split(b"\n"), start=1)
    return [(number, _decode(path, line, number)) for number, line in lines if line.strip()]


def parse_whole(path: Path, data: bytes) -> Any:
    """The one JSON value of a file. Raises NotJson."""
    return _decode(path, data, 1)


def _decode(path: Path, data: bytes, first_line: int) -> Any:
    try:
        return msgspec.json.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        at = _POSITION.search(str(error))
        offset = int(at[1]) if at else len(data.rstrip())
        line = first_line + data.count(b"\n", 0, offset)
        raise NotJson(f"{path}:{line}: {_words(str(error), data)}", _hint(data)) from None
    except RecursionError:
        raise NotJson(f"{path}:{first_line}: nested too deeply", "a case needs only a few levels") from None


def _words(error: str, data: bytes) -> str:
    if _NOT_FINITE.search(data):
        return "NaN and Infinity are not JSON"
    what = _POSITION.sub("", error).removeprefix("JSON is malformed: ")
    return "not JSON: the text ends too early" if what == "Input data was truncated" else f"not JSON: {what}"


def _hint(data: bytes) -> str:
    if _NOT_FINITE.search(data):
        return "write a finite number"
    return "a .jsonl file holds one whole JSON object a line"
