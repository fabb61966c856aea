"""Cases of an operator that has no cases file: a worker asks its model.py."""

from __future__ import annotations

import tempfile
from pathlib import Path

from msgspec.structs import replace

from msprun.bench import Bench, Service, job, session
from msprun.errors import ConfigError, MachineError
from msprun.launch import Worker
from msprun.model.case import Case
from msprun.model.operator import SIDES, Operator

_LOG_MB = 20.0


def describe(made: Bench, seed: int, timeout_s: float) -> Operator:
    """The operator with the cases that its provider makes.

    Raises MachineError when no worker starts, ConfigError when model.py tells no cases.
    """
    with tempfile.TemporaryDirectory(prefix="msprun-describe-") as folder:
        place = session(made, 0, Path(folder), Service(cases=(), sides=SIDES))
        worker = Worker(place, job(made, None, seed, place), _LOG_MB, fds=made.fds)
        try:
            failure = worker.greet(timeout_s)
            if failure is not None:
                raise MachineError(
                    f"the worker does not start: {failure.message}", "try it by hand: python -c 'import torch'"
                )
            reply = worker.ask("describe", "inputs", timeout_s)
        finally:
            worker.close()
    told = reply.body.get("cases") or []
    if reply.failure is not None or not told:
        why = reply.failure.message if reply.failure else "it makes no case"
        raise ConfigError(
            f"{made.operator.folder} has no cases file, and its model.py does not tell: {why}",
            "add a get_input_groups() to model.py, or a file named <op>_perf_cases.jsonl",
        )
    cases = tuple(
        Case(index=i, name=str(c["name"]), shape_label=str(c["shape"]), dtype_label=str(c["dtype"]))
        for i, c in enumerate(told)
    )
    return replace(made.operator, cases=cases)
