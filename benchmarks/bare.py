"""The calls of a quick run as a person would write them: one process, no tool. Standard library and torch only.

`python bare.py FOLDER WARMUP REPEATS` calls both sides of every case; `SIDE CASE` behind it, one side of one case or
with the side `both` the two; `npu` behind these calls them there and waits for each. Prints a JSON line for each: case,
side, calls and the median of the timed ones in microseconds.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from pathlib import Path
from typing import Any

import torch

SIDES = {"reference": ("model", "Model"), "candidate": ("model_new_ascendc", "ModelNew")}


def main(folder: str, warmup: str, repeats: str, only: str = "both", case: str = "all", device: str = "cpu") -> None:
    """Make inputs and models case by case, call the sides in turn, print the times."""
    torch.set_num_threads(1)
    sys.path.insert(0, folder)
    lines = next(Path(folder).glob("*_perf_cases.jsonl")).read_text().splitlines()
    sides = list(SIDES) if only == "both" else [only]
    classes = {side: getattr(__import__(SIDES[side][0]), SIDES[side][1]) for side in sides}
    for index, line in enumerate(lines):
        if case in ("all", str(index)):
            shapes = [entry["shape"] for entry in json.loads(line)["inputs"]]
            measure(index, shapes, classes, (int(warmup), int(repeats)), device)


def measure(
    index: int, shapes: list[list[int]], classes: dict[str, Any], counts: tuple[int, int], device: str = "cpu"
) -> None:
    """Call each side of one case warmup + repeats times, on the same inputs."""
    warmup, repeats = counts
    torch.manual_seed(index)
    inputs = [torch.randn(shape).to(device) for shape in shapes]
    models = {side: cls().eval().to(device) for side, cls in classes.items()}
    elapsed: dict[str, list[float]] = {side: [] for side in models}
    with torch.no_grad():
        for _ in range(warmup + repeats):
            for side, model in models.items():
                start = time.perf_counter_ns()
                model(*inputs)
                if device != "cpu":
                    getattr(torch, device).synchronize()
                elapsed[side].append((time.perf_counter_ns() - start) / 1000)
    for side, times in elapsed.items():
        told = {"case": index, "side": side, "calls": len(times), "us": statistics.median(times[warmup:])}
        print(json.dumps(told), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
