"""Sweeps and what goes on from them with real torch: killed, interrupted, and taken up again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests import sweeping
from tests.asked import write

pytestmark = pytest.mark.torch
FEW = ("max_cases=1", "warmup=1", "repeats=6")
BROKEN = """
import torch


class ModelNew(torch.nn.Module):
    def forward(self, x):
        raise RuntimeError("kernel launch failed")
"""


def start(*words: str, cwd: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "msprun", *words], cwd=cwd, env=os.environ, text=True, encoding="utf-8",
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def broken(folder: Path) -> None:
    write(
        folder / "model.py",
        BROKEN.replace("ModelNew", "Model").replace('raise RuntimeError("kernel launch failed")', "return x"),
    )
    write(folder / "model_new_ascendc.py", BROKEN)
    case = {"inputs": [{"name": "x", "type": "tensor", "dtype": "float32", "shape": [8]}]}
    write(folder / "broken_perf_cases.jsonl", json.dumps(case) + "\n")


def appears(found: Callable[[], list[Path]], seconds: float = 90) -> Path:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if paths := found():
            return paths[0]
        time.sleep(0.02)
    raise AssertionError("nothing appeared")


def processes_of(folder: Path) -> list[str]:
    """Command lines of living processes that name this folder."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            line, state = (entry / "cmdline").read_bytes(), (entry / "stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if str(folder).encode() in line and state != "Z":
            found.append(line.decode())
    return found


@pytest.mark.timeout(300)
def test_a_killed_sweep_goes_on_and_a_broken_operator_costs_only_its_job(own_world: Path) -> None:
    broken(own_world / "broken")
    sweep = start("-m", "op=add,./broken,softmax", *FEW, cwd=own_world)
    second = appears(lambda: list((own_world / "runs").glob("*-sweep-*/1/plan.json")))
    sweep.kill()
    sweep.communicate()
    place = second.parents[1]
    first = (place / "0" / "result.json").stat()
    resumed = start(f"resume={place}", "print=json", cwd=Path("/"))
    out, err = resumed.communicate(timeout=200)
    assert resumed.returncode == 1, err
    said: dict[str, Any] = json.loads(out)
    assert out.count("\n") == 1 and "\x1b" not in err
    assert said["jobs"] == {"total": 3, "done": 2, "failed": 1}
    assert "kernel launch failed" in said["first_failure"]["reason"]
    assert (place / "0" / "result.json").stat().st_mtime_ns == first.st_mtime_ns
    assert [row[2] for row in sweeping.table(place)] == ["done", "failed", "done"]
    assert processes_of(place) == []


@pytest.mark.timeout(300)
def test_a_hang_up_ends_a_sweep_with_its_table_and_nothing_left(own_world: Path) -> None:
    sweep = start("-m", "op=add", "seed=0,1", "budget_s=5", cwd=own_world)
    job = appears(lambda: list((own_world / "runs").glob("*-sweep-*/0/sessions/0/results.jsonl")))
    sweep.send_signal(signal.SIGHUP)
    out, err = sweep.communicate(timeout=60)
    assert sweep.returncode == 130, err
    place = job.parents[3]
    assert "2 jobs: 1 interrupted, 1 not started; exit code 130" in out
    assert f"Next: msprun resume={place}" in out
    assert [row[2] for row in sweeping.table(place)] == ["interrupted", "not_started"]
    assert processes_of(place) == []


@pytest.mark.timeout(300)
def test_a_run_killed_before_its_first_result_is_taken_up_again(own_world: Path) -> None:
    run = start("op=add", *FEW, cwd=own_world)
    plan = appears(lambda: list((own_world / "runs").glob("*/plan.json")))
    run.kill()
    run.communicate()
    place = plan.parent
    assert not (place / "result.json").exists()
    again = start(f"resume={place}", cwd=own_world)
    out, err = again.communicate(timeout=100)
    assert again.returncode == 0, err
    assert f"Results: {place}" in out and json.loads((place / "result.json").read_text())["complete"]
