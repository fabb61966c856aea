"""The chips of `conf/soc/`, found by the names under which torch_npu and npu-smi know them."""

from __future__ import annotations

import functools
import re
from fnmatch import fnmatchcase
from pathlib import Path

from msgspec import convert

from msprun import config, search
from msprun.model.soc import Soc
from msprun.resources import data_folder

_NAMES = re.compile(r"^names: (.+)$", re.MULTILINE)


def find(name: str) -> Soc | None:
    """The chip of this name, with or without `Ascend` before it; None for one that we have no figures of.

    A name that is written out beats a pattern (`Ascend950PR_957?`). Names that several chips share, such as the
    `Ascend910` of npu-smi on A3 and the `910B` of everyday language, are nobody's.
    """
    wanted = _plain(name)
    files = [(known, file) for file in files_of_chips() for known in _names(file)]
    exact = [file for known, file in files if _plain(known) == wanted]
    near = [file for known, file in files if fnmatchcase(wanted, _plain(known))]
    return next((load(file) for file in exact + near), None)


def files_of_chips() -> list[Path]:
    """One file a chip."""
    return sorted((data_folder("conf") / search.CHIPS).glob("*.yaml"))


@functools.cache
def load(file: Path) -> Soc:
    """The chip of a file. Raises msgspec.ValidationError where a figure lacks its source."""
    return convert(config.raw_file(file) | {"names": _names(file)}, Soc)


def _names(file: Path) -> list[str]:
    # Most runs want none of these files, and a YAML parser takes 20 ms for each.
    found = _NAMES.search(file.read_text(encoding="utf-8"))
    return found[1].split() if found else []


def _plain(name: str) -> str:
    return name.strip().casefold().removeprefix("ascend")
