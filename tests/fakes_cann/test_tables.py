"""The files of the fake msprof: the columns of four families, and figures that equal those of the log."""

from __future__ import annotations

import re
import sqlite3
from decimal import Decimal

import pytest

from tests.fakes_cann.apps import Machine, header, rows

pytestmark = pytest.mark.process

FIXED = (
    "Device_id,Model ID,Task ID,Stream ID,Op Name,OP Type,OP State,Task Type,Task Start Time(us),Task Duration(us),"
    "Task Wait Time(us),Block Num,Mix Block Num,HF32 Eligible,Input Shapes,Input Data Types,Input Formats,"
    "Output Shapes,Output Data Types,Output Formats,Context ID"
)
OLD = FIXED.replace("Block Num", "Block Dim")
UNSPLIT = OLD.replace(",Mix Block Dim", "").replace(",Context ID", "")
ANCIENT = (
    "Model ID,Task ID,Stream ID,Op Name,OP Type,Task Type,Task Start Time,Task Duration(us),Task Wait Time(us),"
    "Block Dim,Input Shapes,Input Data Types,Input Formats,Output Shapes,Output Data Types,Output Formats"
)
PIPE = (
    "aicore_time(us),aic_total_cycles,aic_mac_time(us),aic_mac_ratio,aic_scalar_time(us),aic_scalar_ratio,"
    "aic_mte1_time(us),aic_mte1_ratio,aic_mte2_time(us),aic_mte2_ratio,aic_fixpipe_time(us),aic_fixpipe_ratio,"
    "aic_icache_miss_rate,aiv_time(us),aiv_total_cycles,aiv_vec_time(us),aiv_vec_ratio,aiv_scalar_time(us),"
    "aiv_scalar_ratio,aiv_mte2_time(us),aiv_mte2_ratio,aiv_mte3_time(us),aiv_mte3_ratio,aiv_icache_miss_rate,"
    "cube_utilization(%)"
)
UNSPLIT_PIPE = (
    "aicore_time(us),total_cycles,vec_time(us),vec_ratio,mac_time(us),mac_ratio,scalar_time(us),scalar_ratio,"
    "mte1_time(us),mte1_ratio,mte2_time(us),mte2_ratio,mte3_time(us),mte3_ratio,icache_miss_rate,memory_bound"
)
MEMORY = (
    "aicore_time(us),aic_total_cycles,aic_l1_read_bw(GB/s),aic_l1_write_bw(GB/s),aic_main_mem_read_bw(GB/s),"
    "aic_main_mem_write_bw(GB/s),aic_l2_read_bw(GB/s),aic_l2_write_bw(GB/s),aiv_time(us),aiv_total_cycles,"
    "aiv_ub_read_bw(GB/s),aiv_ub_write_bw(GB/s),aiv_main_mem_read_bw(GB/s),aiv_main_mem_write_bw(GB/s),"
    "aiv_l2_read_bw(GB/s),aiv_l2_write_bw(GB/s)"
)
CONFLICT = (
    "aicore_time(us),aic_total_cycles,aiv_time(us),aiv_total_cycles,aiv_vec_bankgroup_cflt_ratio,"
    "aiv_vec_bank_cflt_ratio,aiv_vec_resc_cflt_ratio"
)
TASK_TIME = "Device_id,kernel_name,kernel_type,stream_id,task_id,task_time(us),task_start(us),task_stop(us)"
OP_STATISTIC = "Device_id,OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),Ratio(%)"
API_STATISTIC = "Device_id,Level,API Name,Time(us),Count,Avg(us),Min(us),Max(us),Variance"
MSPROF_TX = (
    "Device_id,pid,tid,category,event_type,payload_type,payload_value,Start_time(us),End_time(us),message_type,message,"
    "domain,mark_id,Device Start_time(us),Device End_time(us)"
)


def columns(machine: Machine, name: str) -> list[str]:
    (path,) = machine.files(name)
    return header(path)


