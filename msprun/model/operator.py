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
