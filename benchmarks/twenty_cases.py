"""Row 1: twenty cases, both sides, 3 + 1 calls, against the same calls without a tool and in a process each."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.pairs import Timed
from benchmarks.place import HERE, Broken, Place

CASES = 20
SIDES = ("reference", "candidate")
WARMUP, REPEATS = 3, 1
PLAIN = ("check=none", "report=[json]")
ROUNDS, ROUNDS_QUICK = 10, 2
# The old way takes minutes: each round runs some of its processes, and its seconds are scaled to all of them.
PROCESSES_A_ROUND = 4


def contenders(place: Place) -> dict[str, Timed]:
    """The bare process, msprun without and with its defaults, and the process per case and side."""
    return {
        "bare torch": lambda number: bare(place),
        "msprun plain": lambda number: quick(place, PLAIN),
        "msprun default": lambda number: quick(place, ()),
        "40 processes": lambda number: per_process(place, number),
    }


def bare(place: Place, only: Sequence[str] = ()) -> float:
    """Seconds of one plain process; `only` are a side and a case. Raises Broken unless it made the calls."""
    counts = (str(WARMUP), str(REPEATS))
    elapsed = place.seconds(
        (*place.python, str(HERE / "bare.py"), str(place.operator), *counts, *only), place.as_worker()
    )
    told = [json.loads(line) for line in place.said("stdout").splitlines()]
    expected = 1 if only else CASES * len(SIDES)
    if len(told) != expected or any(line["calls"] != WARMUP + REPEATS for line in told):
        raise Broken(f"bare.py told of {len(told)} cases and sides, not of {expected}")
    return elapsed


def quick(
    place: Place,
    more: Sequence[str],
    device: str = "cpu",
    cases: int = CASES,
    environment: Mapping[str, str] | None = None,
) -> float:
    """Seconds of `msprun mode=quick`. Raises Broken unless it measured so many cases with these counts."""
    counts = (f"warmup={WARMUP}", f"repeats={REPEATS}")
    elapsed, told = msprun(place, ("mode=quick", f"device={device}", *counts, *more), environment)
    measured = [row for row in told["per_case"] if row["ref_us"] and row["asc_us"]]
    if len(measured) != cases or (told["warmup"], told["repeats"]) != (WARMUP, REPEATS):
        raise Broken(f"msprun measured {len(measured)} cases with {told['warmup']} + {told['repeats']} calls")
    return elapsed


def msprun(
    place: Place, words: Sequence[str], environment: Mapping[str, str] | None = None
) -> tuple[float, dict[str, Any]]:
    """Seconds of msprun on the operator, and its result. Raises Broken unless it leaves one."""
    shutil.rmtree(place.folder / "runs", ignore_errors=True)
    mode, *others = words
    elapsed = place.seconds((*place.msprun, mode, f"op=./{place.operator.name}", *others), environment)
    results = list((place.folder / "runs").glob("*/result.json"))
    if len(results) != 1:
        raise Broken(f"msprun left {len(results)} results, not one")
    return elapsed, json.loads(results[0].read_text())


def per_process(place: Place, number: int) -> float:
    """Seconds of all processes, one after the other, judged by this round's share of them."""
    share = round_share(number)
    return sum(bare(place, only) for only in share) * CASES * len(SIDES) / len(share)


def round_share(number: int) -> list[tuple[str, str]]:
    """A side and a case for each process of a round; ten rounds have run them all."""
    pairs = [(side, str(case)) for case in range(CASES) for side in SIDES]
    rounds = len(pairs) // PROCESSES_A_ROUND
    return pairs[number % rounds :: rounds]


def note(rounds: int) -> str:
    """How much of the old way was really run."""
    total = CASES * len(SIDES)
    ran = min(rounds * PROCESSES_A_ROUND, total)
    return f"40 processes: {PROCESSES_A_ROUND} a round, so {ran} of {total} were run; the seconds are those of {total}"
