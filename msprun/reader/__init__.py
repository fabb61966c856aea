"""Files of profilers as frames: one module a table. This wing imports pandas, so import it when there is a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from msprun.reader import kernel_details, msprof_tx, op_summary, task_time
from msprun.reader.reading import Reading

READERS: dict[str, Callable[[Path], Reading]] = {
    "op_summary": op_summary.read,
    "task_time": task_time.read,
    "kernel_details": kernel_details.read,
    "msprof_tx": msprof_tx.read,
}
