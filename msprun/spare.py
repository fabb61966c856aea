"""A worker's process started before Hydra is imported, so that torch and Hydra are imported at the same time."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from msprun import process, search
from msprun.device import detect, mask
from msprun.device.cpu import Cpu
from msprun.device.npu import Npu
from msprun.interpreter import surroundings
from msprun.resources import data_folder

# With these words no worker is started, or not by this interpreter.
_UNFIT = ("dry_run=", "python=", "resume=", "rerun=")
# Which NPU it is may still be said, nothing else about a device.
_CHOICES = ("device.id=", "device.physical=", "device.busy=")
# torch_npu and CANN read these when they are loaded, which is left to the session.
_LATE = (mask.NAME, "ASCEND_PROCESS_LOG_PATH", "TORCH_DEVICE_BACKEND_AUTOLOAD")


def start(words: Sequence[str], environ: Mapping[str, str]) -> process.Spare | None:
    """The process that most command lines will need; None where this one seems to need another or none.

    A guess: whoever takes it over compares interpreter, environment and folder with what was planned.
    """
    kind = _kind(words)
    needs = ("torch", "torch_npu") if kind == "npu" else ("torch",)
    if kind is None or len(os.sched_getaffinity(0)) < 2:
        return None
    if any(importlib.util.find_spec(name) is None for name in needs):
        return None
    python = Path(sys.executable)
    threads = int(search.plain_values(data_folder("conf") / "device" / f"{kind}.yaml").get("threads", "1"))
    facts = Cpu().facts(threads)
    variables = Npu().environment(facts, environ) | {_LATE[-1]: "0"} if kind == "npu" else Cpu().environment(facts)
    env = surroundings(python, variables, environ, {})
    script = Path(__file__).parent / "worker" / "spare.py"
    try:
        return process.Spare((str(python), str(script)), env, Path.cwd(), _LATE if kind == "npu" else ())
    except OSError:
        return None


def _kind(words: Sequence[str]) -> str | None:
    """The device that the worker will probably be for; None where no worker in waiting would fit."""
    if any(word.startswith(("-", *_UNFIT)) for word in words):
        return None
    asked = [word for word in words if word.startswith(("device=", "device."))]
    chosen = [word.partition("=")[2] for word in asked if word.startswith("device=")]
    kind = detect()[0] if not chosen or chosen[-1] == "auto" else chosen[-1]
    fits = ("device=", *_CHOICES) if kind == "npu" else ("device=",)
    return kind if kind in ("cpu", "npu") and all(word.startswith(fits) for word in asked) else None
