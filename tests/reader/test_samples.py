"""All real captures read; what they should say is read off them with the csv module and whole numbers."""

from __future__ import annotations

import csv
import shutil
from collections import Counter
from decimal import Decimal
from pathlib import Path

import pytest

from msprun.reader import READERS
from msprun.reader.reading import Reading

TABLES = {
    "op_summary": ("Op Name", "OP Type", "Task Type", "Task Start Time", "Task Duration(us)", "Stream ID", "Task ID"),
    "task_time": ("kernel_name", None, "kernel_type", "task_start", "task_time(us)", "stream_id", "task_id"),
    "kernel_details": ("Name", "Type", "Accelerator Core", "Start Time", "Duration(us)", "Stream ID", "Task ID"),
}
# Which of the types in these files are kernels, counted by eye.
KERNELS = {"AI_CORE", "AI_VECTOR_CORE", "MIX_AIC", "MIX_AIV", "DSA_SQE"}


def by_hand(path: Path, table: str) -> list[tuple[object, ...]]:
    """Name, type, task type, start, duration, stream and task of every row, by start."""
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    columns = []
    for wanted in TABLES[table]:
        named = None if wanted is None else next((c for c in rows[0] if c.startswith(wanted)), None)
        columns.append([None if named is None else none(row[named]) for row in rows])
    told = [
        (name, op_type, kind, ns(start), ns(duration), whole(stream), whole(task))
        for name, op_type, kind, start, duration, stream, task in zip(*columns, strict=True)
    ]
    return sorted(told, key=lambda row: row[3])


def none(cell: str) -> str | None:
    return None if cell.strip() in ("N/A", "") else cell.strip()


def ns(cell: str | None) -> int:
    assert cell is not None
    return int(Decimal(cell) * 1000)


def whole(cell: str | None) -> int | None:
    return None if cell is None else int(cell)


def read(sample: Path, table: str, folder: Path) -> Reading:
    name = f"{table}.csv" if table == "kernel_details" else f"{table}_20260605161737.csv"
    shutil.copy(sample, folder / name)
    reading = READERS[table](folder)
    (folder / name).unlink()
    return reading


@pytest.mark.parametrize("table", TABLES)
def test_every_row_of_every_capture(samples: Path, tmp_path: Path, table: str) -> None:
    captures = sorted((samples / table).glob("*.csv"))
    assert captures
    for capture in captures:
        reading = read(capture, table, tmp_path)
        frame = reading.frame
        assert reading.complaints == (), capture.name
        columns = ["name", "op_type", "task_kind", "start_ns", "duration_ns", "stream", "task"]
        plain = frame[columns].astype(object)
        rows = [tuple(row) for row in plain.where(plain.notna(), None).itertuples(index=False)]
        assert rows == by_hand(capture, table), capture.name
        assert {kind for kind, of in zip(frame["task_kind"], frame["kind"], strict=True) if of == "compute"} <= KERNELS


def test_counts_that_the_index_of_the_captures_tells(samples: Path, tmp_path: Path) -> None:
    kernels = samples / "kernel_details"
    frame = read(kernels / "910b-torchnpu-2025-01-level1.csv", "kernel_details", tmp_path).frame
    assert Counter(frame["task_kind"]) == {
        "AI_VECTOR_CORE": 149, "AI_CORE": 23, "MIX_AIV": 13, "DSA_SQE": 2, "HCCL": 4,
    }  # fmt: skip
    assert Counter(frame["kind"]) == {"compute": 187, "communication": 4}
    assert frame["device"].isna().all()
    frame = read(kernels / "910b4-torchnpu-2025-11-cann83rc1-level2.csv", "kernel_details", tmp_path).frame
    attention = frame[frame["op_type"] == "FlashAttentionScore"].iloc[0]
    assert (attention["block_num"], attention["mix_block_num"]) == (20, 40)
    assert attention["Input Shapes"].count(";") == 14
    frame = read(kernels / "910-torchnpu-2023-09-memoryl0.csv", "kernel_details", tmp_path).frame
    assert 1639 in set(frame["block_num"])
    assert set(frame["aic_total_cycles"].dropna()) == {0}


def test_the_clock_of_a_capture_comes_out_of_its_counters(samples: Path, tmp_path: Path) -> None:
    sample = samples / "op_summary" / "910b2-cann83rc2-mixaic-1launch-800mhz.csv"
    row = read(sample, "op_summary", tmp_path).frame.iloc[0]
    # cycles x rounds / blocks / time, with 24 cube cores: 32 blocks are 2 rounds
    assert round(row["aic_total_cycles"] * 2 / row["block_num"] / row["aicore_time(us)"]) == 800
