"""Everything that goes wrong with the fake msprof when FAKE_CANN_FAULT says so, and nothing but that."""

from __future__ import annotations

import json
import shutil

import pytest

from tests.fakes_cann.apps import Machine, header, rows

pytestmark = pytest.mark.process


def tasks(machine: Machine) -> list[str]:
    return [row["Task ID"] for row in machine.table("op_summary")]


def test_an_export_that_fails_ends_with_0_and_works_when_it_is_repeated(machine) -> None:
    done = machine.collect(FAKE_CANN_FAULT="export_fails")
    (prof,) = machine.profs
    assert done.returncode == 0 and f"[ERROR] Export data in {prof.name} failed." in done.stdout
    assert machine.files("op_summary") == [] and "Profiling finished." in done.stdout
    again = machine.run("msprof", "--export=on", f"--output={prof}", FAKE_CANN_FAULT="export_fails")
    assert again.returncode == 0 and len(machine.table("op_summary")) == 4


def test_an_export_may_fail_as_often_as_is_asked(machine) -> None:
    machine.collect(FAKE_CANN_FAULT="export_fails:2")
    words = ["msprof", "--export=on", "--output=out"]
    assert "failed" in machine.run(*words, FAKE_CANN_FAULT="export_fails:2").stdout
    assert "done" in machine.run(*words, FAKE_CANN_FAULT="export_fails:2").stdout


@pytest.mark.parametrize(
    ("fault", "left"),
    [
        ("lost_head:2", ["2", "3", "4", "5"]), ("lost_tail:1", ["0", "1", "2", "3", "4"]), ("lost_tail:9", []),
        ("lost_row", ["0", "1", "2", "4", "5"]), ("lost_row:1", ["0", "2", "3", "4", "5"]),
    ],
)  # fmt: skip
def test_rows_are_lost_in_every_table(machine, fault, left) -> None:
    machine.collect(kernels=6, FAKE_CANN_FAULT=fault)
    assert (tasks(machine) if left else machine.files("op_summary")) == left
    kernels = [row["task_id"] for row in machine.table("task_time") if row["kernel_name"] != "N/A"]
    assert kernels == left


def test_a_file_is_empty_or_has_only_its_head_or_is_missing_or_torn(machine) -> None:
    whole = "op_summary"
    for fault in ("csv_empty", "csv_header_only", "csv_missing", "csv_torn"):
        shutil.rmtree(machine.folder / "out", ignore_errors=True)
        machine.collect(FAKE_CANN_FAULT=fault)
        texts = [path.read_text() for path in machine.files(whole)]
        assert len(machine.table("task_time")) > 4
        if fault == "csv_missing":
            assert texts == []
        elif fault == "csv_torn":
            assert texts[0].count("\n") == 4 and 10 < len(texts[0].rpartition("\n")[2]) < 160
        else:
            assert texts[0].count("\n") == (1 if fault == "csv_header_only" else 0)


def test_a_fault_of_a_file_can_name_another(machine) -> None:
    machine.collect(FAKE_CANN_FAULT="csv_empty:task_time,csv_missing:op_statistic")
    assert machine.files("task_time")[0].read_text() == "" and machine.files("op_statistic") == []
    assert len(machine.table("op_summary")) == 4


def test_a_comma_in_a_name_shifts_its_row(machine) -> None:
    machine.collect("--ai-core=off", FAKE_CANN_FAULT="shifted_row:1")
    cells = [line.split(",") for line in machine.files("op_summary")[0].read_text().splitlines()]
    # Shapes of these kernels hold two commas each inside their quotes.
    assert [len(line) - len(cells[0]) for line in cells[1:]] == [3, 5, 3, 3]


def test_a_second_export_adds_a_second_set_of_files(machine) -> None:
    machine.collect(FAKE_CANN_FAULT="second_export")
    first, second = machine.files("op_summary")
    assert first.read_text() == second.read_text() and len(machine.files("task_time")) == 2


def test_a_second_export_can_be_the_shorter_one(machine) -> None:
    machine.collect(FAKE_CANN_FAULT="second_export:short")
    assert [len(rows(path)) for path in machine.files("op_summary")] == [4, 2]


def test_a_folder_of_a_stranger_lies_behind_ours(machine) -> None:
    done = machine.collect(FAKE_CANN_NAMES="new", FAKE_CANN_FAULT="extra_prof:77")
    ours, other = machine.profs
    assert other.name[29:38] == "_00000077"
    assert json.loads((other / "host" / "info.json").read_text())["pid"] == "77"
    assert f"saved in {ours}" in done.stdout and f"saved in {other}" not in done.stdout
    assert len(list(other.glob("mindstudio_profiler_output/op_summary_*.csv"))) == 1


def test_markers_can_be_missing_or_know_the_host_alone(machine) -> None:
    machine.marked(FAKE_CANN_FAULT="msprof_tx_host_only")
    assert {row["Device Start_time(us)"] for row in machine.table("msprof_tx")} == {"N/A"}
    assert all(row["Start_time(us)"].endswith("\t") for row in machine.table("msprof_tx"))
    shutil.rmtree(machine.folder / "out")
    machine.marked(FAKE_CANN_FAULT="no_msprof_tx")
    assert machine.files("msprof_tx") == [] and len(machine.table("op_summary")) == 4


def test_a_toolkit_can_be_too_old_for_markers(machine) -> None:
    done = machine.marked(FAKE_CANN_FAULT="no_msproftx")
    assert done.returncode == 255 and done.stdout.startswith("[ERROR] unrecognized option '--msproftx=on'")
    assert machine.collect(FAKE_CANN_FAULT="no_msproftx").returncode == 0


def test_a_full_disk_leaves_an_empty_host_folder(machine) -> None:
    done = machine.collect(FAKE_CANN_FAULT="disk_full")
    (prof,) = machine.profs
    assert done.returncode == 0 and "No space left on device" in done.stdout
    assert list((prof / "host").iterdir()) == [] and machine.files("op_summary") == []
    again = machine.run("msprof", "--export=on", f"--output={prof}")
    assert again.returncode == 0 and "[ERROR] No valid profiling data" in again.stdout


def test_facts_of_the_device_can_be_missing(machine) -> None:
    machine.collect(FAKE_CANN_FAULT="no_info")
    assert list(machine.profs[0].rglob("info.json*")) == [] and len(machine.table("op_summary")) == 4


def test_faults_of_the_device_mean_nothing_to_msprof(machine) -> None:
    done = machine.collect(FAKE_CANN_FAULT="exit:3:before@once,low_clock:800,lost_head:1@collecting")
    assert done.returncode == 0 and tasks(machine) == ["1", "2", "3"]
    assert header(machine.files("op_summary")[0])[0] == "Device_id"


def test_a_fault_of_once_strikes_the_first_session_and_stays_with_its_data(machine) -> None:
    machine.collect(FAKE_CANN_FAULT="lost_head:1@once")
    first = machine.profs[0]
    machine.run("msprof", "--export=on", f"--output={first}")
    assert {path.read_text().count("\n") for path in machine.files("op_summary")} == {4}
    shutil.rmtree(first)
    machine.collect(FAKE_CANN_FAULT="lost_head:1@once")
    assert tasks(machine) == ["0", "1", "2", "3"]
