"""What job.json asks of this worker."""

import json
from pathlib import Path
from typing import NamedTuple

SIDES = ("reference", "candidate", "against")


class Job(NamedTuple):
    """A session's request; paths are resolved against the folder that holds job.json.

    `files`, `classes` and `folders` are by side. `cases` maps the index of each case to run to its descriptors, None
    where the provider makes the inputs; `total` is the number of all cases of the operator.
    """

    nonce: str
    socket: str
    seed: int
    device: str
    device_id: int
    op_timeout_s: float
    threads: int
    folder: Path
    log: Path
    mark: Path
    folders: dict
    files: dict
    classes: dict
    cases: dict
    total: int
    sides: tuple
    check: dict
    warmup: int
    repeats: int
    cache: str
    cache_bytes: int
    grad: bool
    collector: str

    @property
    def doubts(self):
        """There is a rule by which outputs are judged."""
        return bool(self.check) and self.check.get("rule") != "none"

    @property
    def compares(self):
        """Outputs are to be compared: there is a rule, and both sides run."""
        return self.doubts and "reference" in self.sides and len(self.sides) > 1

    @property
    def operator(self):
        """The folder of the operator that is measured."""
        return self.folders["reference"]


def read_job(path):
    """The job in a file. Raises KeyError, ValueError or OSError when it is no job."""
    path = Path(path).resolve()
    content = json.loads(path.read_text(encoding="utf-8"))
    operator = content["operator"]
    told = {side: operator[side] for side in SIDES if operator.get(side)}
    folders = {side: Path(words.get("folder") or operator["folder"]) for side, words in told.items()}
    return Job(
        nonce=content["nonce"],
        socket=content["socket"],
        seed=content["seed"],
        device=content["device"],
        device_id=content.get("device_id") or 0,
        op_timeout_s=content.get("op_timeout_s"),
        threads=content["threads"],
        folder=path.parent,
        log=path.parent / content.get("log", "results.jsonl"),
        mark=path.parent / content["mark"] if content.get("mark") else None,
        folders=folders,
        files={side: folders[side] / words["file"] for side, words in told.items()},
        classes={side: words["cls"] for side, words in told.items()},
        cases={case["index"]: case.get("inputs") for case in content["cases"]},
        total=content.get("n_cases") or len(content["cases"]),
        sides=tuple(content["sides"]),
        check=content.get("check"),
        warmup=content.get("warmup"),
        repeats=content.get("repeats"),
        cache=content.get("cache") or "warm",
        cache_bytes=content.get("cache_bytes"),
        grad=bool(content.get("grad")),
        collector=content.get("collector"),
    )