@pytest.mark.parametrize(
    ("chip", "cann", "group", "expected"),
    [
        ("910B2", "8.3", "PipeUtilization", f"{OLD},{PIPE}"),
        ("A3", "9.0", "PipeUtilization", f"{FIXED},{PIPE}"),
        ("310P3", "8.3", "PipeUtilization", f"{UNSPLIT},{UNSPLIT_PIPE}"),
        ("310P3", "6.3", "PipeUtilization", f"{ANCIENT},{UNSPLIT_PIPE}"),
        ("910B4", "9.0", "Memory", f"{FIXED},{MEMORY}"),
        ("910B2", "8.3", "ResourceConflictRatio", f"{OLD},{CONFLICT}"),
        ("950", "9.0", "ArithmeticUtilization", f"{FIXED},aicore_time(us),aic_total_cycles,aic_mac_fp16_ratio,"
         "aic_mac_int8_ratio,aic_cube_fops,aiv_time(us),aiv_total_cycles"),
        ("910B2", "8.3", "Custom:0x500,7", f"{OLD},aicore_time(us),aic_total_cycles,aic_0x500,aic_7,aiv_time(us),"
         "aiv_total_cycles,aiv_0x500,aiv_7"),
    ],
)  # fmt: skip
def test_op_summary_has_the_columns_of_its_chip_release_and_group(machine, chip, cann, group, expected) -> None:
    machine.collect(f"--aic-metrics={group}", FAKE_CANN_CHIP=chip, FAKE_CANN_CANN=cann)
    assert columns(machine, "op_summary") == expected.split(",")


def test_without_ai_core_there_are_no_counters(machine) -> None:
    machine.collect("--ai-core=off")
    assert columns(machine, "op_summary") == OLD.split(",")


@pytest.mark.parametrize("name", ["910b2-cann83rc2-mixaic-3launches", "910b2-cann83rc2-mixaic-1launch-800mhz"])
def test_columns_of_op_summary_are_those_of_a_real_910b2(machine, samples, name) -> None:
    machine.collect()
    assert columns(machine, "op_summary") == header(samples / "op_summary" / f"{name}.csv")


def test_other_columns_are_those_of_real_files(machine, samples) -> None:
    machine.collect("--runtime-api=on")
    for name, real in (
        ("task_time", "task_time/910b2-cann83rc2-1launch"),
        ("op_statistic", "op_statistic/910b2-cann83rc2-1launch"),
        ("api_statistic", "api_statistic/910b2-cann83rc2-3launches-a"),
    ):
        assert columns(machine, name) == header(samples / f"{real}.csv")
    machine.collect(FAKE_CANN_CHIP="310P3", FAKE_CANN_CANN="6.3")
    assert header(machine.files("op_summary")[-1]) == header(samples / "op_summary" / "unsplit-aicore-310p-style.csv")


def test_columns_of_the_other_tables(machine) -> None:
    machine.marked("--runtime-api=on")
    found = {name: columns(machine, name) for name in ("task_time", "op_statistic", "api_statistic", "msprof_tx")}
    expected = {"task_time": TASK_TIME, "op_statistic": OP_STATISTIC, "api_statistic": API_STATISTIC}
    assert found == {name: text.split(",") for name, text in {**expected, "msprof_tx": MSPROF_TX}.items()}
    levels = {row["Level"] for row in machine.table("api_statistic")}
    assert levels == {"runtime", "acl", "node"}


def test_op_summary_says_what_the_log_says(machine) -> None:
    machine.collect(kernels=5)
    found = machine.table("op_summary")
    assert [row["Task Duration(us)"] for row in found] == ["10.000", "10.020", "10.040", "10.060", "10.080"]
    assert [row["Task Wait Time(us)"] for row in found] == ["0", "90.000000", "89.980000", "89.960000", "89.940000"]
    assert all(re.fullmatch(r"\d{16}\.\d{3}\t", row["Task Start Time(us)"]) for row in found)
    starts = [Decimal(row["Task Start Time(us)"].strip()) for row in found]
    assert [b - a for a, b in zip(starts, starts[1:], strict=False)] == [100] * 4
    assert {row["Model ID"] for row in found} == {"4294967295"}
    assert found[1]["Op Name"] == "aclnnAdd_AddAiCore_1" and found[1]["Task Type"] == "AI_VECTOR_CORE"
    assert found[1]["Input Shapes"] == "2,3;2,3" and '"2,3;2,3",FLOAT;FLOAT,ND;ND,"2,3",FLOAT,ND,' in (
        machine.files("op_summary")[0].read_text()
    )


