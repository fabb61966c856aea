"""msprun as its users run it: a command, real torch, real files."""

from __future__ import annotations

import csv
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent / "fakes"))
import operators

pytestmark = pytest.mark.torch
FEW = ("warmup=1", "repeats=2")


def _start(*words: str, cwd: Path, **env: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "msprun", *words],
        cwd=cwd,
        env={**os.environ, **env},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _msprun(*words: str, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    process = _start(*words, cwd=cwd, **env)
    out, err = process.communicate(timeout=110)
    assert "Traceback" not in err, err
    return subprocess.CompletedProcess(words, process.returncode, out, err)


def _result(cwd: Path) -> dict[str, Any]:
    (found,) = (cwd / "runs").glob("*/result.json")
    read: dict[str, Any] = json.loads(found.read_text())
    return read


def _workers_of(folder: Path) -> list[int]:
    """Living workers of the runs below a folder: each says its process id when it greets."""
    found = []
    for told in folder.glob("*/sessions/*/results.jsonl"):
        greeting, newline, _ = told.read_text().partition("\n")
        if not newline:
            continue  # about to say it
        pid = int(json.loads(greeting)["environment"]["pid"])
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if state != "Z":
            found.append(pid)
    return found


def _await(condition: Any, seconds: float = 60) -> Any:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if value := condition():
            return value
        time.sleep(0.05)
    raise AssertionError("it did not happen in time")


def test_the_signature_command_measures_checks_and_reports(own_world: Path) -> None:
    done = _msprun("mode=quick", "op=add", "warmup=5", "cases=[0,1]", "budget_s=0.2", cwd=own_world)
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout
    result = _result(own_world)
    assert (result["warmup"], result["profiling_mode"], result["complete"]) == (5, "quick", True)
    for row in result["per_case"]:
        assert row["correctness"]["state"] == "correct"
        assert row["speedup"] == row["ref_us"] / row["asc_us"]
        assert row["paired"]["quads"] >= 8
        assert row["accounting"]["reference"]["verdict"] == "exact"
        assert row["reference"]["operators"]
        assert row["work"]["bytes"] / row["ref_us"] / 1e3 == pytest.approx(row["work"]["reference_gb_s"])
        assert row["work"]["floor_us"] is None
    folder = Path(result["folder"])
    assert {p.name for p in folder.iterdir()} >= {
        ".hydra", "plan.json", "result.json", "performance.log", "perf_report.md", "samples.csv", "sessions",
    }  # fmt: skip
    with (folder / "samples.csv").open() as file:
        rows = list(csv.DictReader(file))
    warm = [r for r in rows if r["phase"] == "warmup" and r["case"] == "0" and r["side"] == "candidate"]
    assert sum(int(r["calls"]) for r in warm) == 5
    assert result["provenance"]["warmup"]["source"] == "cli"
    assert result["provenance"]["device.kind"]["source"] == "auto"


def test_explicit_counts_are_exactly_the_calls_that_ran(own_world: Path) -> None:
    """flagos-ai/FlagGems#5067: warmup=1000 meant milliseconds, and was taken as a count."""
    counting = """
        import torch, pathlib

        class ModelNew(torch.nn.Module):
            def forward(self, x, y):
                with open(pathlib.Path(__file__).with_name("calls"), "a") as file:
                    file.write("c")
                return torch.add(x, y)
    """
    text = "\n".join(line[8:] for line in counting.splitlines())
    folder = operators.write(own_world / "counted", text, [operators.case(0)])
    words = ("op=./counted", "check=none", "warmup=3", "repeats=4", "save_to_op=false", "report=[json]")
    done = _msprun(*words, cwd=own_world)
    assert done.returncode == 0, done.stderr
    row = _result(own_world)["per_case"][0]
    # One first call, the counts that were asked for, and one in the pass that lists operators.
    assert len((folder / "calls").read_text()) == 1 + 3 + 4 + 1
    assert row["candidate"]["warmup_calls"] == 3
    assert (row["candidate"]["estimate"]["calls"], row["candidate"]["estimate"]["block"]) == (4, 1)
    assert (row["paired"]["verdict"], row["paired"]["low"], row["stop"]) == ("unresolved", None, "explicit")
    assert row["correctness"]["state"] == "not_checked"


def test_every_way_to_die_costs_one_side_of_one_case(own_world: Path) -> None:
    """ScalingIntelligence/KernelBench#92: after one bad kernel all later ones failed."""
    operators.write(own_world / "deadly", operators.DEADLY, [operators.case(n) for n in range(9)])
    done = _msprun("op=./deadly", *FEW, "compile_timeout_s=3", "keep_going=true", cwd=own_world)
    assert done.returncode == 1, done.stderr
    rows = _result(own_world)["per_case"]
    assert [row["status"] for row in rows] == ["measured"] + ["failed"] * 7 + ["measured"]
    assert all(row["ref_us"] > 0 and row["reference"]["failure"] is None for row in rows)
    assert all(row["speedup"] is None and row["asc_us"] is None for row in rows[1:8])
    kinds = [row["failure"]["kind"] for row in rows[1:8]]
    assert kinds == ["signal", "signal", "timeout", "exit", "signal", "exception", "exit"]
    words = [row["asc_error"] for row in rows[1:8]]
    assert "SIGSEGV" in words[0]
    assert "SIGABRT" in words[1]
    assert "in forward (model_new_ascendc.py:" in words[2]
    assert "enough" in words[3]
    assert "SIGKILL" in words[4]
    assert words[5].startswith("ValueError: no kernel for this shape (model_new_ascendc.py:")
    assert "exit code 0" in words[6]
    assert all((Path(_result(own_world)["folder"]) / row["failure"]["log"]).is_file() for row in rows[1:8])


def test_the_same_failure_three_times_skips_the_rest(own_world: Path) -> None:
    broken = "raise RuntimeError('built for another torch')\n"
    operators.write(own_world / "broken", broken, [operators.case(n) for n in range(5)])
    done = _msprun("op=./broken", *FEW, cwd=own_world)
    assert done.returncode == 1
    rows = _result(own_world)["per_case"]
    assert [row.get("skipped") for row in rows] == [None] * 3 + ["skipped_same_failure"] * 2
    assert all("built for another torch" in row["asc_error"] for row in rows[:3])
    assert all(row["ref_us"] > 0 for row in rows[:3])


def test_a_wrong_candidate_never_has_a_speedup(own_world: Path) -> None:
    operators.write(own_world / "wrong", operators.WRONG, [operators.case(0), operators.case(1, dtype="float16")])
    done = _msprun("op=./wrong", *FEW, "print=json", cwd=own_world)
    assert done.returncode == 1
    told = json.loads(done.stdout)
    assert len(done.stdout.encode()) <= 4096
    assert told["exit"] == 1
    result = _result(own_world)
    assert result["geomean_speedup"] is None
    assert result["n_cases_valid"] == 0
    for row in result["per_case"]:
        assert row["correctness"]["state"] == "incorrect"
        assert row["correctness"]["figures"]["max_abs_error"] == pytest.approx(1, rel=1e-2)
        assert (row["speedup"], row["asc_us"], row["paired"]) == (None, None, None)
        assert row["asc_error"] == "incorrect"
        assert row["ref_us"] > 0
    saved = own_world / "wrong" / "performance.json"
    assert json.loads(saved.read_text())["run_id"] == result["run_id"]


def test_check_is_correctness_alone(own_world: Path) -> None:
    operators.write(own_world / "fine", operators.SOUND, [operators.case(0), operators.case(1, [])])
    done = _msprun("mode=check", "op=./fine", cwd=own_world)
    assert done.returncode == 0, done.stderr
    result = _result(own_world)
    assert [row["status"] for row in result["per_case"]] == ["checked", "checked"]
    assert all(row["ref_us"] is None for row in result["per_case"])
    assert not (own_world / "fine" / "performance.json").exists()


def test_a_folder_without_cases_file_is_asked_for_its_inputs(own_world: Path) -> None:
    flat = operators.ADD + "\n\ndef get_inputs():\n    return [torch.rand(3, 7), torch.rand(3, 7)]\n"
    operators.write(own_world / "bench", operators.SOUND, None, flat)
    done = _msprun("op=./bench", *FEW, cwd=own_world)
    assert done.returncode == 0, done.stderr
    (row,) = _result(own_world)["per_case"]
    assert (row["shape"], row["dtype"], row["inputs_from"]) == ("[3, 7]", "float32", "provider")


def test_empty_tensors_are_skipped_and_scalars_are_measured(own_world: Path) -> None:
    operators.write(own_world / "edge", operators.SOUND, [operators.case(0, []), operators.case(0, [0, 4])])
    done = _msprun("op=./edge", *FEW, cwd=own_world)
    assert done.returncode == 0, done.stderr
    zero, empty = _result(own_world)["per_case"]
    assert (zero["shape"], zero["status"]) == ("[]", "measured")
    assert (empty["skipped"], empty["status"], empty["ref_error"]) == ("empty_tensor", "skipped", None)
    assert "ref_prof_dir" not in empty


def test_dry_run_shows_the_plan_and_writes_nothing(own_world: Path) -> None:
    done = _msprun("op=softmax", "warmup=5", "dry_run=true", cwd=own_world)
    assert done.returncode == 0, done.stderr
    assert "softmax" in done.stdout
    assert list(own_world.iterdir()) == []
    as_json = _msprun("op=softmax", "warmup=5", "dry_run=true", "print=json", cwd=own_world)
    plan = json.loads(as_json.stdout)
    assert plan["schedule"]["warmup"] == 5
    assert plan["provenance"]["warmup"]["source"] == "cli"
    assert plan["sessions"][0]["command"]["argv"]


def test_sides_without_room_for_both_are_checked_and_timed_one_at_a_time(own_world: Path) -> None:
    operators.write(own_world / "narrow", operators.NARROW_NEW, [operators.case(n) for n in range(3)], operators.NARROW)
    done = _msprun("op=./narrow", *FEW, cwd=own_world)
    assert done.returncode == 1, done.stderr
    result = _result(own_world)
    fits, apart, too_large = result["per_case"]
    assert [row["correctness"]["state"] for row in (fits, apart, too_large)] == ["correct", "correct", "not_checked"]
    assert [row["status"] for row in (fits, apart, too_large)] == ["measured", "measured", "failed"]
    marked = [any(r["code"] == "sides_apart" for r in row["remarks"]) for row in (fits, apart, too_large)]
    assert marked == [False, True, True]
    assert apart["speedup"] > 0 and apart["candidate"]["estimate"]["calls"] == 2 * 2  # of each of its two sessions
    assert too_large["ref_us"] > 0 and too_large["failure"]["kind"] == "out_of_memory"
    assert "smaller inputs" in too_large["failure"]["hint"]
    assert len(list(Path(result["folder"]).glob("sessions/*/wrapper.py"))) == 1 + 4  # A B B A
    # One side alone, of the case that has room for it.
    alone = own_world / "alone"
    alone.mkdir()
    done = _msprun("op=../narrow", *FEW, "impl=candidate", "cases=1", cwd=alone)
    assert done.returncode == 0, done.stderr
    (row,) = _result(alone)["per_case"]
    assert row["status"] == "one_sided"
    assert row["asc_us"] > 0
    assert (row["ref_us"], row["speedup"], row["ref_error"]) == (None, None, "skipped (--impl)")


def test_identical_code_is_hardly_ever_called_different(own_world: Path) -> None:
    """At 5 % two false verdicts in forty are no surprise; more than seven come in one run of a thousand."""
    same = operators.ADD.replace("class Model(", "class ModelNew(")
    sizes = [[64], [4096], [128, 128], [512, 256]]
    operators.write(own_world / "same", same, [operators.case(0, sizes[n % 4]) for n in range(40)])
    done = _msprun("op=./same", "budget_s=0.3", cwd=own_world)
    assert done.returncode == 0, done.stderr
    verdicts = [row["paired"]["verdict"] for row in _result(own_world)["per_case"]]
    assert sum(v in ("faster", "slower") for v in verdicts) <= 7, verdicts


def _slow(folder: Path, cases: int) -> Path:
    slow = operators.SOUND.replace("return", "__import__('time').sleep(0.02)\n        return")
    return operators.write(folder, slow, [operators.case(n) for n in range(cases)])


def test_a_worker_killed_from_outside_costs_one_side_of_one_case(own_world: Path) -> None:
    _slow(own_world / "slow", 3)
    process = _start("op=./slow", "warmup=0", "repeats=40", cwd=own_world)
    mark = _await(lambda: list((own_world / "runs").glob("*/sessions/0/mark")))[0]
    _await(lambda: mark.read_bytes() == b"c" and '"elapsed_ns"' in (mark.parent / "results.jsonl").read_text())
    (worker,) = _workers_of(own_world / "runs")
    os.kill(worker, signal.SIGKILL)
    process.communicate(timeout=100)
    assert process.returncode == 1
    rows = _result(own_world)["per_case"]
    assert sum(row["status"] == "failed" for row in rows) == 1
    (failed,) = [row for row in rows if row["status"] == "failed"]
    assert "SIGKILL" in failed["asc_error"]
    assert failed["ref_error"] is None
    assert sum(row["status"] == "measured" for row in rows) == 2


@pytest.mark.parametrize(
    ("number", "words"),
    [(signal.SIGINT, ()), (signal.SIGTERM, ("isolation=case",)), (signal.SIGKILL, ())],
)
def test_an_ended_run_leaves_its_results_and_no_process(
    own_world: Path, number: signal.Signals, words: tuple[str, ...]
) -> None:
    _slow(own_world / "slow", 6)
    process = _start("op=./slow", "warmup=0", "repeats=20", *words, cwd=own_world)

    def has_a_row() -> bool:
        found = list((own_world / "runs").glob("*/result.json"))
        return bool(found) and any(row["speedup"] for row in json.loads(found[0].read_text())["per_case"])

    _await(has_a_row)
    _await(lambda: len(_workers_of(own_world / "runs")) == 1)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == (-9 if number == signal.SIGKILL else 130), err
    _await(lambda: not _workers_of(own_world / "runs"), 15)
    result = _result(own_world)
    assert result["complete"] is False
    measured = [row for row in result["per_case"] if row["status"] == "measured"]
    assert measured
    assert all(row["speedup"] == row["ref_us"] / row["asc_us"] for row in measured)
    if number != signal.SIGKILL:
        assert all(row["stop"] in ("explicit", "interrupted") for row in measured)
        assert (Path(result["folder"]) / "perf_report.md").exists()
        assert "Traceback" not in err


def test_chinese_pages_hold_a_command_that_runs(own_world: Path) -> None:
    operators.write(own_world / "mine op", operators.SOUND, [operators.case(0.0), operators.case(1.0)])
    done = _msprun("op=./mine op", *FEW, cwd=own_world, MSPRUN_LANG="zh", PYTHONIOENCODING="utf-8")
    assert done.returncode == 0 and "个用例" in done.stdout, done.stderr
    result = _result(own_world)
    assert result["provenance"]["lang"] == {"value": "zh", "source": "env", "why": "MSPRUN_LANG=zh"}
    page = (own_world / "mine op" / "perf_report.md").read_text(encoding="utf-8")
    assert page.startswith("# 性能评估结果\n")
    command = page.split("## 深度瓶颈分析")[1].split("```sh\n")[1].split("\n```")[0]
    name, *words = shlex.split(command.replace("budget_s=10", "budget_s=0.2"))
    assert name == "msprun"
    again = _msprun(*words, "print=json", cwd=own_world)
    assert again.returncode == 0 and json.loads(again.stdout)["counts"]["run"] == 1


def test_the_wrapper_runs_by_hand(own_world: Path) -> None:
    operators.write(own_world / "mine", operators.SOUND, [operators.case(0)])
    assert _msprun("op=./mine", *FEW, cwd=own_world).returncode == 0
    (wrapper,) = (own_world / "runs").glob("*/sessions/0/wrapper.py")
    done = subprocess.run([sys.executable, str(wrapper)], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    assert "correct" in done.stdout


def test_build_runs_first_and_its_failure_is_one_line(own_world: Path) -> None:
    folder = operators.write(own_world / "built", operators.SOUND, [operators.case(0)])
    (folder / "make.sh").write_text("mkdir -p kernel/build && touch kernel/build/made && echo compiled\n")
    done = _msprun("op=./built", *FEW, "op.build=sh make.sh", cwd=own_world)
    assert done.returncode == 0, done.stderr
    assert (folder / "kernel" / "build" / "made").exists()
    (folder / "fail.sh").write_text("exit 3\n")
    failed = _msprun("op=./built", *FEW, "op.build=sh fail.sh", cwd=own_world)
    assert failed.returncode == 2
    assert "ended with 3" in failed.stderr
    assert failed.stderr.count("\n") <= 2


def test_a_sweep_runs_every_job_and_ends_with_the_worst_code(own_world: Path) -> None:
    operators.write(own_world / "good", operators.SOUND, [operators.case(0)])
    operators.write(own_world / "bad", operators.WRONG, [operators.case(0)])
    done = _msprun("-m", "op=./bad,./good", *FEW, cwd=own_world)
    assert done.returncode == 1, done.stderr
    results = sorted((own_world / "runs").glob("*-sweep-*/*/result.json"))
    assert [json.loads(path.read_text())["exit_code"] for path in results] == [1, 0]
