"""The parts of the fake NPU that need no torch: masks, faults, durations, the clock of its streams."""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from tests.cann import FAKES

PACKAGE = "fake_npu_parts"
ENVIRON = {"FAKE_CANN_NOISE": "0", "FAKE_CANN_QUEUE_US": "0"}


@pytest.fixture
def part(monkeypatch):
    """Imports a module of the package without the package itself, which would import torch."""
    for name, folder in ((PACKAGE, ""), (f"{PACKAGE}.profiler", "profiler"), (f"{PACKAGE}.npu", "npu")):
        package = ModuleType(name)
        package.__path__ = [str(FAKES / "python" / "torch_npu" / folder)]
        monkeypatch.setitem(sys.modules, name, package)
    yield lambda name: importlib.import_module(f"{PACKAGE}.{name}")
    for name in [name for name in sys.modules if name.startswith(PACKAGE + ".")]:
        del sys.modules[name]


class Tensor:
    """As much of a tensor as the model of durations looks at."""

    def __init__(self, *shape: int, dtype: str = "float32", size: int = 4) -> None:
        self.shape = shape
        self.dtype = f"torch.{dtype}"
        self.size = size

    def numel(self) -> int:
        count = 1
        for length in self.shape:
            count *= length
        return count

    def element_size(self) -> int:
        return self.size


@pytest.mark.parametrize(
    ("mask", "devices"),
    [
        (None, [4, 5, 6, 7]),
        ("0,1", [4, 5]),
        ("1,3", [5, 7]),
        ("3,1", []),
        ("1,1", []),
        ("", []),
        ("0-3", []),
        ("1,2-3", [5]),
        ("0, 1", [4]),
        ("2,9", [6]),
    ],
)
def test_a_mask_names_ascending_logic_ids_up_to_the_first_that_is_none(part, mask, devices) -> None:
    assert part("_settings").visible(mask, [4, 5, 6, 7]) == devices


def test_faults_have_arguments_and_conditions(part, tmp_path) -> None:
    faults = part("_faults").Faults(
        "exception:softmax:3@once,low_clock@collecting,prologue@plain", str(tmp_path), False
    )
    assert [fault.name for fault in faults.all] == ["exception", "prologue"]
    fault = faults.first("exception")
    assert (fault.word(0), fault.number(1, 1), fault.number(2, 9)) == ("softmax", 3, 9)
    assert [faults.take(fault), faults.take(fault)] == [True, False]
    assert faults.take(faults.first("prologue")) and faults.take(faults.first("prologue"))


def model(part: Any, chip: str = "910B2", **more: str) -> Any:
    settings = part("_settings").Settings({**ENVIRON, "FAKE_CANN_CHIP": chip, **more})
    return part("_model").Model(settings, 0)


def test_kinds_follow_the_operator_the_dtype_and_the_chip(part) -> None:
    split, whole = model(part), model(part, "310P3")
    wide = Tensor(8, 8, dtype="float64", size=8)
    assert split.kind("add", [Tensor(8)]) == "AI_VECTOR_CORE"
    assert split.kind("mm", [Tensor(8, 8)]) == "AI_CORE"
    assert split.kind("native_layer_norm", [Tensor(8)]) == "MIX_AIV"
    assert split.kind("sort", [Tensor(8)]) == split.kind("mm", [wide]) == "AI_CPU"
    assert {whole.kind(op, [Tensor(8)]) for op in ("add", "mm", "native_layer_norm", "bernoulli_")} == {"AI_CORE"}
    assert whole.kind("add", [wide]) == "AI_CPU"


def test_a_vector_kernel_takes_its_base_and_its_bytes(part) -> None:
    kernel = model(part).of_operator("add", [Tensor(1000, 1000), Tensor(1000, 1000)], [Tensor(1000, 1000)])
    # 2 us and 12 MB at 1.75 TB/s
    assert kernel.duration_us == pytest.approx(2 + 12 / 1.75)
    assert (kernel.op_type, kernel.inputs) == ("Add", ('"1000,1000;1000,1000"', "FLOAT;FLOAT"))
    assert kernel.outputs == ('"1000,1000"', "FLOAT")
    assert kernel.block_num == 48


def test_first_calls_are_cold_counters_and_a_low_clock_cost_time(part) -> None:
    plain = model(part)
    kernel = plain.of_operator("add", [Tensor(8)], [Tensor(8)])._replace(duration_us=10.0)
    assert [plain.real_ns(kernel, False) for _ in range(5)] == [50_000, 30_000, 15_000, 10_000, 10_000]
    assert plain.real_ns(kernel, True) == 16_000
    other = kernel._replace(inputs=('"9"', "FLOAT"))
    assert plain.real_ns(other, False) == 50_000
    low = model(part, FAKE_CANN_FAULT="low_clock:900")
    assert [low.real_ns(kernel, False) for _ in range(4)][-1] == 20_000


