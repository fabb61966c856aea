"""op_summary of all years and chips. The captures are ours, after real ones; what they say is read off them by eye."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from msprun.model.frame import KERNELS
from msprun.reader.op_summary import read

Capture = Callable[[str, str], Path]


def test_three_launches_of_a_mixed_kernel(session: Path, capture: Capture) -> None:
    capture("op_summary", "mix-three-launches.csv")
    reading = read(session)
    assert reading.is_complete and reading.complaints == ()
    kernels = reading.frame
    assert {name: str(kernels.dtypes[name]) for name in KERNELS} == dict(KERNELS)
    assert list(kernels["start_ns"]) == [1790000000000100000, 1790000000078000120, 1790000000155000880]
    assert list(kernels["duration_ns"]) == [71000380, 70808420, 70846720]
    assert set(kernels["name"]) == set(kernels["op_type"]) == {"fused_kernel"}
    assert set(kernels["kind"]) == {"compute"} and set(kernels["task_kind"]) == {"MIX_AIC"}
    assert list(kernels["task"]) == [0, 1, 2] and set(kernels["stream"]) == {1756} and set(kernels["device"]) == {0}
    assert set(kernels["block_num"]) == {256} and set(kernels["mix_block_num"]) == {512}
    assert list(kernels["line"]) == [2, 3, 4]
    assert set(kernels["file"]) == {str(reading.files[0].relative_to(session))}
    assert list(kernels["Task Wait Time(us)"]) == [0, 6899.62, 6192.34]
    assert list(kernels["aiv_total_cycles"]) == [6666439114, 6666151685, 6666235178]
    assert set(kernels["Input Shapes"]) == {None}


def test_every_kind_of_task_is_told_apart(session: Path, capture: Capture) -> None:
    capture("op_summary", "910b-2026-all-kinds.csv")
    kernels = read(session).frame
    assert list(kernels["kind"]) == [
        "compute",
        "compute",
        "compute",
        "ai_cpu",
        "compute",
        "communication",
        "unknown",
    ]
    assert list(kernels["block_num"]) == [40, 24, 20, 1, 0, 0, 1]
    assert list(kernels["mix_block_num"].fillna(-1)) == [0, 0, 40, 0, 0, -1, 0]
    assert list(kernels["stream"].isna()) == [False] * 5 + [True, False]


def test_missing_is_not_zero(session: Path, capture: Capture) -> None:
    """ROCm/rocm-systems#1963: N/A in a column of counters broke the formatting of numbers."""
    capture("op_summary", "910b-2026-all-kinds.csv")
    kernels = read(session).frame
    assert kernels["aicore_time(us)"][0] == 0.0
    assert np.isnan(kernels["aicore_time(us)"][3])
    assert kernels["aic_total_cycles"][0] == 0 and kernels["aic_total_cycles"][3] is pd.NA
    # A scalar's shape is empty, an unknown one is none, an absent input leaves its place empty.
    assert list(kernels["Input Shapes"][:4]) == ["8,8;", "128,64;64,128", None, ""]
    assert list(kernels["HF32 Eligible"][:4]) == ["NO", "YES", "NO", None]


def test_an_unsplit_chip_with_times_since_the_boot(session: Path, capture: Capture) -> None:
    capture("op_summary", "310p-unsplit-boot-time.csv")
    reading = read(session)
    assert reading.complaints == ()
    kernels = reading.frame
    assert list(kernels["start_ns"]) == [1043640017380831, 1043640017480000]
    assert list(kernels["duration_ns"]) == [82110, 15500]
    assert kernels["mix_block_num"].isna().all() and kernels["device"].isna().all()
    assert kernels["memory_bound"][0] == 16.9677 and np.isnan(kernels["memory_bound"][1])


def test_the_only_device_of_the_folder_stands_in_for_a_column(session: Path, capture: Capture) -> None:
    path = capture("op_summary", "310p-unsplit-boot-time.csv")
    (path.parents[1] / "device_3").mkdir()
    assert list(read(session).frame["device"]) == [3, 3]
    (path.parents[1] / "device_4").mkdir()
    assert read(session).frame["device"].isna().all()


def test_names_with_commas_are_put_together_again_and_said(session: Path, capture: Capture) -> None:
    path = capture("op_summary", "names-with-commas.csv")
    reading = read(session)
    kernels = reading.frame
    assert list(kernels["name"]) == [
        "plain",
        "void scale<float, 4>(float*, int)",
        "void copy<half, 8>(half*)",
        "a, b",
        "last",
    ]
    assert list(kernels["op_type"]) == ["plain", "void scale<float, 4>(float*, int)", "Copy", "Odd", "last"]
    assert list(kernels["duration_ns"]) == [1000, 2000, 3000, 4000, 6000]
    assert list(kernels["line"]) == [2, 3, 4, 5, 7]
    assert [(c.code, c.line) for c in reading.complaints] == [
        ("mended", 3), ("mended", 4), ("mended", 5), ("dropped", 6),
    ]  # fmt: skip
    assert not reading.is_complete
    assert str(reading.complaints[3]) == f"{path}:6: a row with 20 cells where the header has 21"


def test_without_extras_the_counters_are_left_out(session: Path, capture: Capture) -> None:
    capture("op_summary", "mix-three-launches.csv")
    lean = read(session, extras=False).frame
    assert "aicore_time(us)" not in lean and "Input Shapes" in lean
    assert lean[list(KERNELS)].equals(read(session).frame[list(KERNELS)])


def test_no_table_is_said(session: Path) -> None:
    reading = read(session)
    assert len(reading.frame) == 0 and list(reading.frame) == list(KERNELS)
    assert [c.code for c in reading.complaints] == ["absent"]
    assert reading.files == () and not reading.is_complete
