"""kernel_details of torch_npu.profiler: op_summary under other names, without most of it at Level0."""

from __future__ import annotations

from pathlib import Path

from msprun.reader import assembly
from msprun.reader.columns import Layout
from msprun.reader.reading import Reading

LAYOUT = Layout(
    table="kernel_details",
    roles=assembly.kernel_roles(("name", "type", "acceleratorcore"), ("starttime",), duration="duration"),
    free=("name", "op_type"),
)


def read(folder: Path, extras: bool = True) -> Reading:
    """The kernels of a ..._ascend_pt folder or the one around it, as KERNELS; `extras` as for op_summary."""
    return assembly.read(folder, LAYOUT, assembly.kernels, extras)
