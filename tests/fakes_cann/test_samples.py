"""Sampled counters of the fake msprof: which cores were busy when, by hand from kernels of known times and blocks."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.fakes_cann.apps import Machine, header, rows

pytestmark = pytest.mark.process

# Writes the log of one process of so many milliseconds with the kernels of its first argument.
APP = """
import json, os, sys, time

kernels, ms = json.loads(sys.argv[1]), int(sys.argv[2])
physical, begin = int(os.environ.get("APP_PHYSICAL", "4")), time.time_ns()
records = [dict(t="process", pid=os.getpid(), device=1, physical=physical, start_ns=begin,
    session=os.environ["FAKE_CANN_SESSION"])]
for number, (kind, at, lasts, blocks, others, mhz) in enumerate(kernels):
    start = begin + int(at * 1e6)
    records.append(dict(t="kernel", name="k%d" % number, op_type="K", kind=kind, stream=2, task=number, host_ns=start,
        start_ns=start, duration_ns=int(lasts * 1e6), block_num=blocks, mix_block_num=others, inputs='"2"',
        dtypes="FLOAT", mhz=mhz))
records.append(dict(t="exit", code=None, host_ns=begin + ms * 1000000))
with open(os.path.join(os.environ["FAKE_CANN_STATE"], "device-%d.jsonl" % os.getpid()), "a") as file:
    file.write("".join(json.dumps(record) + chr(10) for record in records))
print("begin", begin)
"""
CUBE, VECTOR, MIX = "AI_CORE", "AI_VECTOR_CORE", "MIX_AIC"
# 50 ms on 24 cube cores from 20 ms on; the launch on the device takes the first 1.5 us, as in all tables.
LONG = (CUBE, 20, 50, 24, 0, 1800)
PIPES = "vec_ratio,mac_ratio,scalar_ratio,mte1_ratio,mte2_ratio,mte3_ratio,icache_miss_rate,memory_bound"
CUBE_PIPES = "mac_ratio,scalar_ratio,mte1_ratio,mte2_ratio,fixpipe_ratio,icache_miss_rate"
FEW = "mac_fp16_ratio,mac_int8_ratio,cube_fops"
MEMORY = (
    "ub_read_bw(GB/s),ub_write_bw(GB/s),l1_read_bw(GB/s),l1_write_bw(GB/s),l2_read_bw(GB/s),l2_write_bw(GB/s),"
    "main_mem_read_bw(GB/s),main_mem_write_bw(GB/s)"
)
ACCESS = (
    "read_main_memory_datas(KB),write_main_memory_datas(KB),gm_to_l1_datas(KB),l0c_to_l1_datas(KB),l0c_to_gm_datas(KB),"
    "gm_to_ub_datas(KB),ub_to_gm_datas(KB)"
)


class Sampled(Machine):
    """A machine on which one sampled process ran; its device is the process' device 1."""

    begin_ns = 0

    def sample(self, kernels: list[tuple], *flags: str, ms: int = 95, **environ: str) -> Sampled:
        """Run msprof over a process of so many ms."""
        words = ["msprof", "--output=out", "--aic-mode=sample-based", *flags, "python3", self.app(APP)]
        done = self.run(*words, json.dumps(kernels), str(ms), **environ)
        assert done.returncode == 0, done.stdout
        self.begin_ns = next(int(line.split()[1]) for line in done.stdout.splitlines() if line.startswith("begin"))
        return self

    def base(self, name: str) -> Path:
        return self.profs[0] / "device_1" / "sqlite" / name

    def ask(self, name: str, query: str) -> list[tuple[Any, ...]]:
        """The answer of one of the intermediate databases."""
        with closing(sqlite3.connect(self.base(name))) as base:
            return base.execute(query).fetchall()

    def cycles(self, name: str) -> list[list[int]]:
        """What each core counted, by reading."""
        found: dict[int, list[int]] = {}
        query = "SELECT coreid, task_cyc FROM AICoreOriginalData ORDER BY coreid, timestamp"
        for core, cycles in self.ask(name, query):
            found.setdefault(core, []).append(int(cycles))
        return list(found.values())


@pytest.fixture
def machine(tmp_path: Path) -> Sampled:
    return Sampled(tmp_path)


