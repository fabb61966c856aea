"""Options of the fake msprof that choose how and what is exported, or are refused."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing

import pytest

from tests.fakes_cann.apps import LOG, MARKS

pytestmark = pytest.mark.process

# A copy before and an event behind the four kernels of the log, which are 0.1 ms apart.
COPIES = """
put("copy", kind="MEMCPY_ASYNC", stream=2, task=90, host_ns=begin, start_ns=begin, duration_ns=1000)
put("copy", kind="MEMCPY_ASYNC", stream=2, task=91, host_ns=begin, start_ns=begin + 90 * 10**9, duration_ns=1000)
"""


def test_export_writes_tables_as_json_where_asked(machine) -> None:
    machine.collect()
    (prof,) = machine.profs
    machine.run("msprof", "--export=on", f"--output={prof}", "--summary-format=json")
    (path,) = prof.glob("mindstudio_profiler_output/op_summary_*.json")
    (table, other) = machine.table("op_summary")[:2]
    found = json.loads(path.read_text())
    assert found[:2] == [table, other] and len(found) == 4
    assert {re.sub(r"_\d+", "", path.name) for path in prof.glob("mindstudio_profiler_output/*.json")} == {
        "msprof.json", "op_summary.json", "task_time.json", "op_statistic.json", "api_statistic.json",
    }  # fmt: skip


def test_a_collection_writes_csv_whatever_the_format_of_summaries(machine) -> None:
    machine.collect("--summary-format=json")
    assert len(machine.table("op_summary")) == 4


def test_parse_makes_what_export_starts_from_and_no_tables(machine) -> None:
    machine.collect("--clear=on")
    (prof,) = machine.profs
    before = machine.files("")
    done = machine.run("msprof", "--parse=on", f"--output={prof}")
    assert done.stdout == f"[INFO] Start parse data in {prof.name}.\n[INFO] Parse all data in {prof.name} done.\n"
    assert (prof / "device_0" / "sqlite" / "ascend_task.db").is_file() and machine.files("") == before


def test_parse_of_a_folder_without_data_says_so(machine) -> None:
    (machine.folder / "PROF_000001_1_A").mkdir()
    done = machine.run("msprof", "--parse=on", "--output=.")
    assert done.returncode == 0 and "[ERROR] No valid profiling data" in done.stdout and "done" not in done.stdout


def test_query_prints_the_table_of_a_folder(machine) -> None:
    machine.collect(APP_DEVICE="3")
    said = machine.run("msprof", "--query=on", "--output=out").stdout.splitlines()
    assert [line.split()[0] for line in said[1:4]] == ["Job", "NA", "NA"] and " device_3 " in said[3]


def test_delay_and_duration_hold_for_copies_and_markers_too(machine) -> None:
    app = machine.app(LOG + MARKS + COPIES)
    machine.run("msprof", "--output=out", "--msproftx=on", "--duration=30", "python3", app, "4")
    assert [row["kernel_type"] for row in machine.table("task_time")].count("MEMCPY_ASYNC") == 1
    assert len(machine.table("msprof_tx")) == 3
    machine.run("msprof", "--output=late", "--msproftx=on", "--delay=30", "python3", app, "4")
    names = [path.name for path in machine.folder.glob("late/PROF_*/mindstudio_profiler_output/*.csv")]
    assert not any(name.startswith(("op_summary", "msprof_tx")) for name in names)


def test_task_time_off_leaves_the_device_out_of_the_database(machine) -> None:
    machine.collect("--task-time=off", "--type=db")
    (path,) = machine.profs[0].glob("msprof_*.db")
    with closing(sqlite3.connect(path)) as base:
        found = {name for (name,) in base.execute("SELECT name FROM sqlite_master")}
    assert "NPU_INFO" in found and not found & {"TASK", "COMPUTE_TASK_INFO"}


@pytest.mark.parametrize(
    ("flag", "text"),
    [
        ("--python-path=/no/such", "[ERROR] Argument --python-path /no/such does not exist or permission denied."),
        ("--model-id=x", "[ERROR] Argument --model-id x is invalid, please input a positive integer."),
        ("--delay=1.5", "[ERROR] Argument --delay 1.5 is invalid, please input a positive integer."),
        ("--task-block=on", "[ERROR] Argument --task-block on is not supported on this platform."),
    ],
)
def test_values_that_cannot_be_are_refused(machine, flag, text) -> None:
    done = machine.collect(flag)
    assert (done.returncode, done.stdout) == (255, text + "\n")


@pytest.mark.parametrize(
    "flag", ["--python-path=python3", "--model-id=1", "--iteration-id=1", "--hccl=on", "--model-execution=on"]
)
def test_what_concerns_graphs_and_parsers_changes_nothing(machine, flag) -> None:
    assert machine.collect(flag).returncode == 0 and len(machine.table("op_summary")) == 4


def test_only_the_newest_chip_takes_task_block(machine) -> None:
    assert machine.collect("--task-block=on", FAKE_CANN_CHIP="950").returncode == 0
