"""What job.json asks of this worker."""

import json
from pathlib import Path
from typing import NamedTuple


class Job(NamedTuple):
    """A session's request; paths are resolved against the folder that holds job.json.

    `cases` maps the index of each case to run to its descriptors, None where the provider makes the inputs; `total` is
    the number of all cases of the operator.
    """

    nonce: str
    socket: str
    seed: int
    device: str
    threads: int
    folder: Path
    log: Path
    mark: Path
    operator: Path
    files: dict
    classes: dict
    cases: dict
    total: int
    sides: tuple
    check: dict
    warmup: int
    repeats: int

    @property
    def compares(self):
        """Outputs are to be compared: there is a rule, and both sides run."""
        return bool(self.check) and self.check.get("rule") != "none" and len(self.sides) == 2


def read_job(path):
    """The job in a file. Raises KeyError, ValueError or OSError when it is no job."""
    path = Path(path).resolve()
    content = json.loads(path.read_text(encoding="utf-8"))
    operator = content["operator"]
    folder = Path(operator["folder"])
    return Job(
        nonce=content["nonce"],
        socket=content["socket"],
        seed=content["seed"],
        device=content["device"],
        threads=content["threads"],
        folder=path.parent,
        log=path.parent / content.get("log", "results.jsonl"),
        mark=path.parent / content["mark"] if content.get("mark") else None,
        operator=folder,
        files={side: folder / operator[side]["file"] for side in ("reference", "candidate")},
        classes={side: operator[side]["cls"] for side in ("reference", "candidate")},
        cases={case["index"]: case.get("inputs") for case in content["cases"]},
        total=content.get("n_cases") or len(content["cases"]),
        sides=tuple(content["sides"]),
        check=content.get("check"),
        warmup=content.get("warmup"),
        repeats=content.get("repeats"),
    )
