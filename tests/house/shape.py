"""Rule 9: small files, short functions, few parameters, no drawers for odds and ends; modules with a docstring."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePosixPath

from tests.house.tree import Source

FILE_LINES = 400
FUNCTION_LINES = 40
PARAMETERS = 5
DRAWERS = {"util", "utils", "common", "helper", "helpers", "manager", "managers", "base", "misc"}

_Function = ast.FunctionDef | ast.AsyncFunctionDef


def long_files(texts: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Files, given as (path, text), of 400 lines or more."""
    for path, text in texts:
        if (lines := len(text.splitlines())) >= FILE_LINES:
            yield f"{path} has {lines} lines"


def long_functions(files: Sequence[Source]) -> Iterator[str]:
    """Functions of 40 lines or more, their docstring counted, their decorators not."""
    for file, node in _functions(files):
        if (lines := (node.end_lineno or node.lineno) - node.lineno + 1) >= FUNCTION_LINES:
            yield f"{file.path}:{node.lineno} {node.name} has {lines} lines"


def wide_functions(files: Sequence[Source]) -> Iterator[str]:
    """Functions of more than five parameters, self and cls not counted."""
    for file, node in _functions(files):
        a = node.args
        names = [p.arg for p in (*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg) if p is not None]
        if (count := len([name for name in names if name not in ("self", "cls")])) > PARAMETERS:
            yield f"{file.path}:{node.lineno} {node.name} takes {count} parameters"


def drawers(paths: Iterable[str]) -> Iterator[str]:
    """Files and folders named after nothing in particular."""
    for path in paths:
        pure = PurePosixPath(path)
        for name in {*pure.parts[:-1], pure.stem} & DRAWERS:
            yield f"{path} is called {name}"


def mute_modules(files: Sequence[Source]) -> Iterator[str]:
    """Modules that do not say in a line what they are."""
    yield from (f"{file.path} has no docstring" for file in files if not ast.get_docstring(file.tree))


def _functions(files: Sequence[Source]) -> Iterator[tuple[Source, _Function]]:
    for file in files:
        yield from ((file, node) for node in ast.walk(file.tree) if isinstance(node, _Function))
