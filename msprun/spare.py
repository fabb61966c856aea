"""A worker's process started before Hydra is imported, so that torch and Hydra are imported at the same time."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from msprun import process, search
from msprun.device.cpu import Cpu
from msprun.interpreter import surroundings
from msprun.resources import data_folder

# With these words no worker is started, or not by this interpreter.
_UNFIT = ("dry_run=", "python=", "device=", "device.", "resume=", "rerun=")


def start(words: Sequence[str], environ: Mapping[str, str]) -> process.Spare | None:
    """The process that most command lines will need; None where this one seems to need another or none.

    A guess: whoever takes it over compares interpreter, environment and folder with what was planned.
    """
    if any(word.startswith(("-", *_UNFIT)) for word in words) or len(os.sched_getaffinity(0)) < 2:
        return None
    if importlib.util.find_spec("torch") is None:
        return None
    python = Path(sys.executable)
    threads = search.plain_values(data_folder("conf") / "device" / "cpu.yaml").get("threads", "1")
    device = Cpu()
    env = surroundings(python, device.environment(device.facts(int(threads))), environ, {})
    script = Path(__file__).parent / "worker" / "spare.py"
    try:
        return process.Spare((str(python), str(script)), env, Path.cwd())
    except OSError:
        return None
