"""A mode that measures nothing but leaves what a run leaves: for sweeps and what goes on from them."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from msgspec.structs import replace

from msprun import cli
from msprun import folder as run_folder
from msprun.model.invocation import Invocation
from msprun.report.json import dumps
from msprun.schema import Run
from tests.asked import ALL_KEYS
from tests.report import results

CASES = 3
WRONG = 13
BUG = 14


class Quick:
    """Runs three cases; the speedup is 2 + seed. Seed 13 is wrong in a case, seed 14 is a bug of ours."""

    KEYS = ALL_KEYS

    def __init__(self, pause_s: float = 0.0) -> None:
        self.pause_s = pause_s
        self.seen: list[Invocation] = []

    def examine(self, run: Run, invocation: Invocation) -> dict[str, str]:
        source = Path(run.op.dir) / "model.py"
        return {"model.py": source.read_text()} if source.is_file() else {}

    def run(self, run: Run, invocation: Invocation, spare: object = None) -> int:
        self.seen.append(invocation)
        if run.seed == BUG:
            raise ZeroDivisionError("oops")
        place = invocation.folder
        run_folder.make_out(place.parent)
        place.mkdir(exist_ok=invocation.is_sweep or invocation.resume)
        if invocation.hydra_files:
            (place / ".hydra").mkdir(exist_ok=invocation.resume)
            for name, text in invocation.hydra_files.items():
                (place / ".hydra" / name).write_text(text)
        (place / run_folder.MARKER).write_text(f"{os.getpid()}\n")
        (place / "plan.json").write_text("{}")
        for case in range(CASES):
            self._measure(place, case)
        wrong = [replace(results.INCORRECT, case=2)] if run.seed == WRONG else []
        pair = results.pair(2.0 + run.seed, 1.5 + run.seed, 2.5 + run.seed, "faster")
        rows = [results.measured(case, 20.0 + 10 * run.seed, 10.0, pair) for case in range(CASES - len(wrong))]
        code = 1 if wrong else 0
        known = results.result(*rows, *wrong, exit_code=code, complete=True, run_id=invocation.run_id)
        run_folder.save(place, dumps(known))
        return code

    def _measure(self, place: Path, case: int) -> None:
        done = place / f"case-{case}"
        if done.exists():
            return
        time.sleep(self.pause_s)
        with (place / "measured").open("a") as file:
            file.write(f"{case}\n")
        done.touch()


def stand_in(patch: pytest.MonkeyPatch, pause_s: float = 0.0) -> Quick:
    """Put the mode in the place of all others."""
    mode = Quick(pause_s)
    module = ModuleType("msprun.mode")
    module.MODES = {"quick": mode, "check": mode}  # type: ignore[attr-defined]
    patch.setitem(sys.modules, "msprun.mode", module)
    patch.setattr("msprun.device.detect", lambda: ("cpu", "nothing else is here"))
    patch.setattr("msprun.profiler.default_for", lambda kind: ("clock", f"fits {kind}"))
    return mode


def started(*words: str) -> int:
    """The process id of a command line in a process of its own, which has what this one has imported."""
    if pid := os.fork():
        return pid
    code = 99
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        sys.stdout = sys.stderr = open(os.devnull, "w")
        code = cli.main(words)
    finally:
        os._exit(code)


def ended(pid: int) -> int:
    """Wait for it; its exit code, or minus the signal that ended it."""
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def only_sweep(out: Path) -> Path:
    """The folder of the one sweep below `out`."""
    (found,) = out.glob("*-sweep-*")
    return found


def books(place: Path) -> dict[str, Any]:
    """What is in sweep.json."""
    found: dict[str, Any] = json.loads((place / "sweep.json").read_text())
    return found


def table(place: Path) -> list[tuple[Any, ...]]:
    """What a sweep came to, without times and names of folders."""
    return [
        (job["number"], job["swept"], job["status"], job["exit_code"], job["geomean"], job["verdict"], job["reason"])
        for job in books(place)["jobs"]
    ]


def measured(place: Path) -> list[list[str]]:
    """For each job the cases that were measured, in order."""
    jobs = [place / job["folder"] / "measured" for job in books(place)["jobs"]]
    return [file.read_text().split() if file.exists() else [] for file in jobs]
