"""An older build beside the candidate, with real torch."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.fakes import operators

pytestmark = pytest.mark.torch

# Works for so many microseconds a call, whatever else the machine does.
BUSY = """
import os
import time

import torch


class {name}(torch.nn.Module):
    def forward(self, x, y):
        end = time.perf_counter() + {us}e-6
        while time.perf_counter() < end:
            pass
        {more}
        return torch.add(x, y)
"""
CRASH = "os.kill(os.getpid(), 11) if x[0, 0] > 0.5 else None"


def _busy(name: str, us: int, more: str = "") -> str:
    return BUSY.format(name=name, us=us, more=more or "pass")


def _msprun(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "msprun", *words], cwd=cwd, capture_output=True, text=True, timeout=110
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done


def _result(cwd: Path) -> dict[str, Any]:
    newest = max((cwd / "runs").glob("*/result.json"))
    read: dict[str, Any] = json.loads(newest.read_text())
    return read


def test_a_build_of_half_the_work_more_is_told_and_a_changed_one_is_not_taken_up(own_world: Path) -> None:
    cases = [operators.case(0), operators.case(1)]
    operators.write(own_world / "mine", _busy("ModelNew", 400), cases, _busy("Model", 800))
    operators.write(own_world / "old", _busy("ModelNew", 600), None)
    done = _msprun("op=./mine", "against=./old", "budget_s=3", "print=json", "save_to_op=false", cwd=own_world)
    assert done.returncode == 0, done.stderr
    result = _result(own_world)
    for row in result["per_case"]:
        assert row["against_correctness"]["state"] == row["correctness"]["state"] == "correct"
        pair = row["paired_against"]
        assert pair["verdict"] == row["paired"]["verdict"] == "faster"
        # An honest interval misses the truth in one case of twenty; by this much it does not.
        assert pair["low"] / 1.03 < 1.5 < pair["high"] * 1.03
        assert row["against_us"] > 600
        assert row["against"]["operators"] and row["accounting"]["against"]["verdict"] == "exact"
    told = json.loads(done.stdout)["against"]
    assert (told["cases"], told["faster"], told["correct"]) == (2, 2, 2)
    assert told["speedup"] == pytest.approx(result["against"]["geomean_speedup"])
    assert len(done.stdout.encode()) <= 4096
    sides = {line.split(",")[2] for line in (Path(result["folder"]) / "samples.csv").read_text().splitlines()[1:]}
    assert sides == {"reference", "candidate", "against"}
    (own_world / "old" / "model_new_ascendc.py").write_text(_busy("ModelNew", 700))
    again = _msprun(f"resume={result['folder']}", cwd=own_world)
    assert again.returncode == 2 and "../old/model_new_ascendc.py" in again.stderr


def test_a_build_that_crashes_costs_its_own_side_of_that_case_alone(own_world: Path) -> None:
    cases = [operators.case(0), operators.case(1)]
    operators.write(own_world / "mine", _busy("ModelNew", 200), cases, _busy("Model", 300))
    operators.write(own_world / "old", _busy("ModelNew", 400, CRASH), None)
    done = _msprun("op=./mine", "against=./old", "warmup=1", "repeats=6", cwd=own_world)
    assert done.returncode == 1, done.stderr
    result = _result(own_world)
    sound, dead = result["per_case"]
    assert [row["status"] for row in (sound, dead)] == ["measured", "measured"]
    assert dead["failure"] is None and dead["paired"]["speedup"] > 1
    assert "SIGSEGV" in dead["against"]["failure"]["message"] and dead["paired_against"] is None
    assert sound["paired_against"]["speedup"] > 1
    assert (result["against"]["failed"], result["counts"]["failed"]) == (1, 0)
    assert "older build in the first call, killed by a signal" in done.stdout
