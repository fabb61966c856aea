"""op_summary of msprof: one row a kernel with its device time, shapes and, where they were collected, counters."""

from __future__ import annotations

from pathlib import Path

from msprun.reader import assembly
from msprun.reader.columns import Layout
from msprun.reader.reading import Reading

LAYOUT = Layout(
    table="op_summary",
    roles=assembly.kernel_roles(
        ("opname", "optype", "tasktype"), ("taskstarttime", "starttime"), duration="taskduration"
    ),
    free=("name", "op_type"),
)


def read(folder: Path, extras: bool = True) -> Reading:
    """The kernels of a session's or PROF folder, as KERNELS; without `extras` no counters and no unknown columns."""
    return assembly.read(folder, LAYOUT, assembly.kernels, extras)
