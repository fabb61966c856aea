"""msprof_tx of msprof: the markers that an application set, on the host and, with a stream, on the device."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from msprun.model.frame import MARKERS, frame
from msprun.reader import arrays, assembly
from msprun.reader.columns import Layout, Role
from msprun.reader.reading import Complaints, Reading
from msprun.reader.table import Columns

LAYOUT = Layout(
    table="msprof_tx",
    roles=(
        Role(role="message", cell="text", names=("message",), is_needed=True),
        Role(role="domain", cell="text", names=("domain",)),
        Role(role="start_ns", cell="time", names=("starttime",), is_needed=True),
        Role(role="end_ns", cell="time", names=("endtime",), is_needed=True),
        Role(role="device_start_ns", cell="time", names=("devicestarttime",)),
        Role(role="device_end_ns", cell="time", names=("deviceendtime",)),
    ),
    free=("message",),
)


def read(folder: Path, extras: bool = True) -> Reading:
    """The markers of a session's or PROF folder, as MARKERS."""
    return assembly.read(folder, LAYOUT, _markers, extras)


def _markers(found: Columns, origin: assembly.Origin, complaints: Complaints) -> pd.DataFrame:
    rows = len(found.lines)
    domain = found.texts.get("domain", arrays.Texts((), np.full(rows, -1, dtype=np.int32)))
    values = {
        "message": assembly.words(found.texts["message"]),
        "domain": assembly.words(domain),
        "start_ns": found.times["start_ns"],
        "end_ns": found.times["end_ns"],
    }
    for role in ("device_start_ns", "device_end_ns"):
        times, has = found.times.get(role), found.has.get(role)
        # Where the device has no time, some write 0, which is 1970.
        numbers = None if times is None or has is None else arrays.Numbers(times, has & (times != 0), ())
        values[role] = assembly.gaps(numbers, rows)
    return frame(MARKERS, values | assembly.rest(found, origin, set(MARKERS)))
