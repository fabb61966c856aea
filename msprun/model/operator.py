"""An operator folder: two implementations of one thing, perhaps an older build of the second, and its cases."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from msgspec import Struct

from msprun.model.case import Case

Side = Literal["reference", "candidate", "against"]
# The two that every operator has; those that it may have, in the order of tables.
SIDES: tuple[Side, Side] = ("reference", "candidate")
ALL_SIDES: tuple[Side, ...] = (*SIDES, "against")
# A speed-up is the time of the first side over that of the second.
Pair = tuple[Side, Side]
OLD_AND_NEW: Pair = ("against", "candidate")


class Implementation(Struct, frozen=True, kw_only=True):
    """One side: the file and class that the worker loads, and the environment it wants."""

    file: Path
    cls: str
    env: tuple[tuple[str, str], ...] = ()


class Older(Implementation, frozen=True, kw_only=True):
    """An older build of the candidate, whose imports come from `folder`."""

    folder: Path


class Work(Struct, frozen=True, kw_only=True):
    """How much a call has to move and to compute, as texts: expressions in the names of the inputs (see `work/`)."""

    bytes: str | None = None
    flops: str | None = None


class Operator(Struct, frozen=True, kw_only=True):
    """What is measured. `origin` names where the cases came from, as `jsonl:<file>`, `json:<file>` or `provider`.

    `against` is an older build to be measured beside the candidate, None without one.
    """

    name: str
    folder: Path
    reference: Implementation
    candidate: Implementation
    against: Older | None = None
    cases: tuple[Case, ...]
    cases_file: Path | None
    origin: str
    build: tuple[str, ...] = ()
    grad: bool = False
    work: Work | None = None
