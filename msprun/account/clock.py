"""The core clock while a side ran, as somebody read it who could know."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

from msprun.model.call import ClockReading

LOW = 0.95


def clock_figures(readings: Sequence[ClockReading], begin_ns: int, end_ns: int) -> dict[str, Any] | None:
    """The median of the readings between two host times, or of the whole session where none was made then.

    None without a reading: the clock is not recorded. Of several sources the first counts.
    """
    mine = [reading for reading in readings if reading.source == readings[0].source]
    during = [reading for reading in mine if reading.at_ns is not None and begin_ns <= reading.at_ns <= end_ns]
    used = during or mine
    if not used:
        return None
    rated = next((reading.rated_mhz for reading in used if reading.rated_mhz), None)
    return {
        "source": used[0].source, "mhz": statistics.median(reading.mhz for reading in used),
        "least_mhz": min(reading.mhz for reading in used), "rated_mhz": rated, "readings": len(used),
        "is_of_these_calls": bool(during),
    }  # fmt: skip


def is_low(clock: dict[str, Any] | None) -> bool:
    """Is the clock 5 % or more below the rated one? Not where one of both is not known."""
    return bool(clock and clock["rated_mhz"] and clock["mhz"] <= LOW * clock["rated_mhz"])
