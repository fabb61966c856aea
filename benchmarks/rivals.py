"""Both sides of every case by torch.utils.benchmark, and by one mean of ten calls each. Needs torch.

`python rivals.py SESSION` reads the job of a run of msprun, so that inputs and models are the same. Prints a JSON line
for each case: its number, the figures of both sides as torch's Compare shows them, and the two means.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

RUN_S = 0.2  # what blocked_autorange takes by default
MEAN_OF = 10
SIDES = ("reference", "candidate")


def main(folder: str) -> None:
    """Measure one case after the other; what cannot be loaded or called is left out."""
    sys.path.insert(0, folder)
    from worker.failures import StageError  # type: ignore[import-not-found]  # the copy that lies in the session
    from worker.job import read_job  # type: ignore[import-not-found]
    from worker.session import Session  # type: ignore[import-not-found]

    session = Session(read_job(Path(folder) / "job.json"))
    for index in list(session.job.cases):
        try:
            if session.load(index)["empty"]:
                continue
            for side in SIDES:
                session.construct(index, side)
                session.first(index, side)
        except StageError as error:
            print(f"case {index}: {error}", file=sys.stderr)
            continue
        calls = {side: session.cases[index].side(side).call for side in SIDES}
        print(json.dumps({"case": index, "mean": means(calls), "torch": medians(calls)}), flush=True)
        session.release(index)


def means(calls: dict[str, Any]) -> dict[str, float]:
    """Microseconds: one side after the other, as a loop in a notebook does it."""
    found = {}
    for side, (function, args, kwargs) in calls.items():
        start = time.perf_counter_ns()
        for _ in range(MEAN_OF):
            function(*args, **kwargs)
        found[side] = (time.perf_counter_ns() - start) / MEAN_OF / 1000
    return found


def medians(calls: dict[str, Any]) -> dict[str, dict[str, float]]:
    """blocked_autorange of each side: median and interquartile range (us), and the figures that Compare keeps."""
    from torch import no_grad
    from torch.utils.benchmark import Timer

    found = {}
    for side, (function, args, kwargs) in calls.items():
        scope = {"function": function, "args": args, "kwargs": kwargs}
        with no_grad():
            seen = Timer("function(*args, **kwargs)", globals=scope, num_threads=1).blocked_autorange(
                min_run_time=RUN_S
            )
        found[side] = {"median": seen.median * 1e6, "iqr": seen.iqr * 1e6, "digits": seen.significant_figures}
    return found


if __name__ == "__main__":
    main(*sys.argv[1:])
