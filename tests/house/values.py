"""Rules 4 and 8: defaults live in conf/, and everything that travels is frozen."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from tests.house.tree import Source, dotted

SCHEMA = "msprun/schema.py"


def second_defaults(files: Sequence[Source]) -> Iterator[str]:
    """Fields of the schema's dataclasses that have a default other than MISSING."""
    for file, node in _classes(files):
        if file.path == SCHEMA and _is_dataclass(node):
            for field in _fields(node):
                if not (isinstance(field.value, ast.Name) and field.value.id == "MISSING"):
                    yield f"{file.path}:{field.lineno} {node.name}.{dotted(field.target)} is not MISSING"


def loose_dataclasses(files: Sequence[Source]) -> Iterator[str]:
    """Dataclasses anywhere but in the schema."""
    for file, node in _classes(files):
        if file.path != SCHEMA and _is_dataclass(node):
            yield f"{file.path}:{node.lineno} {node.name} is a dataclass; what travels is a frozen msgspec Struct"


def thawed_structs(files: Sequence[Source]) -> Iterator[str]:
    """Structs, direct or by way of one of ours, that are not frozen and kw_only."""
    for file, node in _structs(files):
        said = {k.arg for k in node.keywords if isinstance(k.value, ast.Constant) and k.value.value is True}
        if not said >= {"frozen", "kw_only"}:
            yield f"{file.path}:{node.lineno} {node.name} is not frozen and kw_only"


def false_missing(files: Sequence[Source]) -> Iterator[str]:
    """Fields of Structs whose default says "missing" with a number or a word instead of None."""
    for file, node in _structs(files):
        for field in _fields(node):
            value = ast.literal_eval(field.value) if field.value and _is_literal(field.value) else None
            if value in ("N/A", "?", -1) or (isinstance(value, float) and value == 0):
                yield f"{file.path}:{field.lineno} {node.name}.{dotted(field.target)} says missing with {value!r}"


def _classes(files: Sequence[Source]) -> Iterator[tuple[Source, ast.ClassDef]]:
    for file in files:
        yield from ((file, node) for node in ast.walk(file.tree) if isinstance(node, ast.ClassDef))


def _structs(files: Sequence[Source]) -> Iterator[tuple[Source, ast.ClassDef]]:
    classes = list(_classes(files))
    names = {"Struct"}
    found: dict[int, tuple[Source, ast.ClassDef]] = {}
    while more := [c for c in classes if id(c[1]) not in found and names & set(_bases(c[1]))]:
        found.update((id(node), (file, node)) for file, node in more)
        names.update(node.name for _, node in more)
    yield from found.values()


def _bases(node: ast.ClassDef) -> list[str]:
    return [dotted(base).rpartition(".")[2] for base in node.bases]


def _is_dataclass(node: ast.ClassDef) -> bool:
    calls = (d.func if isinstance(d, ast.Call) else d for d in node.decorator_list)
    return any(dotted(call).rpartition(".")[2] == "dataclass" for call in calls)


def _fields(node: ast.ClassDef) -> Iterator[ast.AnnAssign]:
    for line in node.body:
        if isinstance(line, ast.AnnAssign) and "ClassVar" not in ast.unparse(line.annotation):
            yield line


def _is_literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except ValueError:
        return False
    return True