@pytest.mark.parametrize(
    ("kind", "cube", "vector"), [("AI_CORE", 24, 0), ("AI_VECTOR_CORE", 0, 24), ("MIX_AIC", 24, 48)]
)
def test_counters_fit_the_formula_of_time_cycles_blocks_and_clock(machine, kind, cube, vector) -> None:
    machine.collect(APP_KIND=kind)
    for row in machine.table("op_summary"):
        for blocks, cores, us, cycles in (
            (cube, 24, row["aicore_time(us)"], row["aic_total_cycles"]),
            (vector, 48, row["aiv_time(us)"], row["aiv_total_cycles"]),
        ):
            if not blocks:
                assert (us, cycles) == ("0.0", "0")
                continue
            clock = int(cycles) * -(-blocks // cores) / blocks / float(us)
            assert clock == pytest.approx(1800, rel=1e-3) and float(us) < float(row["Task Duration(us)"])
        share = 1e5 * int(row["aic_total_cycles"]) / (1800 * 24 * 1000 * float(row["Task Duration(us)"]))
        assert float(row["cube_utilization(%)"]) == pytest.approx(share, abs=1e-3)
        assert float(row["aiv_vec_time(us)"]) == pytest.approx(
            float(row["aiv_vec_ratio"]) * float(row["aiv_time(us)"]), abs=2e-3
        )


def test_old_toolkits_call_vector_kernels_ai_core(machine) -> None:
    machine.collect(FAKE_CANN_CANN="6.3")
    found = machine.table("op_summary")
    assert {(row["Task Type"], row["aic_total_cycles"]) for row in found} == {("AI_CORE", "0")}
    assert "KERNEL_AIVEC" in {row["kernel_type"] for row in machine.table("task_time")}


def test_ai_cpu_has_no_counters(machine) -> None:
    machine.collect(APP_KIND="AI_CPU")
    assert {row["aic_total_cycles"] for row in machine.table("op_summary")} == {"N/A"}


def test_task_time_is_longer_and_earlier_and_has_the_profilers_own_rows(machine) -> None:
    machine.collect(kernels=50)
    found, ops = machine.table("task_time"), machine.table("op_summary")
    kinds = [row["kernel_type"] for row in found]
    assert kinds[0] == "PROFILING_ENABLE" and kinds[-1] == "PROFILING_DISABLE"
    assert {"TASK_TIMEOUT_SET", "EVENT_RECORD"} < set(kinds)
    (timeout,) = [row for row in found if row["kernel_type"] == "TASK_TIMEOUT_SET"]
    assert 80 <= float(timeout["task_time(us)"]) <= 94 and timeout["kernel_name"] == "N/A"
    kernels = [row for row in found if row["kernel_name"] != "N/A"]
    assert len(kernels) == 50
    for row, op in zip(kernels, ops, strict=True):
        start, stop = Decimal(row["task_start(us)"].strip()), Decimal(row["task_stop(us)"].strip())
        assert stop - start == Decimal(row["task_time(us)"]) and row["task_start(us)"].endswith("\t")
        assert Decimal("1.7") <= Decimal(row["task_time(us)"]) - Decimal(op["Task Duration(us)"]) <= Decimal("2.6")
        assert Decimal("0.9") <= Decimal(op["Task Start Time(us)"].strip()) - start <= Decimal("1.6")


def test_op_statistic_is_the_sum_of_op_summary(machine) -> None:
    machine.collect(kernels=3)
    assert machine.table("op_statistic") == [
        {
            "Device_id": "0", "OP Type": "Add", "Core Type": "AI_VECTOR_CORE", "Count": "3", "Total Time(us)": "30.06",
            "Min Time(us)": "10", "Avg Time(us)": "10.02", "Max Time(us)": "10.04", "Ratio(%)": "100",
        }
    ]  # fmt: skip


def test_level_l0_knows_times_and_nothing_of_the_host(machine) -> None:
    machine.collect("--task-time=l0")
    found = machine.table("op_summary")
    assert columns(machine, "op_summary") == OLD.split(",") and machine.files("op_statistic") == []
    assert {(row["Op Name"], row["OP Type"], row["Task Type"], row["Input Shapes"]) for row in found} == {("N/A",) * 4}
    assert found[1]["Task Duration(us)"] == "10.020"
    assert {row["kernel_type"] for row in machine.table("task_time")} > {"KERNEL_AIVEC"}


def test_task_time_off_leaves_the_host_alone(machine) -> None:
    machine.collect("--task-time=off")
    assert machine.files("op_summary") + machine.files("task_time") == [] and machine.table("api_statistic")


def test_markers_on_a_stream_have_device_times_behind_the_kernels_before_them(machine) -> None:
    machine.marked()
    first, second, other = machine.table("msprof_tx")
    ops = machine.table("op_summary")
    begin = [Decimal(row["Task Start Time(us)"].strip()) for row in ops]
    end = [at + Decimal(row["Task Duration(us)"]) for at, row in zip(begin, ops, strict=True)]
    times = [[Decimal(row[f"Device {side}_time(us)"].strip()) for side in ("Start", "End")] for row in (first, second)]
    # The host asks for the end of a range before the second kernel in it has begun.
    assert times[0] == [begin[0] - 35, end[1]] and times[1][0] == begin[1] + 65 and times[1][1] == end[3]
    assert [row["message"] for row in (first, second, other)] == ["c1", "c2", "c3"]
    assert (other["Device_id"], other["Device Start_time(us)"]) == ("host", "N/A")
    traces = [row for row in machine.table("task_time") if row["kernel_type"] == "PROFILER_TRACE_EX"]
    assert [Decimal(row["task_start(us)"].strip()) for row in traces] == sorted(times[0] + times[1])


@pytest.mark.parametrize(
    ("flag", "messages"), [("include=msprun", ["c1", "c2"]), ("exclude=msprun,x", ["c3"]), ("include=none", None)]
)
def test_domains_choose_markers(machine, flag, messages) -> None:
    machine.marked(f"--mstx-domain-{flag}")
    if messages is None:
        assert machine.files("msprof_tx") == []
    else:
        assert [row["message"] for row in machine.table("msprof_tx")] == messages


def test_more_rows_than_a_file_takes_are_sliced(machine) -> None:
    machine.collect(kernels=7, FAKE_CANN_SLICE_ROWS="3")
    names = [re.sub(r"\d{14}", "T", path.name) for path in machine.files("op_summary")]
    assert names == [f"op_summary_slice_{n}_T.csv" for n in range(3)]
    assert [len(rows(path)) for path in machine.files("op_summary")] == [3, 3, 1]
    assert [header(path) for path in machine.files("op_summary")] == [header(machine.files("op_summary")[0])] * 3


def test_a_storage_limit_drops_the_oldest_kernels(machine) -> None:
    machine.collect("--storage-limit=200MB", kernels=5, FAKE_CANN_RECORD_BYTES=str(80 << 20))
    assert [row["Task ID"] for row in machine.table("op_summary")] == ["3", "4"]


def test_delay_and_duration_cut_the_session(machine) -> None:
    machine.collect("--delay=60")
    assert machine.files("op_summary") == [] and machine.table("task_time")
    machine.collect("--duration=60")
    assert len(machine.table("op_summary")) == 4


def test_clear_removes_what_the_parser_kept(machine) -> None:
    machine.collect("--clear=on")
    assert not (machine.profs[0] / "device_0" / "sqlite").exists()


@pytest.mark.parametrize(("cann", "blocks", "schema"), [("8.3", "blockDim", "1.0.0"), ("9.0", "blockNum", "1.2.0")])
def test_the_database_joins_names_and_times(machine, cann, blocks, schema) -> None:
    machine.marked("--type=db", FAKE_CANN_CANN=cann)
    (path,) = machine.profs[0].glob("msprof_*.db")
    assert machine.files("op_summary") == []
    base = sqlite3.connect(path)
    found = base.execute(
        f"SELECT s.value, t.endNs - t.startNs, c.{blocks} FROM COMPUTE_TASK_INFO c JOIN TASK t USING (globalTaskId) "
        "JOIN STRING_IDS s ON s.id = c.name ORDER BY t.startNs"
    ).fetchall()
    assert found[:2] == [("aclnnAdd_AddAiCore_0", 10000, 24), ("aclnnAdd_AddAiCore_1", 10020, 24)]
    assert base.execute("SELECT value FROM META_DATA WHERE name = 'SCHEMA_VERSION'").fetchone() == (schema,)
    on_device = "SELECT count(*) FROM MSTX_EVENTS m JOIN TASK t ON t.connectionId = m.connectionId WHERE m.rangeId = 1"
    assert base.execute(on_device).fetchone() == (2,)
    base.close()
