"""The frames that readers hand over: which columns they have, and of which type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

# `name`, `op_type`: as the profiler wrote them, None where it wrote none. `kind`: one of KINDS. `task_kind`: the
# profiler's own word. Times are integer nanoseconds of Unix time (very old files: since boot), by start, ascending.
# `file` (relative to the folder that was read) and `line` say where a row stands (line 1 is the header). What a file
# has besides follows under its own name, in today's spelling where that has changed; text there is `object`, whole
# numbers with gaps are `Int64`, others float64 with NaN for a gap.
KERNELS: Mapping[str, str] = {
    "name": "object",
    "op_type": "object",
    "kind": "object",
    "task_kind": "object",
    "start_ns": "int64",
    "duration_ns": "int64",
    "device": "Int64",
    "stream": "Int64",
    "task": "Int64",
    "block_num": "Int64",
    "mix_block_num": "Int64",
    "file": "object",
    "line": "int64",
}
# What a task is for the account: computing on the cores, on the AI CPU, a copy, collective, neither, or not known.
KINDS = ("compute", "ai_cpu", "copy", "communication", "other", "unknown")

# Device times are None (NA) where the marker had no stream or the device's side is missing. By start, ascending.
MARKERS: Mapping[str, str] = {
    "message": "object",
    "domain": "object",
    "start_ns": "int64",
    "end_ns": "int64",
    "device_start_ns": "Int64",
    "device_end_ns": "Int64",
    "file": "object",
    "line": "int64",
}


def frame(schema: Mapping[str, str], columns: Mapping[str, Any]) -> pd.DataFrame:
    """A frame of these columns (arrays or sequences of one length), those of the schema first.

    Raises KeyError where one of them is missing. Arrays that have their type already are not copied.
    """
    ordered = {name: _typed(columns[name], kind) for name, kind in schema.items()}
    ordered |= {name: _own(values) for name, values in columns.items() if name not in schema}
    made: pd.DataFrame = pd.DataFrame(ordered, copy=False)
    return made


def _typed(values: Any, kind: str) -> Any:
    if kind == "Int64":
        return values if isinstance(values, pd.arrays.IntegerArray) else pd.array(values, dtype="Int64")
    return _own(np.asarray(values, dtype=kind))


def _own(values: Any) -> Any:
    """Objects as a Series, since pandas takes a bare array of them for its own type of text where all are text."""
    is_objects = isinstance(values, np.ndarray) and values.dtype == object
    return pd.Series(values, dtype=object, copy=False) if is_objects else values
