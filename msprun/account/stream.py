"""The rows of a session as arrays, in the order in which they started."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from msgspec import Struct

from msprun.model.call import Identity

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
COMPUTE, AI_CPU, COPY, OTHER, UNKNOWN = range(5)
_ROLES = {"compute": COMPUTE, "ai_cpu": AI_CPU, "copy": COPY, "communication": OTHER, "other": OTHER}
_SHAPES, _CONTEXT = "Input Shapes", "Context ID"
_IDENTITY = ("name", "op_type", _SHAPES, "task_kind", "block_num")
# What orders rows of one start and one identity, whatever order they came in.
_ORDER = ("task", "stream", "duration_ns")


class Kernel(Struct, frozen=True, kw_only=True):
    """What ran, by all that tells launches of one name apart; None is what the profiler did not write."""

    name: str | None
    op_type: str | None
    input_shapes: str | None
    task_kind: str | None
    block_num: int | None

    def is_known_as(self, identity: Identity) -> bool:
        return (self.name, self.op_type, self.input_shapes) == (identity.name, identity.op_type, identity.input_shapes)


class Stream(Struct, frozen=True, kw_only=True):
    """Rows by start, times in ns. `code` is a place in `what`, `device` -1 where none is written."""

    start: Ints
    duration: Ints
    role: Ints
    code: Ints
    device: Ints
    what: tuple[Kernel, ...]

    @property
    def is_kernel(self) -> Flags:
        """Rows that count."""
        return self.role <= AI_CPU

    @property
    def end(self) -> Ints:
        return self.start + self.duration

    def where(self, wanted: Flags) -> Stream:
        """The rows that are wanted."""
        return Stream(
            start=self.start[wanted], duration=self.duration[wanted], role=self.role[wanted], code=self.code[wanted],
            device=self.device[wanted], what=self.what,
        )  # fmt: skip

    def matches(self, identity: Identity) -> Flags | None:
        """Rows of this identity; None where the records tell no shapes, so that it cannot be known."""
        if all(kernel.input_shapes is None for kernel in self.what):
            return None
        return np.array([kernel.is_known_as(identity) for kernel in self.what], dtype=bool)[self.code]


def stream(kernels: pd.DataFrame) -> Stream:
    """The rows of a KERNELS frame, in any order; a MIX kernel that stands there twice is taken once."""
    rows = _once(kernels)
    identity = _identity(rows)
    order = np.lexsort([identity, *(_numbers(rows[name]) for name in _ORDER), rows["start_ns"].to_numpy(np.int64)])
    _, first, code = np.unique(identity[order], return_index=True, return_inverse=True)
    examples = rows.iloc[order[first]]
    return Stream(
        start=rows["start_ns"].to_numpy(dtype=np.int64)[order],
        duration=rows["duration_ns"].to_numpy(dtype=np.int64)[order],
        role=_roles(rows["kind"])[order],
        code=code.astype(np.int64),
        device=_numbers(rows["device"])[order],
        what=tuple(_kernel(*row) for row in zip(*(_column(examples, name) for name in _IDENTITY), strict=True)),
    )


def _once(kernels: pd.DataFrame) -> pd.DataFrame:
    """Databases hold a MIX kernel twice, a row for each kind of core: the longer one is kept."""
    keys = [name for name in ("device", "stream", "task", _CONTEXT, "name", "start_ns") if name in kernels]
    kinds = [kind for kind in kernels["task_kind"].unique() if "MIX" in str(kind)]
    mixed = kernels["task_kind"].isin(kinds) & kernels["task"].notna()
    if not mixed.any():
        return kernels
    rows = kernels.reset_index(drop=True)
    twice = rows[mixed.to_numpy()].sort_values("duration_ns", kind="stable").duplicated(keys, keep="last")
    kept = np.ones(len(rows), dtype=bool)
    kept[twice.index[twice]] = False
    once: pd.DataFrame = rows[kept]
    return once


def _kernel(name: Any, op_type: Any, shapes: Any, task_kind: Any, blocks: Any) -> Kernel:
    name, op_type, shapes, task_kind = (
        None if pd.isna(cell) else str(cell) for cell in (name, op_type, shapes, task_kind)
    )
    # torch_npu writes shapes with quotes inside of the cell.
    shapes = None if shapes is None else shapes.strip('"')
    block_num = None if pd.isna(blocks) else int(blocks)
    return Kernel(name=name, op_type=op_type, input_shapes=shapes, task_kind=task_kind, block_num=block_num)


def _column(rows: pd.DataFrame, name: str) -> Any:
    """A column, or one without values where the table has no such column."""
    return rows[name] if name in rows else pd.Series(None, index=rows.index, dtype="object")


def _roles(kind: pd.Series[Any]) -> Ints:
    codes, words = pd.factorize(kind)
    return np.array([*(_ROLES.get(str(word), UNKNOWN) for word in words), UNKNOWN], dtype=np.int64)[codes]


def _identity(rows: pd.DataFrame) -> Ints:
    """A number for each row, the same for what is the same: numbers of the columns' values as digits."""
    made = np.zeros(len(rows), dtype=np.int64)
    for name in _IDENTITY:
        codes, values = pd.factorize(_column(rows, name), sort=True)
        made = made * (len(values) + 1) + codes + 1
    return made


def _numbers(column: pd.Series[Any]) -> Ints:
    """Whole numbers, -1 for a missing one."""
    return column.astype("Int64").to_numpy(dtype=np.int64, na_value=-1)
