"""Rule 10: no global state, and an import that does nothing but define."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from tests.house.tree import Source, called, dotted

CONTAINERS = {"list", "dict", "set", "bytearray", "defaultdict", "OrderedDict", "Counter", "deque"}
CHANGES = {"append", "add", "extend", "insert", "update", "setdefault", "pop", "popitem", "remove", "discard", "clear"}
DEEDS = {"open", "print", "input", "exec", "eval", "mkdir", "write_text", "write_bytes", "unlink", "putenv", "chdir"}


def mutable_globals(files: Sequence[Source]) -> Iterator[str]:
    """Lists, dicts and sets at module level that are no UPPER_CASE table, and names declared `global`."""
    for file in files:
        for line in _module_lines(file):
            for name, value in _assigned(line):
                if _is_container(value) and name != "__all__" and not name.isupper():
                    yield f"{file.path}:{line.lineno} {name} is module state"
        for node in ast.walk(file.tree):
            if isinstance(node, ast.Global):
                yield f"{file.path}:{node.lineno} declares {', '.join(node.names)} global"


def changed_tables(files: Sequence[Source]) -> Iterator[str]:
    """Changes of an UPPER_CASE name: a table is written once, where it stands."""
    for file in files:
        for node in ast.walk(file.tree):
            if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del):
                name = dotted(node.value)
            elif isinstance(node, ast.Call) and called(node).rpartition(".")[2] in CHANGES:
                name = called(node).rpartition(".")[0]
            else:
                continue
            if name.rpartition(".")[2].strip("_").isupper():
                yield f"{file.path}:{node.lineno} changes {name}"


def import_deeds(files: Sequence[Source], exempt: Sequence[str] = ("msprun/app.py",)) -> Iterator[str]:
    """Statements at module level that act on the world; `app.py` may register things with Hydra."""
    for file in files:
        if file.path in exempt:
            continue
        for line in _module_lines(file):
            if isinstance(line, ast.For | ast.While | ast.With | ast.Delete | ast.Raise | ast.AugAssign):
                yield f"{file.path}:{line.lineno} acts when imported"
            elif isinstance(line, ast.Expr) and not isinstance(line.value, ast.Constant):
                yield f"{file.path}:{line.lineno} acts when imported: {ast.unparse(line)}"
            elif _is_deed(line):
                yield f"{file.path}:{line.lineno} acts when imported: {ast.unparse(line)}"


def _module_lines(file: Source) -> Iterator[ast.stmt]:
    """Statements that run on import, those under `if` and `try` included, but not what a script does as `__main__`."""
    ahead = list(file.tree.body)
    while ahead:
        line = ahead.pop(0)
        if isinstance(line, ast.If) and "__main__" in ast.unparse(line.test):
            continue
        yield line
        if isinstance(line, ast.If | ast.Try):
            ahead += [*line.body, *line.orelse]
        if isinstance(line, ast.Try):
            ahead += [*line.finalbody, *(inner for handler in line.handlers for inner in handler.body)]


def _assigned(line: ast.stmt) -> list[tuple[str, ast.expr]]:
    if isinstance(line, ast.Assign):
        return [(dotted(target), line.value) for target in line.targets]
    return [(dotted(line.target), line.value)] if isinstance(line, ast.AnnAssign) and line.value else []


def _is_container(value: ast.expr) -> bool:
    if isinstance(value, ast.Call):
        return called(value).rpartition(".")[2] in CONTAINERS
    return isinstance(value, ast.List | ast.Dict | ast.Set | ast.ListComp | ast.DictComp | ast.SetComp)


def _is_deed(line: ast.stmt) -> bool:
    """An assignment that writes into something else (`os.environ[...] = ...`) or calls what changes the world."""
    if not isinstance(line, ast.Assign | ast.AnnAssign):
        return False
    targets = line.targets if isinstance(line, ast.Assign) else [line.target]
    calls = (node for node in ast.walk(line) if isinstance(node, ast.Call))
    return any(isinstance(t, ast.Attribute | ast.Subscript) for t in targets) or any(
        called(call).rpartition(".")[2] in DEEDS for call in calls
    )
