"""The plain program makes the calls that it is asked for, and no others."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.place import HERE
from tests.cann import Cann, why_not

MODEL = """
import torch
class {cls}(torch.nn.Module):
    def forward(self, x):
        with open({log!r}, "a") as file:
            file.write(f"{cls} {{tuple(x.shape)}} {{x.flatten()[0].item()}}\\n")
        return x
"""


@pytest.mark.torch
def test_both_sides_get_the_same_inputs_in_turn(tmp_path: Path) -> None:
    log = tmp_path / "calls"
    (tmp_path / "model.py").write_text(MODEL.format(cls="Model", log=str(log)))
    (tmp_path / "model_new_ascendc.py").write_text(MODEL.format(cls="ModelNew", log=str(log)))
    cases = [{"inputs": [{"name": "x", "shape": shape}]} for shape in ([2, 3], [4])]
    (tmp_path / "op_perf_cases.jsonl").write_text("\n".join(map(json.dumps, cases)))
    argv = [sys.executable, str(HERE / "bare.py"), str(tmp_path), "2", "1"]
    done = subprocess.run(argv, capture_output=True, text=True, check=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    calls = [line.split(" ", 1) for line in log.read_text().splitlines()]
    assert [name for name, _ in calls] == ["Model", "ModelNew"] * 6
    assert len({inputs for _, inputs in calls[:6]}) == 1 and len({inputs for _, inputs in calls[6:]}) == 1
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(line["case"], line["side"], line["calls"]) for line in told] == [
        (0, "reference", 3), (0, "candidate", 3), (1, "reference", 3), (1, "candidate", 3),
    ]  # fmt: skip
    if why_not() is None:
        one_case_on_an_npu(tmp_path)


def one_case_on_an_npu(folder: Path) -> None:
    """Both sides again, of the first case only: their inputs came to the device, and each call was waited for."""
    cann = Cann(folder / "cann")
    argv = [sys.executable, str(HERE / "bare.py"), str(folder), "2", "1", "both", "0", "npu"]
    done = subprocess.run(argv, capture_output=True, text=True, check=True, env=cann.environ)
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(line["case"], line["side"], line["calls"]) for line in told] == [(0, "reference", 3), (0, "candidate", 3)]
    copies = cann.truth("copy")
    assert [(copy["direction"], copy["bytes"]) for copy in copies[:1]] == [("H2D", 2 * 3 * 4)]
    assert len(cann.truth("sync")) >= 6
