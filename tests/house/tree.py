"""The source as the house rules see it: files, their module names and their syntax trees."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, kw_only=True)
class Source:
    """One Python file; `path` is relative to the repository, with forward slashes."""

    path: str
    text: str
    tree: ast.Module

    @property
    def module(self) -> str:
        """`msprun/device/__init__.py` is `msprun.device`."""
        return self.path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    @property
    def package(self) -> str:
        """The package from which relative imports count."""
        return self.module if self.path.endswith("__init__.py") else self.module.rpartition(".")[0]


def source(path: str, text: str) -> Source:
    """A source that need not exist on disk: what the proofs of the checkers feed them."""
    return Source(path=path, text=text, tree=ast.parse(text))


def sources(*folders: str) -> tuple[Source, ...]:
    """Every Python file below the repository's `folders`."""
    files = sorted(file for folder in folders for file in (ROOT / folder).rglob("*.py"))
    return tuple(source(file.relative_to(ROOT).as_posix(), file.read_text()) for file in files if _is_ours(file))


def imports(of: Source) -> Iterator[tuple[str, int]]:
    """Every module that a file imports, anywhere in it, with the line; `from a import b` gives `a.b`.

    A literal `import_module("x")` or `__import__("x")` counts too.
    """
    for node in ast.walk(of.tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            start = _start(of, node)
            yield from ((f"{start}.{alias.name}", node.lineno) for alias in node.names)
        elif isinstance(node, ast.Call) and called(node).rpartition(".")[2] in ("import_module", "__import__"):
            names = (a.value for a in node.args if isinstance(a, ast.Constant))
            yield from ((name, node.lineno) for name in names if isinstance(name, str))


def called(node: ast.Call) -> str:
    """The dotted name that a call calls; parts that are no names are `?`."""
    return dotted(node.func)


def dotted(node: ast.expr) -> str:
    """`os.environ` of the expression, `?` where it is no name."""
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else "?"


def _start(of: Source, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    parts = of.package.split(".")
    return ".".join(parts[: len(parts) - node.level + 1] + ([node.module] if node.module else []))


def _is_ours(file: Path) -> bool:
    return not {"__pycache__", "build", "runs", "kernel"} & set(file.relative_to(ROOT).parts[:-1])
