"""msprof_tx: markers on the host, with a stream on the device too."""

from __future__ import annotations

import pandas as pd

from msprun.model.frame import MARKERS
from msprun.reader.msprof_tx import read


def test_device_times_are_there_only_with_a_stream(session, capture) -> None:
    capture("msprof_tx", "with-and-without-stream.csv")
    reading = read(session)
    marks = reading.frame
    assert {name: str(marks.dtypes[name]) for name in MARKERS} == dict(MARKERS)
    assert list(marks["message"]) == ["mr|7", "of, the, user", "no device", "mr|8"]
    assert list(marks["domain"]) == ["msprun", "default", None, "msprun"]
    assert list(marks["start_ns"]) == [
        1790000000000100000, 1790000000000250000, 1790000000000260000, 1790000000000300000,
    ]  # fmt: skip
    assert marks["end_ns"][0] == 1790000000000200500
    assert marks["device_start_ns"].tolist() == [1790000000000101020, 1790000000000251000, pd.NA, pd.NA]
    assert marks["device_end_ns"].tolist() == [1790000000000199980, 1790000000000251000, pd.NA, pd.NA]
    assert list(marks["mark_id"]) == [1, 3, 4, 2]
    assert [(c.code, c.line) for c in reading.complaints] == [("mended", 4)]
