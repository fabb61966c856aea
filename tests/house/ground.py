"""What lies in the repository: its top level, and no trace of the machine that it was written on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

TOP = {
    ".ci", ".gitignore", "CHANGELOG.md", "CONTRIBUTING.md", "Makefile", "README.md", "benchmarks", "conf",
    "constraints.txt", "examples", "msprun", "pyproject.toml", "templates", "tests",
}  # fmt: skip
# Put together here, so that this file does not hold what it looks for.
TRACES = tuple(
    re.compile(pattern)
    for pattern in (
        rf"(?<![\w.$])/{'work'}/",
        rf"\.{'library'}\b",
        rf"/{'root'}/",
        rf"/opt/{'wheels'}|/opt/{'pypi'}",
        rf"(?<!\.\./){'shared'}/(?:samples|spec|architecture|hydra|measuring|legacy|formats|field|user-reports)\b",
    )
)


def strangers(paths: Iterable[str]) -> Iterator[str]:
    """Top-level names that are none of ours."""
    for name in sorted({path.partition("/")[0] for path in paths} - TOP):
        yield f"{name} does not belong to the top level"


def traces(texts: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Lines, of files given as (path, text), that name a place on somebody's machine."""
    for path, text in texts:
        for number, line in enumerate(text.splitlines(), 1):
            yield from (f"{path}:{number} names {found[0]}" for trace in TRACES if (found := trace.search(line)))
