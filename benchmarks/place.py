"""Where a benchmark runs: a folder with the operator, an environment of its own, and the door to processes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from msprun.device.cpu import Cpu

HERE = Path(__file__).resolve().parent
OPERATOR = "gelu_norm"
# Variables of the user's that change what msprun does, by how they begin.
FOREIGN = ("MSPRUN_", "HYDRA_", "LC_", "LANG", "COLUMNS", "PYTHON")
LIMIT_S = 600.0


class Broken(Exception):
    """Something that was to be timed did not run."""


class Place:
    """`folder` is the current directory of all that runs; `python` and `msprun` are how their command lines begin."""

    def __init__(self, folder: Path, python: Sequence[str], msprun: Sequence[str]) -> None:
        self.folder = folder
        self.python = tuple(python)
        self.msprun = tuple(msprun)
        self.operator = folder / OPERATOR
        shutil.copytree(HERE / OPERATOR, self.operator, ignore=shutil.ignore_patterns("__pycache__"))
        self.environment = self.cleaned(os.environ)

    def cleaned(self, environ: Mapping[str, str]) -> dict[str, str]:
        """An environment without what would change msprun, with this place's own folders."""
        kept = {name: value for name, value in environ.items() if not name.startswith(FOREIGN)}
        own = {"XDG_CONFIG_HOME": str(self.folder / "config"), "PYTHONPATH": str(HERE.parent), "LANG": "C.UTF-8"}
        return {**kept, **own}

    def as_worker(self) -> dict[str, str]:
        """The environment with what msprun sets for its worker, so that a call costs the same everywhere."""
        own = {name: value for name, value in Cpu().environment(Cpu().facts(1)).items() if value is not None}
        return {**self.environment, **own}

    def seconds(self, argv: Sequence[str], environment: Mapping[str, str] | None = None) -> float:
        """Wall time from the start of a process to its end. Raises Broken unless it ends with 0."""
        child, start = self.start(argv, environment)
        # Popen.wait with a timeout looks every 50 ms at last, which is longer than some of what is timed here.
        limit = threading.Timer(LIMIT_S, child.kill)
        limit.start()
        try:
            code = child.wait()
        finally:
            limit.cancel()
        elapsed = time.perf_counter() - start
        if code != 0:
            raise Broken(f"{' '.join(argv)} ended with {code}: {self.said('stderr')[-500:].strip()}")
        return elapsed

    def start(
        self, argv: Sequence[str], environment: Mapping[str, str] | None = None
    ) -> tuple[subprocess.Popen[bytes], float]:
        """A process with its output in files, and when it was started (seconds of perf_counter)."""
        with (self.folder / "stdout").open("wb") as out, (self.folder / "stderr").open("wb") as err:
            start = time.perf_counter()
            try:
                child = subprocess.Popen(
                    argv,
                    cwd=self.folder,
                    env=dict(environment or self.environment),
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=err,
                )
            except OSError as error:
                raise Broken(f"{argv[0]} cannot be started: {error}") from error
        return child, start

    def said(self, stream: str) -> str:
        """What the last process has written to `stdout` or `stderr`."""
        return (self.folder / stream).read_text(errors="replace")


def this_msprun() -> tuple[str, ...]:
    """The command that users type, where it is installed beside this interpreter, else the module."""
    script = Path(sys.executable).parent / "msprun"
    return (str(script),) if script.exists() else (sys.executable, "-m", "msprun")
