"""Which call a time belongs to."""

from __future__ import annotations

import numpy as np

from msprun.account.schedule import Split


def test_borders_are_inside_and_empty_calls_get_nothing() -> None:
    split = Split(begin=np.array([10, 0, 30]), end=np.array([20, -1, 40]))
    times = np.array([9, 10, 20, 21, 29, 30, 40, 41])
    assert split.call_of(times).tolist() == [-1, 0, 0, -1, -1, 2, 2, -1]


def test_without_borders_nothing_belongs_anywhere() -> None:
    split = Split(begin=np.array([0]), end=np.array([-1]))
    assert split.call_of(np.array([0, 5])).tolist() == [-1, -1]
