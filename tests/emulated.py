"""Runs of msprun on the fake NPU, beside what its log says that each call really took."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from tests.cann import Cann

# A side's own kernels begin so; whatever else the device ran belongs to no call.
PREFIX = {"reference": "ref_", "candidate": "new_"}
CLS = {"reference": "Model", "candidate": "ModelNew"}
FILE = {"reference": "model.py", "candidate": "model_new_ascendc.py"}
MODULE = '''"""A side that tells the truth log of each of its calls."""

import os
import time

import torch
import torch_npu


def kernel(name, x, us):
    return torch_npu.launch(name, lambda a: a * 2, x, duration_us=us)


class {cls}(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, x):
        rows = x.shape[0]
        self.calls += 1
        torch_npu.fake_note("{side} %d" % rows)
        {body}
'''


class Called(Struct, frozen=True, kw_only=True):
    """One call of a side as the device's log knows it; times in ns, `rows` tells the case."""

    pid: int
    side: str
    rows: int
    device_ns: int
    kernels: int


class Ran(Struct, frozen=True, kw_only=True):
    """A run of msprun that is over."""

    code: int
    out: str
    err: str
    folder: Path | None

    @property
    def result(self) -> dict[str, Any]:
        assert self.folder is not None, self.err
        found: dict[str, Any] = json.loads((self.folder / "result.json").read_text())
        return found

    @property
    def samples(self) -> list[dict[str, str]]:
        assert self.folder is not None, self.err
        with (self.folder / "samples.csv").open(encoding="utf-8-sig", newline="") as file:
            return list(csv.DictReader(file))

    @property
    def sessions(self) -> list[str]:
        """The command of each session in order."""
        assert self.folder is not None, self.err
        files = sorted(self.folder.glob("sessions/*/command.txt"), key=lambda file: int(file.parent.name))
        return [file.read_text().strip() for file in files]

    def row(self, rows: int) -> dict[str, Any]:
        """The row of the case with so many rows."""
        return next(row for row in self.result["per_case"] if row["shape"].startswith(f"[{rows},"))

    def elapsed_ns(self, rows: int, side: str, phase: str) -> list[int]:
        """The samples of one side in the order in which they are told."""
        case = self.row(rows)["case"]
        wanted = (str(case), side, phase)
        return [int(s["elapsed_ns"]) for s in self.samples if (s["case"], s["side"], s["phase"]) == wanted]


class Emulated:
    """A folder with an operator, a fake CANN beside it, and msprun on both."""

    def __init__(self, folder: Path, fault: str = "", **variables: object) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.cann = Cann(folder, fault=fault, **{"noise": 0.004, **variables})
        self.environ = {**self.cann.environ, "HOME": str(folder)}

    def operator(self, rows: Sequence[int], reference: str, candidate: str) -> None:
        """An operator of a case for each number of rows; its sides are the statements that follow the note."""
        place = self.folder / "op"
        place.mkdir(exist_ok=True)
        for side, body in (("reference", reference), ("candidate", candidate)):
            indented = body.strip().replace("\n", "\n        ")
            (place / FILE[side]).write_text(MODULE.format(cls=CLS[side], side=side, body=indented))
        lines = [
            {"name": f"rows{n}", "inputs": [{"name": "x", "type": "tensor", "dtype": "float32", "shape": [n, 4]}]}
            for n in rows
        ]
        (place / "op_perf_cases.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))

    def words(self, *words: str) -> list[str]:
        """The command line."""
        fixed = ("mode=quick", "op=./op", "device=npu", "report=[json,csv]", f"lease.dir={self.folder / 'lease'}")
        return [sys.executable, "-m", "msprun", *fixed, *words]

    def start(self, *words: str) -> subprocess.Popen[str]:
        """A run that has begun."""
        return subprocess.Popen(
            self.words(*words), env=self.environ, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL, text=True,
        )  # fmt: skip

    def run(self, *words: str, timeout_s: float = 110) -> Ran:
        """Run to the end."""
        child = self.start(*words)
        try:
            out, err = child.communicate(timeout=timeout_s)
        finally:
            child.kill()
        assert "Traceback" not in err, err
        folders = sorted((self.folder / "runs").glob("*/result.json"), key=lambda file: file.stat().st_mtime_ns)
        return Ran(code=child.returncode, out=out, err=err, folder=folders[-1].parent if folders else None)

    def called(self) -> list[Called]:
        """Every call of both sides in the sessions behind the check, which is the first process on the device."""
        found: list[Called] = []
        for log in self.cann.logs("device")[1:]:
            records = [json.loads(line) for line in log.read_text().splitlines()]
            found += calls_of(records, next(record["pid"] for record in records if record["t"] == "process"))
        return found

    def truth_ns(self, rows: int, side: str) -> list[int]:
        """What each call of one side took on the device, its first call included."""
        return [call.device_ns for call in self.called() if (call.rows, call.side) == (rows, side)]


def calls_of(records: Sequence[dict[str, Any]], pid: int) -> list[Called]:
    """Calls in one process's log: a note begins each."""
    found: list[Called] = []
    for record in sorted(records, key=lambda known: int(known.get("host_ns") or 0)):
        if record["t"] == "note":
            side, rows = re.fullmatch(r"(\w+) (\d+)", record["text"]).groups()  # type: ignore[union-attr]
            found.append(Called(pid=pid, side=side, rows=int(rows), device_ns=0, kernels=0))
        elif record["t"] == "kernel" and found and record["name"].startswith(PREFIX[found[-1].side]):
            last = found.pop()
            found.append(
                Called(
                    pid=pid, side=last.side, rows=last.rows, device_ns=last.device_ns + record["duration_ns"],
                    kernels=last.kernels + 1,
                )
            )  # fmt: skip
    return found
