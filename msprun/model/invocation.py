"""What the command line and the config files said, beside the values themselves."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from msprun.model.plan import Source


class Invocation(Struct, frozen=True, kw_only=True):
    """How a request came about.

    `given` are the dotted keys that the command line or an experiment named; `sources` says for each key of the config
    where its value came from, and `whys` why an `auto` became what it is; `hydra_files` are the texts for the run
    folder's `.hydra/` (empty where Hydra wrote them); `folder` is where the run goes and does not exist yet, except in
    a sweep.
    """

    overrides: tuple[str, ...]
    choices: dict[str, str]
    given: frozenset[str]
    sources: dict[str, Source]
    cwd: Path
    folder: Path
    run_id: str
    hydra_files: dict[str, str]
    whys: dict[str, str] = {}
    is_sweep: bool = False
    resume: bool = False
