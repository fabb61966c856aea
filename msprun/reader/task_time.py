"""task_time of msprof: one row a task of the scheduler. Its times are 2 us longer than op_summary's: never mix them."""

from __future__ import annotations

from pathlib import Path

from msprun.reader import assembly
from msprun.reader.columns import Layout, Role
from msprun.reader.reading import Reading

LAYOUT = Layout(
    table="task_time",
    roles=(
        *assembly.kernel_roles(("kernelname", "", "kerneltype"), ("taskstart",), duration="tasktime"),
        Role(role="stop_ns", cell="time", names=("taskstop",)),
    ),
    free=("name",),
)


def read(folder: Path, extras: bool = True) -> Reading:
    """The tasks of a session's or PROF folder, as KERNELS with `stop_ns` (Int64) besides and no operator types."""
    return assembly.read(folder, LAYOUT, assembly.kernels, extras)
