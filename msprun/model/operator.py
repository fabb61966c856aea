"""An operator folder: two implementations of one thing, and its cases."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from msgspec import Struct

from msprun.model.case import Case

Side = Literal["reference", "candidate"]
SIDES: tuple[Side, Side] = ("reference", "candidate")


class Implementation(Struct, frozen=True, kw_only=True):
    """One side: the file and class that the worker loads, and the environment it wants."""

    file: Path
    cls: str
    env: tuple[tuple[str, str], ...] = ()


class Work(Struct, frozen=True, kw_only=True):
    """How much a call has to move and to compute, as texts: expressions in the names of the inputs (see `work/`)."""

    bytes: str | None = None
    flops: str | None = None


class Operator(Struct, frozen=True, kw_only=True):
    """What is measured. `origin` names where the cases came from, as `jsonl:<file>`, `json:<file>` or `provider`."""

    name: str
    folder: Path
    reference: Implementation
    candidate: Implementation
    cases: tuple[Case, ...]
    cases_file: Path | None
    origin: str
    build: tuple[str, ...] = ()
    grad: bool = False
    work: Work | None = None
