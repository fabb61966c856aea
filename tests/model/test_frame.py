"""Frames have the columns and types that their schema says, whatever is put in."""

from __future__ import annotations

import pandas as pd
import pytest

from msprun.model.frame import KERNELS, MARKERS, frame

MARK = {
    "message": ["mr|1", None],
    "domain": ["msprun", None],
    "start_ns": [1_790_000_000_000_000_001, 1_790_000_000_000_000_002],
    "end_ns": [1_790_000_000_000_000_003, 1_790_000_000_000_000_004],
    "device_start_ns": [1_790_000_000_000_000_001, None],
    "device_end_ns": [None, None],
    "file": ["a.csv", "a.csv"],
    "line": [2, 3],
}


def test_columns_have_the_types_of_the_schema() -> None:
    made = frame(MARKERS, MARK)
    assert {name: str(kind) for name, kind in made.dtypes.items()} == dict(MARKERS)


def test_nanoseconds_of_today_are_exact_beside_a_gap() -> None:
    made = frame(MARKERS, MARK)
    assert made["device_start_ns"][0] == 1_790_000_000_000_000_001
    assert made["device_start_ns"][1] is pd.NA
    assert made["message"].tolist() == ["mr|1", None]


def test_an_empty_frame_has_its_types() -> None:
    made = frame(KERNELS, {name: [] for name in KERNELS})
    assert {name: str(kind) for name, kind in made.dtypes.items()} == dict(KERNELS)


def test_other_columns_follow_under_their_own_name() -> None:
    made = frame(MARKERS, {"mark_id": [4, 5], **MARK})
    assert list(made) == [*MARKERS, "mark_id"]


def test_a_missing_column_is_named() -> None:
    with pytest.raises(KeyError, match="line"):
        frame(MARKERS, {name: values for name, values in MARK.items() if name != "line"})
