"""Which files are read: one export of one process, all of its parts, in the layouts of all years."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from msprun.reader import op_summary, tree
from tests.reader.conftest import HEADER, PROF, Put, line

OTHER = "PROF_000002_20260605170000000_00004712ABCDEFGH"


def rows(*numbers: int) -> list[str]:
    return [HEADER, *map(line, numbers)]


def read_tasks(folder: Path) -> tuple[list[int], list[str]]:
    """The task numbers that were read, and the codes of the complaints."""
    reading = op_summary.read(folder)
    return reading.frame["task"].tolist(), [c.code for c in reading.complaints]


@pytest.mark.parametrize("inner", ["", PROF, f"{PROF}/mindstudio_profiler_output"])
def test_the_session_the_prof_folder_or_the_output_may_be_named(session: Path, put: Put, inner: str) -> None:
    put(rows(1, 2))
    assert read_tasks(session / inner) == ([1, 2], [])


def test_of_two_exports_the_newer_is_read_and_never_both(session: Path, put: Put) -> None:
    put(rows(1, 2), "op_summary_20260605161737.csv")
    put(rows(1, 2), "op_summary_20260605161640.csv")
    reading = op_summary.read(session)
    assert reading.frame["task"].tolist() == [1, 2]
    assert [path.name for path in reading.files] == ["op_summary_20260605161737.csv"]
    (complaint,) = reading.complaints
    assert complaint.code == "left_out" and complaint.file.name == "op_summary_20260605161640.csv"
    assert reading.is_complete


def test_a_newer_export_with_fewer_rows_gives_way(session: Path, put: Put) -> None:
    put(rows(1, 2), "op_summary_20260605161640.csv")
    put(rows(2), "op_summary_20260605161737.csv")
    assert read_tasks(session) == ([1, 2], ["left_out"])


@pytest.mark.parametrize("newer", [b"", b"Op Name\n", f"{HEADER}\n{line(1)}\n0,2,2,a".encode(), f"{HEADER}\n".encode()])
def test_a_newer_export_that_is_not_whole_gives_way(session: Path, put: Put, newer: bytes) -> None:
    put(rows(1, 2), "op_summary_20260605161640.csv")
    put(newer, "op_summary_20260605161737.csv")
    assert read_tasks(session) == ([1, 2], ["left_out"])


def test_every_part_is_read_in_the_order_of_numbers(session: Path, put: Put) -> None:
    """FAQ of msprof: large tables are cut into slices, each with a head of its own."""
    for number in range(11):
        # Parts of one export may be seconds apart.
        put(rows(number), f"op_summary_slice_{number}_202606051617{10 + number}.csv")
    assert read_tasks(session) == (list(range(11)), [])


def test_a_missing_part_is_said(session: Path, put: Put) -> None:
    for number in (0, 1, 3):
        put(rows(number), f"op_summary_slice_{number}_20260605161737.csv")
    reading = op_summary.read(session)
    assert reading.frame["task"].tolist() == [0, 1, 3]
    (complaint,) = reading.complaints
    assert complaint.code == "missing_part" and complaint.what == "part 2 of op_summary is not there"
    assert not reading.is_complete


def test_a_full_last_part_misses_its_successor(session: Path, put: Put, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree, "SLICE_ROWS", 2)
    put(rows(1, 2), "op_summary_slice_0_20260605161737.csv")
    put(rows(3, 4), "op_summary_slice_1_20260605161737.csv")
    assert read_tasks(session)[1] == ["missing_part"]
    put(rows(3), "op_summary_slice_1_20260605161737.csv")
    assert read_tasks(session) == ([1, 2, 3], [])


def test_two_sliced_exports_are_not_mixed(session: Path, put: Put) -> None:
    for stamp in ("20260605161737", "20260605171737"):
        put(rows(1), f"op_summary_slice_0_{stamp}.csv")
        put(rows(2), f"op_summary_slice_1_{stamp}.csv")
    assert read_tasks(session) == ([1, 2], ["left_out"])


def test_a_sliced_export_with_a_gap_gives_way_to_a_whole_one(session: Path, put: Put) -> None:
    put(rows(1, 2), "op_summary_20260605161640.csv")
    put(rows(2), "op_summary_slice_1_20260605161737.csv")
    assert read_tasks(session) == ([1, 2], ["left_out"])


def test_of_two_processes_the_one_with_the_kernels_is_read(session: Path, put: Put) -> None:
    put(rows(1, 2, 3))
    put(rows(9), prof=OTHER)  # a helper that used the device for a moment, begun later
    reading = op_summary.read(session)
    assert reading.frame["task"].tolist() == [1, 2, 3]
    assert [(c.code, PROF in str(c.file)) for c in reading.complaints] == [("left_out", False)]


def test_of_two_equal_runs_the_later_one_is_read(session: Path, put: Put) -> None:
    put(rows(1, 2))
    put(rows(3, 4), prof=OTHER)
    assert read_tasks(session) == ([3, 4], ["left_out"])


def test_prof_folders_are_listed_by_their_begin(session: Path, put: Put) -> None:
    late = put(rows(1), prof="PROF_000001_20260605170000000_ABCDEFGHIJKLMNOP").parents[1]
    early = put(rows(1), prof="PROF_000002_20260605160000000_00004712ABCDEFGH").parents[1]
    (session / "PLATFORM_20260605160000").mkdir()
    assert tree.profs(session) == (early, late)
    assert tree.profs(late) == (late,)


def test_the_prof_folder_of_torch_npus_profiler_is_read_beside_its_own_tables(session: Path) -> None:
    outer = session / "host_4711_20260605161708478_ascend_pt"
    inner = outer / PROF
    output = inner / "mindstudio_profiler_output"
    output.mkdir(parents=True)
    (output / "op_summary_20260605161737.csv").write_text("".join(f"{entry}\n" for entry in rows(1, 2)))
    assert tree.profs(session) == tree.profs(outer) == (outer, inner)
    for folder in (session, outer):
        assert op_summary.read(folder).frame["task"].tolist() == [1, 2]


def test_the_layout_of_2022_has_a_file_a_device_and_iteration(session: Path) -> None:
    for number, name in enumerate(("op_summary_0_1_1.csv", "op_summary_0_1_2.csv", "op_summary_0_1_10.csv")):
        path = session / PROF / "device_1" / "summary" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        text = "".join(f"{entry.partition(',')[2]}\n" for entry in rows(number))  # no Device_id
        path.write_text(text)
    reading = op_summary.read(session)
    assert reading.frame["task"].tolist() == [0, 1, 2]
    assert set(reading.frame["device"]) == {1}
    assert [path.name for path in reading.files][-1] == "op_summary_0_1_10.csv"
    assert reading.complaints == ()


def test_tables_with_a_longer_name_are_others(session: Path, put: Put) -> None:
    put(rows(1), "op_summary_extra_20260605161737.csv")
    put(rows(2), "op_summary_20260605161737.csv.tmp")
    assert read_tasks(session) == ([], ["absent"])


def test_a_link_out_of_the_folder_is_not_followed(session: Path, put: Put, tmp_path: Path) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("\n".join(rows(1)))
    put(rows(2)).with_name("op_summary_20260605161738.csv").symlink_to(secret)
    assert read_tasks(session) == ([2], ["unreadable"])


def test_a_folder_that_leads_out_is_not_followed(session: Path, tmp_path: Path) -> None:
    output = tmp_path / PROF / "mindstudio_profiler_output"
    output.mkdir(parents=True)
    (output / "op_summary_20260605161737.csv").write_text("\n".join(rows(1)))
    (session / PROF).symlink_to(tmp_path / PROF)
    assert read_tasks(session)[0] == []
    (session / PROF).unlink()
    (session / PROF).mkdir()
    (session / PROF / "mindstudio_profiler_output").symlink_to(output)
    assert read_tasks(session) == ([], ["unreadable", "absent"])


def test_a_link_inside_is_fine_and_one_to_itself_is_not(session: Path, put: Put) -> None:
    path = put(rows(1), "kept.csv")
    path.with_name("op_summary_20260605161737.csv").symlink_to(path)
    path.with_name("op_summary_20260605161738.csv").symlink_to("op_summary_20260605161738.csv")
    assert read_tasks(session) == ([1], ["unreadable"])


def test_folders_and_pipes_of_the_right_name_are_no_tables(session: Path, put: Put) -> None:
    output = put(rows(1)).parent
    (output / "op_summary_20260605161738.csv").mkdir()
    os.mkfifo(output / "op_summary_20260605161739.csv")
    assert read_tasks(session) == ([1], ["unreadable", "unreadable"])
