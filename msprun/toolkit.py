"""Where the tools of CANN are looked for: on PATH, then in the toolkit that ASCEND_HOME_PATH names."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

HOME = "ASCEND_HOME_PATH"
_FOLDERS = ("bin", "tools/profiler/bin")


def search_path(environ: Mapping[str, str]) -> str:
    """PATH, and behind it those folders of the toolkit's tools that are there: a shell may have set one of both."""
    path, home = environ.get("PATH", os.defpath), environ.get(HOME)
    known = path.split(os.pathsep)
    behind = [str(folder) for name in _FOLDERS if home and (folder := Path(home, name)).is_dir()]
    return os.pathsep.join([path, *(folder for folder in behind if folder not in known)])


def msprof(environ: Mapping[str, str]) -> str | None:
    """The msprof that a session starts; None where there is none."""
    return shutil.which("msprof", path=search_path(environ))
