"""Columns are found under every name that they have had, and no other table is taken for this one."""

from __future__ import annotations

from pathlib import Path

import pytest

from msprun.reader import kernel_details, op_summary, task_time
from msprun.reader.columns import Column, key, match
from msprun.reader.reading import Complaints

NEEDED = ["Op Name", "Task Type", "Task Start Time(us)", "Task Duration(us)"]


@pytest.fixture
def complaints() -> Complaints:
    return Complaints(Path("op_summary_1.csv"))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Device_id", "Device Id"),
        ("Device Id", "Device ID"),
        ("Task ID", "task_id"),
        ("OP Type", "Op Type"),
        ("Task Start Time", "Task Start Time(us)"),
        (" Start_time(us)\t", "Start Time(us)"),
    ],
)
def test_case_blanks_and_underscores_do_not_tell_columns_apart(one: str, other: str) -> None:
    assert key(one) == key(other)


def test_units_and_suffixes_do() -> None:
    assert len({key(name) for name in ("time(us)", "time(ns)", "time(%)", "aic_time(us)", "time")}) == 4


@pytest.mark.parametrize("block", ["Block Dim", "Block Num", "block_num"])
def test_both_names_of_a_renamed_column_are_known(complaints: Complaints, block: str) -> None:
    header = match([*NEEDED, block, f"Mix {block}"], op_summary.LAYOUT, complaints)
    assert header is not None
    assert (header.index("block_num"), header.index("mix_block_num")) == (4, 5)


def test_the_newer_name_wins_where_both_are_there(complaints: Complaints) -> None:
    header = match([*NEEDED, "Block Dim", "Block Num"], op_summary.LAYOUT, complaints)
    assert header is not None
    assert (header.index("block_num"), header.index("Block Dim")) == (5, 4)


@pytest.mark.parametrize("missing", NEEDED)
def test_a_missing_column_is_named(complaints: Complaints, missing: str) -> None:
    assert match([name for name in NEEDED if name != missing], op_summary.LAYOUT, complaints) is None
    role = {"Op Name": "name", "Task Type": "task_kind"}.get(
        missing, "start_ns" if "Start" in missing else "duration_ns"
    )
    (complaint,) = complaints.all()
    assert complaint.what == f"this is no op_summary table: it has no column for {role}"


def test_no_table_is_taken_for_another(complaints: Complaints) -> None:
    headers = {
        op_summary.LAYOUT: NEEDED,
        kernel_details.LAYOUT: ["Name", "Accelerator Core", "Start Time(us)", "Duration(us)"],
        task_time.LAYOUT: ["kernel_name", "kernel_type", "task_start(us)", "task_time(us)"],
    }
    for mine in headers:
        for other, names in headers.items():
            assert (match(names, mine, complaints) is not None) == (mine is other)


def test_unknown_columns_keep_their_name(complaints: Complaints) -> None:
    header = match([*NEEDED, "vec_exe_ratio", "Wait Time(us)", "NEW Thing", "", ""], op_summary.LAYOUT, complaints)
    assert header is not None and (header.cells, header.blanks) == (7, 2)
    assert header.columns[4:] == (
        Column(index=4, name="vec_exe_ratio", cell="number", is_known=False),
        Column(index=5, name="Task Wait Time(us)", cell="number", is_known=True),
        Column(index=6, name="NEW Thing", cell=None, is_known=False),
    )
