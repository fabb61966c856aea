"""Room on disk for what a profiler writes, looked at before: msprof without room leaves nothing, and ends with 0."""

from __future__ import annotations

import shutil
from pathlib import Path

from msprun.errors import MachineError

# CANN's manuals want twenty times the raw data. What a row takes of it is our guess: a few hundred bytes.
TIMES_RAW = 20
ROW_BYTES = 256
LEAST_BYTES = 64 << 20  # with less than 20 MB free msprof writes nothing at all


def need_room(folder: Path, rows: int) -> None:
    """Raises MachineError where the disk of a folder has not enough room for a session of so many rows."""
    wanted = max(LEAST_BYTES, TIMES_RAW * ROW_BYTES * rows)
    free = shutil.disk_usage(folder).free
    if free < wanted:
        raise MachineError(
            f"{free >> 20} MB are free in {folder}, a profiled session of this size may take {wanted >> 20} MB",
            "make room, or have the runs elsewhere: out=/other/disk",
        )
