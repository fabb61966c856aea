"""The worker's files run under other interpreters."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

import msprun.worker

FILES = sorted(Path(msprun.worker.__file__).parent.glob("*.py"))
SINCE_3_9 = {"zoneinfo", "graphlib", "tomllib"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_file_is_python_3_8(path: Path) -> None:
    ast.parse(path.read_text(), feature_version=(3, 8))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_file_imports_the_standard_library_torch_and_its_siblings_only(path: Path) -> None:
    siblings = {file.stem for file in FILES}
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            assert all(name.name.split(".")[0] in allowed() for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            assert str(node.module).split(".")[0] in allowed()
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 1
            assert {node.module} <= siblings if node.module else {name.name for name in node.names} <= siblings


def allowed() -> set[str]:
    # torch_npu and acl are what an Ascend host's torch is made of: imported where the job's device is an NPU.
    return (set(sys.stdlib_module_names) - SINCE_3_9) | {"torch", "torch_npu", "acl"}


def test_the_beginning_needs_no_torch() -> None:
    """A worker whose interpreter has no torch must still be able to say so."""
    for name in ("main", "guard", "job", "failures", "protocol", "channel"):
        text = next(file for file in FILES if file.stem == name).read_text()
        imported = [
            ast.unparse(node) for node in ast.parse(text).body if isinstance(node, (ast.Import, ast.ImportFrom))
        ]
        assert "torch" not in " ".join(imported)