def test_noise_is_that_of_the_seed(part) -> None:
    noisy = [model(part, FAKE_CANN_NOISE="0.01", FAKE_CANN_SEED=seed) for seed in ("1", "1", "2")]
    kernel = noisy[0].of_operator("add", [Tensor(8)], [Tensor(8)])._replace(duration_us=1000.0)
    times = [[one.real_ns(kernel, False) for _ in range(200)][3:] for one in noisy]
    assert times[0] == times[1] != times[2]
    assert 0.008 < (sum((ns / 1e6 - 1) ** 2 for ns in times[0]) / len(times[0])) ** 0.5 < 0.012
    assert all(ns % 20 == 0 for ns in times[0])


def timeline(part: Any, queue_ns: int = 0) -> Any:
    journal = part("_journal").Journal("")
    return part("_timeline").Timeline(journal, part("_chips").CHIPS["910B2"], queue_ns, 0)


def test_streams_run_beside_one_another_and_tasks_of_one_in_order(part) -> None:
    clock = timeline(part)
    first = clock.launch(2, 100_000, 1_000_000)
    second = clock.launch(2, 50_000, 1_010_000)
    beside = clock.launch(3, 10_000, 1_020_000)
    assert [task["start_ns"] for task in (first, second, beside)] == [1_002_000, 1_102_000, 1_022_000]
    assert clock.end_of(2) == clock.end_of() == 1_152_000
    late = clock.launch(2, 20, 2_000_000)
    assert late["start_ns"] == 2_002_000
    clock.wait_for(3, 3_000_000)
    assert clock.launch(3, 20, 2_100_000)["start_ns"] == 3_000_000


def test_what_the_launching_thread_holds_is_launched_later_and_in_order(part) -> None:
    clock = timeline(part, queue_ns=4000)
    assert [clock.launch(2, 20, host)["host_ns"] for host in (1000, 2000, 1500)] == [5000, 6000, 6000]


def test_waiting_takes_as_long_as_the_device(part) -> None:
    clock = timeline(part)
    begin = time.time_ns()
    clock.launch(2, 3_000_000, begin)
    clock.synchronize()
    assert time.time_ns() - begin >= 3_002_000
    assert [record["t"] for record in clock.journal.records] == ["sync"]


def test_a_task_that_hangs_ends_by_the_limit_alone(part) -> None:
    clock = timeline(part)
    clock.hang(time.time_ns())
    with pytest.raises(RuntimeError, match="error code is 507014"):
        clock.synchronize(limit_ns=20_000_000)


def test_the_journal_writes_what_is_new_and_health_outlives_the_process(part, tmp_path) -> None:
    journal = part("_journal").Journal(str(tmp_path))
    journal.note("one")
    journal.flush()
    journal.note("two")
    journal.flush()
    journal.flush()
    lines = (tmp_path / f"device-{journal.pid}.jsonl").read_text().splitlines()
    assert [json.loads(line)["text"] for line in lines] == ["one", "two"]
    health = part("_journal").Health(str(tmp_path), 4)
    assert health.read() == {}
    health.write(broken=True)
    part("_journal").Health(str(tmp_path), 5).write(memory_mb=3)
    health.write(mhz=800)
    assert health.read() == {"broken": True, "mhz": 800}
    assert part("_journal").Health("", 4).read() == {}


def test_a_schedule_counts_as_torch_npu_does(part) -> None:
    options = part("profiler.options")
    plan = options.schedule(wait=1, active=2, warmup=1, repeat=2, skip_first=1)
    names = [plan(step).name for step in range(10)]
    once = ["NONE", "WARMUP", "RECORD", "RECORD_AND_SAVE"]
    assert names == ["NONE", *once, *once, "NONE"]
    with pytest.raises(ValueError):
        options.schedule(wait=0, active=0)


def test_the_profilers_markers_have_a_form_of_today_and_an_old_one(part, monkeypatch, capsys) -> None:
    for name in [name for name in os.environ if name.startswith("FAKE_CANN_")]:
        monkeypatch.delenv(name)
    options, today = part("profiler.options"), part("npu.mstx").mstx
    assert options._ExperimentalConfig(mstx=True, mstx_domain_include=["mine"]).mstx
    runtime, stream = part("_runtime").RUNTIME, part("npu.streams").current_stream()
    recorded: list[tuple[str, str]] = []
    runtime.profiler = SimpleNamespace(
        takes_marks=lambda domain: domain != "theirs",
        open_mark=lambda message, domain, moment: recorded.append((message, domain)) or len(recorded),
    )
    assert [today.range_start("a", stream, domain="mine"), today.range_start("b", stream, domain="theirs")] == [1, 0]
    with pytest.warns(UserWarning, match="Invalid stream"):
        assert today.range_start("c", 7) == 0
    monkeypatch.setenv("FAKE_CANN_MSTX_API", "old")
    old = importlib.reload(part("npu.mstx")).mstx
    assert (old.range_start("d", stream), old.range_start("e", 7), old.range_start("f")) == (2, 0, 0)
    assert capsys.readouterr().out.count("<class 'Warning'> Invalid type for stream argument") == 2
    with pytest.raises(TypeError):
        old.range_start("g", stream, domain="mine")
    with pytest.raises(TypeError, match="'mstx'"):
        options._ExperimentalConfig(mstx=True)
    assert options._ExperimentalConfig(msprof_tx=True).mstx
    assert recorded == [("a", "mine"), ("d", "default")]
