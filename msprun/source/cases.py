"""The cases file of an operator folder: which file it is, and the cases in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from msprun.errors import ConfigError
from msprun.model.case import Case
from msprun.source.descriptor import parse_inputs
from msprun.source.faults import Place
from msprun.source.json_lines import NotJson, parse_lines, parse_whole, read_bytes
from msprun.source.labels import case_labels, case_names

_RESULTS = frozenset(("performance.json", "perf_report.json", "result.json", "sweep.json"))


class _Entry(NamedTuple):
    """One case as the file has it; `line` None in a file that is one JSON value."""

    line: int | None
    content: dict[str, Any]


def read_cases(folder: Path, cases_file: str | None) -> tuple[tuple[Case, ...], Path | None, str]:
    """Cases, their file and its origin: `jsonl:<name>`, `json:<name>`, or `provider` where no file has cases.

    `cases_file` is relative to the folder. Without it the first in sorted order is taken of `*_perf_cases.jsonl`,
    else of `*.jsonl`, else the first `*.json` that holds cases; results of msprun and of the old script are no cases.
    A case is an object with a list `inputs`. Raises ConfigError with file and line, or file, case and input.
    """
    path, entries = _named(folder / cases_file) if cases_file is not None else _found(folder)
    if path is None:
        return (), None, "provider"
    form = "jsonl" if path.suffix == ".jsonl" else "json"
    return _cases(path, entries), path, f"{form}:{path.name}"


def _named(path: Path) -> tuple[Path, list[_Entry]]:
    if not path.is_file():
        raise ConfigError(f"{path}: there is no such cases file", "name one that is there with op.cases_file=FILE")
    entries = _entries(path)
    if not entries:
        raise ConfigError(f"{path} holds no case", 'a case is an object with a list "inputs"')
    return path, entries


def _found(folder: Path) -> tuple[Path | None, list[_Entry]]:
    lines = _files(folder, "*_perf_cases.jsonl") or _files(folder, "*.jsonl")
    for path in lines[:1]:
        if entries := _entries(path):
            return path, entries
    for path in _files(folder, "*.json"):
        if path.name not in _RESULTS and (entries := _entries_if_any(path)):
            return path, entries
    return None, []


def _files(folder: Path, pattern: str) -> list[Path]:
    return sorted(path for path in folder.glob(pattern) if path.is_file())


def _entries_if_any(path: Path) -> list[_Entry]:
    """The cases of a file that may be something else: what is no JSON counts as broken only if it says inputs."""
    try:
        return _entries(path)
    except NotJson:
        if b'"inputs"' in path.read_bytes():
            raise
        return []


def _entries(path: Path) -> list[_Entry]:
    data = read_bytes(path)
    if path.suffix == ".jsonl":
        return _from_lines(path, data)
    try:
        root = parse_whole(path, data)
    except NotJson as whole:
        return _from_lines_or(path, data, whole)
    listed = root if isinstance(root, list) else [root]
    return [_Entry(None, entry) for entry in listed if _is_case(entry)]


def _from_lines_or(path: Path, data: bytes, whole: NotJson) -> list[_Entry]:
    """A .json file with an object a line; where that fails too, show the fault of the file as one value."""
    try:
        return _from_lines(path, data)
    except ConfigError:
        raise whole from None


def _from_lines(path: Path, data: bytes) -> list[_Entry]:
    parsed = parse_lines(path, data)
    for number, entry in parsed:
        if not isinstance(entry, dict):
            raise ConfigError(f"{path}:{number}: not a JSON object", 'each line is one case, {"inputs": [...]}')
        if "inputs" in entry and not isinstance(entry["inputs"], list):
            raise ConfigError(f"{path}:{number}: inputs is not a list", 'write "inputs": [{"name": ...}, ...]')
    return [_Entry(number, entry) for number, entry in parsed if _is_case(entry)]


def _is_case(entry: Any) -> bool:
    return isinstance(entry, dict) and isinstance(entry.get("inputs"), list)


def _cases(path: Path, entries: list[_Entry]) -> tuple[Case, ...]:
    names = case_names([entry.content for entry in entries])
    return tuple(_case(path, index, names[index], entry) for index, entry in enumerate(entries))


def _case(path: Path, index: int, name: str, entry: _Entry) -> Case:
    file = str(path) if entry.line is None else f"{path}:{entry.line}"
    descriptors = entry.content["inputs"]
    inputs = parse_inputs(Place(file=file, case=index), descriptors)
    shape, dtype = case_labels(descriptors)
    return Case(index=index, name=name, shape_label=shape, dtype_label=dtype, inputs=inputs)
