"""l2_cache and aicpu of the fake msprof, which switches of their own call for."""

from __future__ import annotations

import pytest

from tests.fakes_cann.apps import header

pytestmark = pytest.mark.process

L2_CACHE = "Device_id,Stream Id,Task Id,Hit Rate,Victim Rate,Op Name"
AICPU = (
    "Device_id,Timestamp(us),Node,Compute_time(us),Memcpy_time(us),Task_time(us),Dispatch_time(us),Total_time(us),"
    "Stream ID,Task ID"
)


def test_without_their_switches_neither_is_written(machine) -> None:
    machine.collect("--l2=off", "--aicpu=off", APP_KIND="AI_CPU")
    assert machine.files("l2_cache") + machine.files("aicpu") == []


def test_split_chips_lose_the_first_kernel_of_l2_cache_and_know_no_hits(machine) -> None:
    machine.collect("--l2=on", kernels=4)
    found = machine.table("l2_cache")
    assert header(machine.files("l2_cache")[0]) == L2_CACHE.split(",")
    assert [(row["Stream Id"], row["Task Id"], row["Hit Rate"]) for row in found] == [
        ("2", str(task), "N/A") for task in (1, 2, 3)
    ]
    assert [row["Op Name"] for row in found] == [row["Op Name"] for row in machine.table("op_summary")[1:]]
    assert all(0 <= float(row["Victim Rate"]) <= 1 for row in found)


def test_unsplit_chips_have_hit_rates_of_all_kernels(machine) -> None:
    machine.collect("--l2=on", FAKE_CANN_CHIP="310P3", APP_KIND="AI_CORE")
    found = machine.table("l2_cache")
    assert len(found) == 4 and all(0 < float(row["Hit Rate"]) < 1 for row in found)


def test_older_toolkits_write_l2_cache_as_a_real_file_is(machine, samples) -> None:
    machine.collect("--l2=on", FAKE_CANN_CANN="6.3")
    assert header(machine.files("l2_cache")[0]) == header(samples / "l2_cache" / "910b-torchnpu-2025-01-level1.csv")


def test_l2_cache_has_no_names_at_level_l0(machine) -> None:
    machine.collect("--l2=on", "--task-time=l0")
    assert {row["Op Name"] for row in machine.table("l2_cache")} == {"N/A"}


def test_kernels_that_use_no_cores_are_not_in_l2_cache(machine) -> None:
    machine.collect("--l2=on", APP_KIND="AI_CPU")
    assert machine.files("l2_cache") == []


def test_aicpu_parts_the_duration_of_the_kernels_of_the_ai_cpu(machine) -> None:
    machine.collect("--aicpu=on", kernels=3, APP_KIND="AI_CPU")
    found, ops = machine.table("aicpu"), machine.table("op_summary")
    assert header(machine.files("aicpu")[0]) == AICPU.split(",")
    assert [(row["Node"], row["Task ID"]) for row in found] == [(op["Op Name"], op["Task ID"]) for op in ops]
    assert [row["Timestamp(us)"] for row in found] == [op["Task Start Time(us)"] for op in ops]
    assert [row["Total_time(us)"] for row in found] == [op["Task Duration(us)"] for op in ops]
    for row in found:
        compute, memcpy, task, dispatch, total = (
            float(row[f"{name}_time(us)"]) for name in ("Compute", "Memcpy", "Task", "Dispatch", "Total")
        )
        assert 0 < compute + memcpy < task and 0 < dispatch and task + dispatch < total


def test_a_process_without_kernels_of_the_ai_cpu_has_no_aicpu(machine) -> None:
    machine.collect("--aicpu=on")
    assert machine.files("aicpu") == []
