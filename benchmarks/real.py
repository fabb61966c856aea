"""Verdicts on code of known truth, on this machine: the examples against themselves, and against 10 % more work."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct

from benchmarks.place import HERE, Broken, Place
from msprun.resources import data_root

OPERATORS = ("add", "grouped", "matmul_gelu", "rmsnorm", "softmax")
MORE = 0.10
# Whoever reads one mean beside another believes in what is beyond this.
BELIEVED = 0.03
SLOWER = f"""\
import time

from model import Model

class ModelNew(Model):
    def forward(self, *args, **kwargs):
        start = time.perf_counter_ns()
        output = super().forward(*args, **kwargs)
        until = time.perf_counter_ns()
        until += {MORE} * (until - start)
        while time.perf_counter_ns() < until:
            pass
        return output
"""


class Verdict(Struct, frozen=True, kw_only=True):
    """What four readers say of one case: msprun, Compare by its figures, Compare by its spread, and one mean.

    `more` is how much more work the candidate does. `us` is the reference's time, `width` the half width of msprun's
    interval as a share of the speed-up.
    """

    operator: str
    case: int
    more: float
    us: float
    width: float | None
    msprun: str
    figures: str
    spread: str
    mean: str


def prepare(place: Place) -> None:
    """The examples with a second candidate beside them."""
    for name in OPERATORS:
        shutil.copytree(
            data_root() / "examples" / name, place.folder / name, ignore=shutil.ignore_patterns("__pycache__")
        )
        (place.folder / name / "slower.py").write_text(SLOWER)


def verdicts(place: Place, operator: str, more: float, seed: int) -> Iterator[Verdict]:
    """One run of msprun and one of its rivals over the cases of an operator."""
    run = _run(place, operator, more, seed)
    told = json.loads((run / "result.json").read_text())
    place.seconds((*place.python, str(HERE / "rivals.py"), str(run / "sessions" / "0")), place.as_worker())
    rivals = {line["case"]: line for line in map(json.loads, place.said("stdout").splitlines())}
    shutil.rmtree(run.parent)
    for row in told["per_case"]:
        pair, rival = row["paired"], rivals.get(row["case"])
        if pair is None or rival is None:
            continue
        yield Verdict(
            operator=operator,
            case=row["case"],
            more=more,
            us=row["ref_us"],
            width=(pair["high"] - pair["low"]) / 2 / pair["speedup"] if pair["high"] else None,
            msprun=pair["verdict"],
            figures=by_figures(rival["torch"]),
            spread=by_spread(rival["torch"]),
            mean=by_mean(rival["mean"]),
        )


def _run(place: Place, operator: str, more: float, seed: int) -> Path:
    """The run folder. Raises Broken unless there is exactly one result."""
    candidate = ("slower.py", "ModelNew") if more else ("model.py", "Model")
    words = [f"op.candidate.file={candidate[0]}", f"op.candidate.cls={candidate[1]}", f"seed={seed}"]
    options = ["mode=quick", f"op=./{operator}", "check=none", "report=[json]", "save_to_op=false", "device=cpu"]
    shutil.rmtree(place.folder / "runs", ignore_errors=True)
    place.seconds((*place.msprun, *options, *words))
    results = list((place.folder / "runs").glob("*/result.json"))
    if len(results) != 1:
        raise Broken(f"msprun left {len(results)} results of {operator}, not one")
    return results[0].parent


def by_figures(seen: dict[str, dict[str, float]]) -> str:
    """As read off the table of torch.utils.benchmark.Compare: medians, cut to the figures that both sides have."""
    digits = int(min(side["digits"] for side in seen.values()))
    reference, candidate = (float(f"{seen[side]['median']:.{digits}g}") for side in ("reference", "candidate"))
    return _word(reference, candidate, reference != candidate)


def by_spread(seen: dict[str, dict[str, float]]) -> str:
    """Medians that lie further apart than either interquartile range is wide."""
    reference, candidate = seen["reference"]["median"], seen["candidate"]["median"]
    return _word(reference, candidate, abs(reference - candidate) > max(side["iqr"] for side in seen.values()))


def by_mean(seen: dict[str, float]) -> str:
    """Two means more than 3 % apart."""
    reference, candidate = seen["reference"], seen["candidate"]
    return _word(reference, candidate, abs(reference / candidate - 1) > BELIEVED)


def _word(reference_us: float, candidate_us: float, differ: bool) -> str:
    return "same" if not differ else "faster" if reference_us > candidate_us else "slower"


def as_words(found: Verdict) -> dict[str, Any]:
    """The four answers by reader."""
    return {"msprun": found.msprun, "figures": found.figures, "spread": found.spread, "mean": found.mean}
