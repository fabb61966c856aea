"""The fake msprof prints, writes and ends as the real one is known to."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.fakes_cann.apps import Machine

pytestmark = pytest.mark.process


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_a_good_run_says_its_steps_in_order_around_what_the_app_says(machine) -> None:
    app = machine.app("import runpy, sys\nprint('the app')\n" + machine.app().read_text())
    done = machine.run("msprof", "--output=out", "python3", app, "3")
    (prof,) = machine.profs
    said = done.stdout.splitlines()
    assert done.returncode == 0 and done.stderr == ""
    assert said[:5] == [
        "[INFO] Start profiling....",
        "the app",
        f"[INFO] Start export data in {prof.name}.",
        f"[INFO] Export all data in {prof.name} done.",
        f"[INFO] Start query data in {prof.name}.",
    ]
    assert said[5].split("  ")[0] == "Job Info" and [line.split()[0] for line in said[6:8]] == ["NA", "NA"]
    assert said[8:] == [
        f"[INFO] Query all data in {prof.name} done.",
        "[INFO] Profiling finished.",
        f"[INFO] Process profiling data complete. Data is saved in {prof}",
    ]


def test_the_tree_has_the_layout_and_names_of_a_release(machine) -> None:
    machine.collect()
    (prof,) = machine.profs
    assert re.fullmatch(r"PROF_000001_\d{17}_[A-R]{16}", prof.name)
    assert sorted(path.name for path in prof.iterdir()) == [
        "device_0", "host", "mindstudio_profiler_log", "mindstudio_profiler_output",
    ]  # fmt: skip
    names = sorted(re.sub(r"_\d{14}\.", "_T.", path.name) for path in (prof / "mindstudio_profiler_output").iterdir())
    assert names == [
        "README.txt", "api_statistic_T.csv", "msprof_T.json", "op_statistic_T.csv", "op_summary_T.csv",
        "task_time_T.csv",
    ]  # fmt: skip


def test_durations_are_those_of_the_log(machine) -> None:
    machine.collect(kernels=5)
    assert [row["Task Duration(us)"] for row in machine.table("op_summary")] == [
        "10.000", "10.020", "10.040", "10.060", "10.080",
    ]  # fmt: skip
