"""What a look at an operator's sources says of its build: older than they are, or made for debugging."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from msprun.model.measurement import Remark
from msprun.model.operator import Operator

_SUFFIXES = frozenset((".asc", ".c", ".cc", ".cce", ".cpp", ".cu", ".cxx", ".h", ".hpp"))
_FILES_AT_MOST = 500
_READ_BYTES = 1 << 20
# A checkout writes a library and its sources within seconds, in any order.
_LATER_S = 10.0
# AscendC's ways to look into a kernel while it runs; host code prints without a namespace and in small letters.
_DEBUG = re.compile(
    rb"\b(?:DumpTensor|DumpAccChkPoint|PRINTF|AscendC::printf|AscendC::PRINTF)\s*\(|\bASCENDC_DUMP\s*=?\s*1"
)
_COMMENT = re.compile(rb"//[^\n]*|/\*.*?\*/", re.DOTALL)


def build_remarks(operator: Operator) -> tuple[Remark, ...]:
    """`stale_build`: a source below `kernel/` is newer than all libraries of `kernel/build/`. `debug_build`: it prints.

    Nothing about libraries that `op.build` has just made, and nothing without libraries.
    """
    folder = operator.folder / "kernel"
    libraries = [file for file in (folder / "build").glob("**/*.so") if file.is_file()]
    if not libraries:
        return ()
    sources = list(_sources(folder))
    found: list[Remark] = []
    newest = max(sources, key=_age, default=None)
    if newest is not None and not operator.build and _age(newest) > max(map(_age, libraries)) + _LATER_S:
        found.append(Remark(code="stale_build", figures={"what": _name(newest, operator)}))
    printing = next((file for file in sources if _prints(file)), None)
    if printing is not None:
        found.append(Remark(code="debug_build", figures={"what": _name(printing, operator)}))
    return tuple(found)


def _sources(folder: Path) -> Iterator[Path]:
    """Source files in order of their names, what was built and what links lead to left out."""
    seen = 0
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != "build" and not name.startswith("."))
        for name in sorted(names):
            file = Path(place, name)
            if file.suffix in _SUFFIXES and file.is_file() and not file.is_symlink():
                yield file
                seen += 1
                if seen == _FILES_AT_MOST:
                    return


def _age(file: Path) -> float:
    return file.stat().st_mtime


def _prints(file: Path) -> bool:
    try:
        with file.open("rb") as opened:
            text = opened.read(_READ_BYTES)
    except OSError:
        return False
    return _DEBUG.search(_COMMENT.sub(b" ", text)) is not None


def _name(file: Path, operator: Operator) -> str:
    return os.path.relpath(file, operator.folder)
