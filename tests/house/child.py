"""The worker is a guest in another interpreter: Python 3.8, the standard library, torch, and itself."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from tests.house.tree import Source, dotted, imports

GUESTS = {"torch", "torch_npu", "acl"}
# Modules and methods that Python 3.8 does not have yet.
NEW_MODULES = {"graphlib", "zoneinfo", "tomllib"}
NEW_METHODS = {"removeprefix", "removesuffix", "is_relative_to", "with_stem", "hardlink_to", "bit_count", "lcm"}
GENERICS = {"list", "dict", "tuple", "set", "frozenset", "type"}


def of(files: Sequence[Source]) -> list[Source]:
    """Those of the files that are the worker's."""
    return [file for file in files if file.path.startswith("msprun/worker/")]


def modern_syntax(files: Sequence[Source]) -> Iterator[str]:
    """Files that Python 3.8 cannot parse, or whose annotations it cannot evaluate."""
    for file in files:
        try:
            ast.parse(file.text, feature_version=(3, 8))
        except SyntaxError as error:
            yield f"{file.path}:{error.lineno} is no Python 3.8: {error.msg}"
        yield from (f"{file.path}:{line} is no Python 3.8: {what}" for what, line in _too_new(file))


def strange_imports(files: Sequence[Source]) -> Iterator[str]:
    """Imports of anything but the standard library, torch and the worker's own files."""
    own = {PurePosixPath(file.path).stem for file in files} | {"worker"}
    allowed = (set(sys.stdlib_module_names) - NEW_MODULES) | GUESTS | own
    for file in files:
        for target, line in imports(file):
            if target.partition(".")[0] not in allowed and not target.startswith("msprun.worker."):
                yield f"{file.path}:{line} imports {target}"
        for node in ast.walk(file.tree):
            if isinstance(node, ast.Import | ast.ImportFrom) and "msprun" in ast.unparse(node):
                yield f"{file.path}:{node.lineno} names msprun, which the other interpreter does not have"


def _too_new(file: Source) -> Iterator[tuple[str, int]]:
    for node in ast.walk(file.tree):
        if isinstance(node, ast.Attribute) and node.attr in NEW_METHODS:
            yield node.attr, node.lineno
        for note in _annotations(node):
            for part in ast.walk(note):
                if isinstance(part, ast.BinOp) and isinstance(part.op, ast.BitOr):
                    yield "a | b in an annotation", part.lineno
                elif isinstance(part, ast.Subscript) and dotted(part.value) in GENERICS:
                    yield f"{dotted(part.value)}[...] in an annotation", part.lineno


def _annotations(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return [node.returns] if node.returns else []
    if isinstance(node, ast.arg | ast.AnnAssign):
        return [node.annotation] if node.annotation else []
    return []
