"""From a folder to a reading: the files of a table, their rows as one frame, by start."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from msprun.model.frame import KERNELS, frame
from msprun.reader import arrays, kinds, tree
from msprun.reader.columns import LONGEST_NS, Layout, Role
from msprun.reader.reading import Complaint, Complaints, Reading
from msprun.reader.table import Columns, is_sound, load


class Origin(NamedTuple):
    """What rows do not say themselves: their file, relative to the folder, and its device where there is only one."""

    file: str
    device: int | None


Build = Callable[[Columns, Origin, Complaints], pd.DataFrame]


def kernel_roles(texts: tuple[str, str, str], start: tuple[str, ...], duration: str) -> tuple[Role, ...]:
    """The roles of a table of kernels; `texts` are the spellings, as `key` makes them, of name, type and task type."""
    name, op_type, task_kind = texts
    whole = {
        "device": ("deviceid",),
        "stream": ("streamid",),
        "task": ("taskid",),
        "block_num": ("blocknum", "blockdim"),
        "mix_block_num": ("mixblocknum", "mixblockdim"),
    }
    return (
        Role(role="name", cell="text", names=(name,), is_needed=True),
        Role(role="op_type", cell="text", names=(op_type,)),
        Role(role="task_kind", cell="text", names=(task_kind,), is_needed=True),
        Role(role="start_ns", cell="time", names=start, is_needed=True),
        Role(role="duration_ns", cell="time", names=(duration,), is_needed=True, most_ns=LONGEST_NS),
        *(Role(role=role, cell="whole", names=names) for role, names in whole.items()),
    )


def kernels(found: Columns, origin: Origin, complaints: Complaints) -> pd.DataFrame:
    """Rows as KERNELS."""
    rows = len(found.lines)
    nothing = arrays.Texts((), np.full(rows, -1, dtype=np.int32))
    task_kind = found.texts["task_kind"]
    values: dict[str, Any] = {
        "name": words(found.texts["name"]),
        "op_type": words(found.texts.get("op_type", nothing)),
        "kind": task_kind.array(kinds.kind),
        "task_kind": words(task_kind),
        "start_ns": found.times["start_ns"],
        "duration_ns": found.times["duration_ns"],
        **{role: gaps(found.wholes.get(role), rows) for role in KERNELS if KERNELS[role] == "Int64"},
    }
    if "device" not in found.wholes and origin.device is not None:
        values["device"] = np.full(rows, origin.device)
    return frame(KERNELS, values | rest(found, origin, set(KERNELS)))


def words(found: arrays.Texts) -> Any:
    """Texts as objects; an empty one is none."""
    return found.array(lambda text: text or None)


def gaps(numbers: arrays.Numbers | None, rows: int) -> pd.arrays.IntegerArray:
    """Whole numbers with NA where there is none, all NA where there is no such column."""
    if numbers is None:
        return pd.arrays.IntegerArray(np.zeros(rows, dtype=np.int64), np.ones(rows, dtype=bool))
    return pd.arrays.IntegerArray(numbers.values, ~numbers.has)


def rest(found: Columns, origin: Origin, schema: set[str]) -> dict[str, Any]:
    """Where the rows stand, and what the file has besides the schema."""
    times = {
        role: pd.arrays.IntegerArray(values, ~found.has[role])
        for role, values in found.times.items()
        if role not in schema
    }
    file = np.empty(len(found.lines), dtype=object)
    file.fill(origin.file)
    return {"file": file, "line": found.lines, **times, **found.others}


def read(folder: Path, layout: Layout, build: Build, extras: bool) -> Reading:
    """Read a table of a folder. Whatever the files hold, what is wrong with them is a complaint and no exception."""
    choice = tree.choose(folder, layout.table, partial(is_sound, layout=layout))
    complaints = list(choice.complaints)
    parts: list[pd.DataFrame] = []
    files = () if choice.export is None else choice.export.files
    for path in files:
        heard = Complaints(path)
        found = load(path, layout, extras, heard)
        if found is not None and choice.export is not None:
            origin = Origin(str(path.relative_to(folder)), tree.device_of(path, choice.export.root))
            parts.append(build(found, origin, heard))
        complaints += heard.all()
    if choice.export is not None and choice.export.slices and parts and len(parts[-1]) >= tree.SLICE_ROWS:
        what = f"the last part of {layout.table} is full: the next one is not there"
        complaints.append(Complaint(file=files[-1], line=None, code="missing_part", what=what))
    return Reading(frame=_joined(parts, layout, build), complaints=tuple(complaints), files=files)


def _joined(parts: list[pd.DataFrame], layout: Layout, build: Build) -> pd.DataFrame:
    """The parts as one frame by start; without parts an empty one."""
    if not parts:
        return build(_nothing(layout), Origin("", None), Complaints(Path()))
    joined = parts.pop() if len(parts) == 1 else pd.concat(parts, ignore_index=True)
    starts = joined["start_ns"].to_numpy()
    if len(starts) and (np.diff(starts) < 0).any():
        joined = joined.iloc[np.argsort(starts, kind="stable")].reset_index(drop=True)
    return joined


def _nothing(layout: Layout) -> Columns:
    none, never = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=bool)
    needed = [role for role in layout.roles if role.is_needed]
    return Columns(
        times={role.role: none for role in layout.roles if role.cell == "time"},
        has={role.role: never for role in layout.roles if role.cell == "time"},
        wholes={},
        texts={role.role: arrays.Texts((), np.zeros(0, dtype=np.int32)) for role in needed if role.cell == "text"},
        others={},
        lines=none,
    )
