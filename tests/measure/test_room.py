"""Room on disk for a profiled session."""

from __future__ import annotations

import shutil
from collections import namedtuple
from pathlib import Path

import pytest

from msprun.errors import MachineError
from msprun.measure.room import need_room

Usage = namedtuple("Usage", "total used free")


@pytest.mark.parametrize(
    ("rows", "free_mb", "is_enough"),
    [
        (0, 64, True),
        (0, 63, False),
        # 100,000 rows of 256 bytes, twenty times: 488 MB and a bit.
        (100_000, 489, True),
        (100_000, 488, False),
    ],
)
def test_a_session_wants_twenty_times_its_rows(
    rows: int, free_mb: int, is_enough: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """FAQ of msprof: a full disk leaves an empty folder, and only the device's log says so."""
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: Usage(1 << 40, 0, free_mb << 20))
    if is_enough:
        need_room(tmp_path, rows)
        return
    with pytest.raises(MachineError, match=rf"{free_mb} MB are free in {tmp_path}"):
        need_room(tmp_path, rows)