def test_a_kernel_on_all_cores_is_in_the_five_readings_that_it_lasts(machine) -> None:
    machine.sample([LONG])
    # 95 ms at 100 Hz are ten readings; 10 ms at 1800 MHz are 18 000 000 cycles.
    readings = [0, 0, 18_000_000 - 2700, *[18_000_000] * 4, 0, 0, 0]
    assert machine.cycles("aicore.db") == [readings] * 24
    assert machine.cycles("ai_vector_core.db") == [[0] * 10] * 48


def test_cube_kernels_are_not_in_the_vector_cores_database_nor_the_other_way_round(machine) -> None:
    machine.sample([(VECTOR, 20, 50, 24, 0, 1800)])
    assert machine.cycles("aicore.db") == [[0] * 10] * 24
    busy = [sum(reading > 0 for reading in core) for core in machine.cycles("ai_vector_core.db")]
    assert busy == [5] * 24 + [0] * 24


def test_blocks_that_do_not_fill_the_last_round_leave_cores_idle_in_it(machine) -> None:
    machine.sample([(CUBE, 0, 40.0015, 36, 0, 1000)])
    # Two rounds of 20 ms; the second one has twelve blocks.
    assert [sum(core) for core in machine.cycles("aicore.db")] == [40_000_000] * 12 + [20_000_000] * 12


def test_mixed_kernels_are_on_both_sides(machine) -> None:
    machine.sample([(MIX, 20, 10.0015, 8, 16, 1800)])
    assert [sum(core) for core in machine.cycles("aicore.db")] == [18_000_000] * 8 + [0] * 16
    assert [sum(core) for core in machine.cycles("ai_vector_core.db")] == [18_000_000] * 16 + [0] * 32


