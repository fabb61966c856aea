"""What an operator's files hold, so that a later run can tell whether they are the same."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path

from msprun.model.operator import Operator

_CHUNK = 1 << 20


def digests(operator: Operator) -> dict[str, str]:
    """BLAKE2b of the files that decide numbers, by their path in the operator's folder: sources, cases, libraries."""
    files = [operator.reference.file, operator.candidate.file]
    if operator.cases_file is not None:
        files.append(operator.cases_file)
    files += _libraries(operator.folder)
    if operator.against is not None:
        files += [operator.against.file, *_libraries(operator.against.folder)]
    return {os.path.relpath(file, operator.folder): _digest(file) for file in dict.fromkeys(files) if file.is_file()}


def is_same_build(operator: Operator, known: Mapping[str, str]) -> bool:
    """The older build has the candidate's file and libraries, byte for byte, by the operator's `digests`."""
    older = operator.against
    if older is None:
        return False
    ours, theirs = (
        sorted(known.get(os.path.relpath(file, operator.folder), "") for file in (side.file, *_libraries(folder)))
        for side, folder in ((operator.candidate, operator.folder), (older, older.folder))
    )
    return ours == theirs


def _libraries(folder: Path) -> list[Path]:
    return sorted((folder / "kernel" / "build").glob("**/*.so"))


def _digest(file: Path) -> str:
    state = hashlib.blake2b(digest_size=16)
    with file.open("rb") as content:
        while chunk := content.read(_CHUNK):
            state.update(chunk)
    return state.hexdigest()
