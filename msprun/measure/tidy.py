"""What profilers leave is large: it goes once it was read, except where somebody will want to look."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

KEPT = 3
KEPT_BYTES = 2 << 30


def tidy(read: Sequence[Path], wanted: Sequence[Path]) -> None:
    """Remove captures that were read, and of those `wanted`, the oldest first, all but the newest 3 within 2 GB."""
    kept = list(_newest(wanted))
    for folder in dict.fromkeys((*read, *wanted)):
        if folder not in kept and not folder.is_symlink():
            shutil.rmtree(folder, ignore_errors=True)


def _newest(wanted: Sequence[Path]) -> Iterable[Path]:
    room = KEPT_BYTES
    for folder in list(reversed(wanted))[:KEPT]:
        room -= size(folder)
        if room < 0:
            return
        yield folder


def size(folder: Path) -> int:
    """Bytes of the files below a folder; links are not followed."""
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file() or path.is_symlink())