def test_short_kernels_add_up_in_one_reading_whatever_was_lost_of_them(machine) -> None:
    kernels = [(CUBE, 31 + number, 0.01, 24, 0, 800) for number in range(3)]
    machine.sample(kernels, FAKE_CANN_FAULT="lost_head:2")
    assert machine.cycles("aicore.db") == [[0, 0, 0, 3 * 8500 * 800 // 1000, 0, 0, 0, 0, 0, 0]] * 24
    assert len(machine.table("op_summary")) == 1


def test_the_frequency_is_that_of_the_command_line(machine) -> None:
    machine.sample([LONG], "--aic-freq=50")
    assert machine.cycles("aicore.db") == [[0, 36_000_000 - 2700, 36_000_000, 18_000_000, 0]] * 24


def test_delay_and_duration_leave_the_readings_between(machine) -> None:
    kernels = [(CUBE, 100, 50, 24, 0, 1800), (CUBE, 2500, 50, 24, 0, 1800)]
    machine.sample(kernels, "--duration=1", ms=3000)
    (core, *_) = machine.cycles("aicore.db")
    assert len(core) <= 100 and sum(core) == 90_000_000 - 2700


def test_sampled_counters_are_not_in_op_summary(machine) -> None:
    machine.sample([LONG])
    (row,) = machine.table("op_summary")
    assert list(row)[-1] == "Context ID" and row["Task Duration(us)"] == "50000.000"


@pytest.mark.parametrize("flag", ["--ai-core=off", "--task-time=l0", "--task-time=off"])
def test_without_ai_core_nothing_is_sampled(machine, flag) -> None:
    machine.sample([LONG], flag)
    assert not machine.base("aicore.db").exists()
    assert machine.files("ai_core_utilization") + machine.files("ai_vector_core_utilization") == []


@pytest.mark.parametrize(
    ("chip", "physical", "cubes", "vectors"),
    [
        ("910B2", 5, [(24, range(25))], [(48, range(25, 75))]),
        ("910B4", 5, [(20, range(25))], [(40, range(25, 75))]),
        ("A3", 4, [(24, range(25))], [(48, range(25, 75))]),
        ("A3", 5, [(24, range(32768, 32793))], [(48, range(32793, 32843))]),
        ("950", 4, [(14, range(18)), (14, range(54, 72))], [(28, range(18, 52)), (28, range(72, 200))]),
    ],
)
def test_cores_are_called_by_their_physical_numbers(machine, chip, physical, cubes, vectors) -> None:
    machine.sample([LONG], FAKE_CANN_CHIP=chip, APP_PHYSICAL=str(physical))
    for name, spans in (("aicore.db", cubes), ("ai_vector_core.db", vectors)):
        found = [core for (core,) in machine.ask(name, "SELECT DISTINCT coreid FROM AICoreOriginalData")]
        assert [sum(core in span for core in found) for _, span in spans] == [count for count, _ in spans]
        assert len(found) == sum(count for count, _ in spans)


def test_unsplit_chips_have_one_kind_of_cores(machine) -> None:
    machine.sample([(CUBE, 20, 50, 8, 0, 1080)], FAKE_CANN_CHIP="310P3")
    assert [sum(core) for core in machine.cycles("aicore.db")] == [1080 * 50_000 - 1620] * 8
    assert not machine.base("ai_vector_core.db").exists() and machine.files("ai_vector_core_utilization") == []
    (path,) = machine.files("ai_core_utilization")
    assert header(path) == f"Device_id,Core ID,{PIPES}".split(",")


@pytest.mark.parametrize(
    ("chip", "group", "cubes", "vectors"),
    [
        ("910B2", "PipeUtilization", CUBE_PIPES, PIPES),
        ("A3", "Memory", MEMORY, MEMORY),
        ("910B2", "MemoryAccess", ACCESS, ACCESS),
        ("950", "ArithmeticUtilization", FEW, FEW),
        ("910B2", "Custom:0x500,7", "0x500,7", "0x500,7"),
    ],
)  # fmt: skip
def test_utilization_has_the_columns_of_its_chip_and_group(machine, chip, group, cubes, vectors) -> None:
    machine.sample([LONG], f"--aic-metrics={group}", FAKE_CANN_CHIP=chip)
    for name, expected in (("ai_core", cubes), ("ai_vector_core", vectors)):
        (path,) = machine.files(f"{name}_utilization")
        assert header(path) == f"Device_id,Core ID,{expected}".split(",")


def test_utilization_is_the_mean_of_events_over_the_busy_cycles_of_each_core(machine) -> None:
    machine.sample([LONG, (CUBE, 75, 10, 6, 0, 1800)])
    counts = machine.ask("aicore.db", "SELECT coreid, task_cyc, r8, ra FROM EventCount ORDER BY coreid")
    *cores, average = machine.table("ai_core_utilization")
    assert [row["Core ID"] for row in cores] == [f"Core{core}" for core, *_ in counts]
    for row, (_, cycles, first, second) in zip(cores, counts, strict=True):
        assert float(row["mac_ratio"]) == pytest.approx(first / cycles, abs=6e-4)
        assert float(row["scalar_ratio"]) == pytest.approx(second / cycles, abs=6e-4)
    # Two kernels on six cores, one of them on the others.
    assert [row["mac_ratio"] != cores[-1]["mac_ratio"] for row in cores] == [True] * 6 + [False] * 18
    assert average["Core ID"] == "Average" and float(average["mac_ratio"]) == pytest.approx(
        sum(float(row["mac_ratio"]) for row in cores) / 24, abs=6e-4
    )


def test_memory_bound_is_made_of_other_columns_and_missing_where_nothing_ran(machine) -> None:
    machine.sample([(VECTOR, 20, 50, 24, 0, 1800)])
    found = machine.table("ai_vector_core_utilization")
    busy, idle = found[0], found[47]
    # Shares have three decimals.
    expected = float(busy["mte2_ratio"]) / max(float(busy["vec_ratio"]), float(busy["mac_ratio"]))
    assert float(busy["memory_bound"]) == pytest.approx(expected, rel=0.02)
    assert (idle["vec_ratio"], idle["memory_bound"]) == ("0.0", "N/A")


def test_amounts_are_sums_over_the_cores(machine) -> None:
    machine.sample([LONG], "--aic-metrics=L2Cache")
    query = "SELECT sum(value) FROM MetricSummary WHERE metric = 'write_cache_hit'"
    ((sampled,),) = machine.ask("aicore.db", query)
    # Counted by itself the same kernel has the same counters.
    (machine.folder / "by-kernel").mkdir()
    by_kernel = Machine(machine.folder / "by-kernel")
    words = ["msprof", "--output=out", "--aic-metrics=L2Cache", "python3", by_kernel.app(APP), json.dumps([LONG])]
    by_kernel.run(*words, "95")
    (row,) = by_kernel.table("op_summary")
    assert sampled == pytest.approx(int(row["aic_write_cache_hit"]), abs=24)


def test_the_database_says_times_in_the_clock_of_the_device_and_counters_as_texts(machine) -> None:
    machine.sample([LONG], FAKE_CANN_CHIP="950")
    query = "SELECT min(timestamp), typeof(task_cyc), typeof(event10), mode, replayid FROM AICoreOriginalData"
    ((first, *kinds),) = machine.ask("aicore.db", query)
    assert kinds == ["text", "text", 1, 0]
    start = json.loads((machine.profs[0] / "device_1" / "start_info.1").read_text())
    unix_ns = first - int(start["clockMonotonicRaw"]) + 1000 * int(start["collectionTimeBegin"])
    assert unix_ns == machine.begin_ns + 10_000_000


def test_sums_and_metrics_are_in_tables_of_their_own(machine) -> None:
    machine.sample([LONG])
    assert machine.ask("aicore.db", "SELECT coreid, sum(pmucount) FROM task_cyc GROUP BY coreid") == machine.ask(
        "aicore.db", "SELECT coreid, task_cyc FROM EventCount"
    )
    times = machine.ask("aicore.db", "SELECT value FROM MetricSummary WHERE metric = 'total_time(ms)'")
    assert times == [(49.9985,)] * 24


def test_clear_takes_the_databases_away_and_a_later_export_brings_them_back(machine) -> None:
    machine.sample([LONG], "--clear=on")
    assert not machine.base("aicore.db").exists() and len(machine.files("ai_core_utilization")) == 1
    machine.run("msprof", "--export=on", "--clear=off", "--output=out")
    assert len(machine.cycles("aicore.db")) == 24 and len(machine.files("ai_vector_core_utilization")) == 2


def test_the_unified_database_has_the_readings_in_unix_time(machine) -> None:
    machine.sample([LONG], "--type=db")
    (path,) = machine.profs[0].glob("msprof_*.db")
    query = (
        "SELECT t.timestampNs, t.totalCycle, t.usage, t.freq, s.value, t.deviceId FROM SAMPLE_PMU_TIMELINE t "
        "JOIN STRING_IDS s ON s.id = t.coreType WHERE t.totalCycle > 0 ORDER BY t.timestampNs"
    )
    with closing(sqlite3.connect(path)) as base:
        found = base.execute(query).fetchall()
        means = base.execute(
            "SELECT s.value, count(*) FROM SAMPLE_PMU_SUMMARY m JOIN STRING_IDS s ON s.id = m.metric "
            "GROUP BY s.value HAVING s.value IN ('fixpipe_ratio', 'vec_ratio', 'mac_ratio') ORDER BY 1"
        ).fetchall()
    assert len(found) == 24 * 5 and machine.files("ai_core_utilization") == []
    assert found[24] == (machine.begin_ns + 40_000_000, 18_000_000, pytest.approx(100.0), 1800, "AIC", 1)
    assert means == [("fixpipe_ratio", 24), ("mac_ratio", 72), ("vec_ratio", 48)]


def test_two_devices_of_a_process_have_their_own_counters(machine) -> None:
    second = APP.replace(
        'records.append(dict(t="exit"',
        'records.append(dict(records[0], device=0, physical=physical + 1))\nrecords[1]["device"] = 0\n'
        'records.append(dict(t="exit"',
    )
    words = ["msprof", "--output=out", "--aic-mode=sample-based", "python3", machine.app(second), json.dumps([LONG])]
    machine.run(*words, "95", FAKE_CANN_CHIP="A3")
    assert machine.cycles("aicore.db") == [[0] * 10] * 24
    with closing(sqlite3.connect(machine.profs[0] / "device_0" / "sqlite" / "aicore.db")) as base:
        query = "SELECT count(*), min(coreid) FROM AICoreOriginalData WHERE CAST(task_cyc AS INTEGER) > 0"
        busy, first = base.execute(query).fetchone()
    assert busy == 24 * 5 and first >= 32768
    (path,) = machine.files("ai_core_utilization")
    assert [row["Device_id"] for row in rows(path)] == ["1"] * 25 + ["0"] * 25
