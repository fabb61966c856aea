"""The fake NPU does what torch asks of it, and its log says what really happened."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cann import Cann
from tests.fakes_cann.apps import rows

pytestmark = pytest.mark.torch
PROGRAMS = Path(__file__).parent / "programs"


def ran(cann: Cann, program: str) -> str:
    """What a program printed that ended well."""
    done = cann.run((PROGRAMS / program).read_text())
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_torch_computes_on_it_as_on_the_host(tmp_path) -> None:
    """The program asserts; kernels, copies and mere views are told apart."""
    cann = Cann(tmp_path, noise=0)
    assert ran(cann, "torch_on_npu.py").splitlines()[-1] == "all is well"
    kinds = {kernel["op_type"]: kernel["kind"] for kernel in cann.truth("kernel")}
    assert kinds["MatMulV2"] == "AI_CORE"
    assert kinds["Add"] == "AI_VECTOR_CORE"
    assert kinds["LayerNormV4"] == "MIX_AIV"
    assert kinds["FlashAttentionScore"] == "MIX_AIC"
    assert kinds["Sort"] == "AI_CPU"
    notes = [record.get("text") or record for record in cann.truth() if record["t"] in ("note", "kernel", "copy")]
    views = notes[notes.index("views begin") + 1 : notes.index("views end")]
    assert views == []
    both = notes[notes.index("host and back") + 1 : notes.index("end")]
    assert [record["direction"] for record in both] == ["H2D", "D2D", "D2H"]
    assert [record["bytes"] for record in both] == [4096] * 3


def test_kernels_run_in_order_take_their_time_and_the_host_shows_as_gaps(tmp_path) -> None:
    cann = Cann(tmp_path, noise=0)
    elapsed_ns = int(ran(cann, "known_kernels.py"))
    kernels = [k for k in cann.truth("kernel") if k["name"] in ("first", "second")]
    assert [k["name"] for k in kernels] == ["first"] * 8 + ["second"] * 8 + ["first"] * 4
    # The first launches are cold: five, three and one and a half times as slow.
    cold = [1_500_000, 900_000, 450_000] + [300_000] * 5 + [350_000, 210_000, 105_000] + [70_000] * 5
    assert [k["duration_ns"] for k in kernels] == cold + [300_000] * 4
    ends = [k["start_ns"] + k["duration_ns"] for k in kernels]
    for before, kernel in zip(ends, kernels[1:], strict=False):
        # A kernel waits for the one before it; two microseconds are the way from the host to the device.
        assert kernel["start_ns"] == max(before, kernel["host_ns"] + 2000)
    # Waiting is real: the host saw at least what the device took.
    assert elapsed_ns >= sum(k["duration_ns"] for k in kernels[:16])
    # The program slept 20 ms before each of the last four launches.
    gaps = [k["start_ns"] - end for k, end in zip(kernels[16:], ends[15:19], strict=True)]
    assert min(gaps) > 15_000_000
    assert {k["inputs"] for k in kernels} == {'"1024"'}
    assert {k["dtypes"] for k in kernels} == {"FLOAT"}
    tasks = [k["task"] for k in kernels]
    assert tasks == sorted(set(tasks))


def test_what_is_slow_or_noisy_but_does_not_fail(tmp_path) -> None:
    fault = "prologue:3,varying:mul:2,silent:exp,low_clock:900,printf,memory_kept:100"
    cann = Cann(tmp_path, fault=fault, noise=0, hbm_mb=200)
    done = cann.run((PROGRAMS / "faulty_kernels.py").read_text())
    assert done.returncode == 0, done.stderr
    assert "npu_cpu_fallback" in done.stderr and "'aten::exp'" in done.stderr
    assert "blockDim = 8" in done.stdout
    assert "NPU out of memory. Tried to allocate" in done.stdout
    types = [kernel["op_type"] for kernel in cann.truth("kernel")]
    assert types[:3] == ["Cast"] * 3
    assert [t for t in types if t in ("Mul", "MemSet")] == ["Mul", "Mul", "MemSet", "Mul", "Mul", "MemSet"]
    assert "Exp" not in types
    # At half of its clock the chip takes twice the time.
    assert [k["duration_ns"] for k in cann.truth("kernel") if k["name"] == "known"][-1] == 20_000
    assert cann.health() == {"mhz": 900, "memory_mb": 100}
    # The next process finds what the first has left.
    assert cann.run("import torch; print(torch.npu.mem_get_info()[0])").stdout.strip() == str(100 << 20)


def test_an_operator_that_hangs_ends_by_the_time_limit_and_the_process_is_lost(tmp_path) -> None:
    cann = Cann(tmp_path, fault="hang_op:softmax:2")
    lines = ran(cann, "hanging_kernel.py").splitlines()
    assert lines[0] == "acl 0"
    assert float(lines[1]) >= 1.0
    assert "error code is 507014" in lines[2] and "The aicore execution times out." in "".join(lines)
    assert lines[-1] == "add failed too"
    assert [k["op_type"] for k in cann.truth("kernel")].count("SoftmaxV2") == 1


def test_an_exception_poisons_the_process_and_may_break_the_device_for_the_next(tmp_path) -> None:
    cann = Cann(tmp_path, fault="exception:mine:2:breaks")
    lines = ran(cann, "failing_kernel.py").splitlines()
    assert "error code is 507015" in lines[0]
    assert lines[-2:] == ["poisoned", "poisoned"]
    after = cann.run("import torch; torch.npu.set_device(0)")
    assert after.returncode == 1
    assert "error code is 507033" in after.stderr
    assert [record["t"] for record in cann.truth()].count("process") == 1


def test_a_process_dies_before_its_first_kernel_or_behind_some(tmp_path) -> None:
    program = "import torch\nx = torch.ones(8, device='npu')\nfor _ in range(9):\n x += 1\nprint('alive')\n"
    dies = Cann(tmp_path / "exit", fault="exit:3:before")
    assert (done := dies.run(program)).returncode == 3, done.stderr
    assert dies.truth("process") and not dies.truth("kernel")
    killed = Cann(tmp_path / "signal", fault="signal:11:after:5@once")
    assert killed.run(program).returncode == -11
    assert len(killed.truth("kernel")) == 5
    assert killed.run(program).stdout == "alive\n"


def test_a_mask_renumbers_the_devices_of_the_host(tmp_path) -> None:
    cann = Cann(tmp_path, devices="4,5,6")
    cann.environ["ASCEND_RT_VISIBLE_DEVICES"] = "0,2"
    assert "at least two devices, npu:0 and npu:1!" in ran(cann, "two_devices.py")
    assert [(p["device"], p["physical"]) for p in cann.truth("process")] == [(1, 6), (0, 4)]
    assert {(k["device"], k["op_type"]) for k in cann.truth("kernel")} >= {(1, "MatMulV2"), (1, "Add"), (0, "Fill")}


def test_without_cann_torch_itself_does_not_load(tmp_path) -> None:
    done = Cann(tmp_path, fault="no_cann").run("import torch")
    assert done.returncode == 1
    assert "Failed to load the backend extension: torch_npu" in done.stderr
    assert "libhccl.so: cannot open shared object file" in done.stderr


def test_its_own_profiler_writes_what_happened(tmp_path) -> None:
    cann = Cann(tmp_path, noise=0.01)
    out = ran(cann, "profiled.py")
    assert "torch_npu profiler api is not effective" in out
    folders = sorted((cann.state / "profiles").glob("*_ascend_pt"))
    details = [folder / "ASCEND_PROFILER_OUTPUT" / "kernel_details.csv" for folder in folders]
    assert "device[0] is occupied" in out
    # Neither without msprof, which exports the data, nor where somebody else has the channel.
    assert out.count("'msprof' command not found!") == 1
    assert [file.exists() for file in details] == [True, True, False, False]
    outputs = [list(folder.glob("PROF_*/mindstudio_profiler_output")) for folder in folders]
    assert [len(found) for found in outputs] == [1, 0, 0, 0]  # simplified data keep none
    assert [len(list(folder.glob("PROF_*/device_0/data"))) for folder in folders] == [1, 1, 1, 0]
    level1, level0 = (file.read_bytes() for file in details[:2])
    assert level1.count(b"\r\n") == level1.count(b"\n") == 5
    lines = level1.decode().splitlines()
    steps = [line.partition(",")[0] for line in lines]
    assert steps == ["Step Id", "2", "2", "3", "3"]
    truth = cann.truth("kernel")
    for line in lines[1:]:
        start, duration = line.split("\t")[0].rpartition(",")[2], line.split("\t,")[1].split(",")[0]
        named = [k for k in truth if f"{k['start_ns'] // 1000}.{k['start_ns'] % 1000:03d}" == start]
        assert [f"{k['duration_ns'] / 1000:.3f}" for k in named] == [duration]
    assert '"""64,64;64,64"""' in lines[1]
    assert level0.decode().splitlines()[0].startswith("Name,Type,Accelerator Core,Start Time(us),Duration(us)")
    marks = {mark["message"]: mark for mark in cann.truth("mark")}
    assert set(marks) == {"ProfilerStep#2", "ProfilerStep#3", "mine|2", "mine|3"}
    inside = [k for k in truth if _lies_in(k, marks["mine|3"])]
    assert [k["op_type"] for k in inside] == ["MatMulV2", "SoftmaxV2"]
    written = {row["message"]: row for row in rows(next(outputs[0][0].glob("msprof_tx_*.csv")))}
    assert written.keys() == marks.keys()
    for message, mark in marks.items():
        row = written[message]
        times = [row[f"Device {name}_time(us)"].strip().replace(".", "") for name in ("Start", "End")]
        assert (row["domain"], times) == ("default", [str(mark["device_start_ns"]), str(mark["device_end_ns"])])


def _lies_in(kernel: dict[str, int], mark: dict[str, int]) -> bool:
    end = kernel["start_ns"] + kernel["duration_ns"]
    return mark["device_start_ns"] <= kernel["start_ns"] and end <= mark["device_end_ns"]
