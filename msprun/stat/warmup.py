"""When a side has warmed up."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

WINDOW = 5
STEADY = 0.95


def is_steady(times_us: Sequence[float]) -> bool:
    """The calls no longer get faster: the median of the last five is at least 95 % of that of the five before.

    False below ten calls.
    """
    if len(times_us) < 2 * WINDOW:
        return False
    last = statistics.median(times_us[-WINDOW:])
    before = statistics.median(times_us[-2 * WINDOW : -WINDOW])
    return last >= STEADY * before
