"""Rows 2 and 3: checks and quick runs on an emulated NPU, against a bare start and a bare call of msprof."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks import emulation, twenty_cases
from benchmarks.pairs import Timed
from benchmarks.place import HERE, Broken, Place
from benchmarks.twenty_cases import CASES, REPEATS, WARMUP

ROUNDS, ROUNDS_QUICK = 5, 1
ONE_CASE = "cases=[0]"
START = "import torch, torch_npu; torch.npu.set_device(0)"
# The switches that msprun collects with.
COLLECT = ("--ascendcl=on", "--task-time=on", "--ai-core=off", "--msproftx=on")
QUICK_ALLOWANCE = "1.3 c + check"
TWENTY_ALLOWANCE = "2 c + 20 s + check"


def counted(place: Place) -> dict[str, Timed]:
    """The run whose sessions row 2 counts."""
    return {"npu 20 cases": lambda number: twenty(place)}


def contenders(place: Place) -> dict[str, Timed]:
    """The bare start, the bare msprof call c, and what msprun does in as many calls of the operator."""
    return {
        "npu start": lambda number: place.seconds((*place.python, "-c", START), emulation.as_worker(place)),
        "npu msprof": lambda number: bare(place),
        "npu check": lambda number: check(place),
        "npu quick": lambda number: quick(place, (ONE_CASE,), 1),
        **counted(place),
    }


def allowances(seconds: Mapping[str, Sequence[float]]) -> dict[str, tuple[float, ...]]:
    """What row 3 allows quick runs to take, in every round by the seconds of that round."""
    rounds = list(zip(seconds["npu msprof"], seconds["npu check"], strict=True))
    return {
        QUICK_ALLOWANCE: tuple(1.3 * c + check for c, check in rounds),
        TWENTY_ALLOWANCE: tuple(2 * c + CASES + check for c, check in rounds),
    }


def bare(place: Place) -> float:
    """Seconds of one msprof around a plain program that calls both sides of a case. Raises Broken without a table."""
    output = place.folder / "bare_msprof"
    shutil.rmtree(output, ignore_errors=True)
    output.mkdir()
    calls = (str(HERE / "bare.py"), str(place.operator), str(WARMUP), str(REPEATS), "both", "0", "npu")
    elapsed = place.seconds(
        ("msprof", f"--output={output}", *COLLECT, *place.python, *calls), emulation.as_worker(place)
    )
    if len(list(output.glob("PROF_*/mindstudio_profiler_output/op_summary_*.csv"))) != 1:
        raise Broken("the bare msprof left no op_summary")
    return elapsed


def check(place: Place) -> float:
    """Seconds of `msprun mode=check` of one case. Raises Broken unless it was found correct."""
    words = ("mode=check", "device=npu", ONE_CASE, _lease(place))
    elapsed, told = twenty_cases.msprun(place, words, emulation.environment(place))
    states = [row["correctness"]["state"] for row in told["per_case"]]
    if states != ["correct"]:
        raise Broken(f"msprun's check of one case says: {', '.join(states) or 'nothing'}")
    return elapsed


def quick(place: Place, more: Sequence[str], cases: int) -> float:
    """Seconds of `msprun mode=quick` with its defaults. Raises Broken unless it measured so many cases."""
    return twenty_cases.quick(place, (*more, _lease(place)), "npu", cases, emulation.environment(place))


def twenty(place: Place) -> float:
    """Seconds of all cases; what processes they took is kept."""
    elapsed = quick(place, (), CASES)
    commands = [file.read_text().split() for file in place.folder.glob("runs/*/sessions/*/command.txt")]
    collected = sum(Path(words[0]).name == "msprof" for words in commands)
    told = {"npu sessions": collected, "npu check workers": len(commands) - collected}
    with (place.folder / "sessions.jsonl").open("a") as file:
        file.write(json.dumps(told) + "\n")
    return elapsed


def counts(place: Place) -> dict[str, tuple[float, ...]]:
    """How many sessions below msprof, and how many without, each run of all cases took."""
    file = place.folder / "sessions.jsonl"
    told = [json.loads(line) for line in file.read_text().splitlines()]
    return {name: tuple(run[name] for run in told) for name in told[0]}


def _lease(place: Place) -> str:
    """Nobody else's runs wait for an NPU that does not exist."""
    return f"lease.dir={place.folder / 'lease'}"
