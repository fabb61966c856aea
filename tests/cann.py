"""A fake CANN for tests: an environment in which msprof, npu-smi and torch_npu are ours, and what they really did."""

from __future__ import annotations

import atexit
import functools
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

FAKES = Path(__file__).parent / "fakes" / "cann"
LIBRARIES = ("libms_tools_ext", "libascendcl")
EMPTY_LIBRARIES = ("libhccl", "libge_runner")
Record = dict[str, Any]


class Cann:
    """`environ` is that of a program that finds the fake CANN; `truth()` is what happened on its device.

    `fault` is a word of FAKE_CANN_FAULT, several with commas; other keywords are variables of the fakes: `pmu="off"` is
    FAKE_CANN_PMU. The test skips where there is no C compiler or no torch of the kind that the device needs.
    """

    def __init__(self, folder: Path, chip: str = "910B2", fault: str = "", **variables: object) -> None:
        self.state = folder / "device"
        self.state.mkdir(parents=True, exist_ok=True)
        self.home = home()
        self.environ = dict(os.environ)
        for name in [name for name in self.environ if name.startswith(("ASCEND_", "FAKE_CANN_", "PROFILER_"))]:
            del self.environ[name]
        self.environ.update(self.variables(chip, fault, variables))

    def variables(self, chip: str, fault: str, others: Mapping[str, object]) -> dict[str, str]:
        """What differs from the environment of the test."""
        python = [str(FAKES / "python"), os.environ.get("PYTHONPATH", "")]
        return {
            "PATH": f"{FAKES / 'bin'}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
            "PYTHONPATH": os.pathsep.join(filter(None, python)),
            "PYTHONDONTWRITEBYTECODE": "1",
            "ASCEND_HOME_PATH": str(self.home),
            "LD_LIBRARY_PATH": str(self.home / "lib64"),
            "FAKE_CANN_STATE": str(self.state),
            "FAKE_CANN_CHIP": chip,
            "FAKE_CANN_FAULT": fault,
            **{f"FAKE_CANN_{name.upper()}": str(value) for name, value in others.items()},
        }

    def enter(self, patch: pytest.MonkeyPatch) -> None:
        """Make this the environment of the test itself."""
        for name, value in self.environ.items():
            if os.environ.get(name) != value:
                patch.setenv(name, value)

    def run(self, program: str, *words: str, timeout_s: float = 100) -> subprocess.CompletedProcess[str]:
        """Run Python source under the fake torch_npu, in a process of its own."""
        command = [sys.executable, "-c", program, *words]
        return subprocess.run(command, env=self.environ, capture_output=True, text=True, timeout=timeout_s, check=False)

    def truth(self, kind: str | None = None, pid: int | None = None) -> list[Record]:
        """The records of all processes, or of one, in the order in which they were written; `kind` chooses by `t`."""
        logs = [self.state / f"device-{pid}.jsonl"] if pid else self.logs("device")
        records = [json.loads(line) for log in logs for line in log.read_text().splitlines()]
        return [record for record in records if kind is None or record["t"] == kind]

    def marks(self) -> list[Record]:
        """What the C library was asked to mark."""
        return [json.loads(line) for log in self.logs("marks") for line in log.read_text().splitlines()]

    def logs(self, kind: str) -> list[Path]:
        """Logs of a kind, the oldest process first."""
        return sorted(self.state.glob(f"{kind}-*.jsonl"), key=lambda log: log.stat().st_mtime_ns)

    def health(self, physical: int = 0) -> Record:
        """What a device remembers when its processes are gone."""
        file = self.state / "health.json"
        known: dict[str, Record] = json.loads(file.read_text()) if file.exists() else {}
        return known.get(str(physical), {})


def why_not() -> str | None:
    """Why the fakes cannot be had here, None where they can."""
    if shutil.which("cc") is None:
        return "no C compiler (cc) is here, which builds the fake CANN's libraries"
    private = _torch_source("utils/backend_registration.py")
    if "_setup_privateuseone_for_python_backend" not in private:
        return "this torch has no device backend in pure Python (torch 2.13 has), which the fake torch_npu stands on"
    return None


def need_cann() -> None:
    """Skip the test, with the reason, where the fakes cannot be had."""
    if (why := why_not()) is not None:
        pytest.skip(why)


@functools.lru_cache(maxsize=1)
def home() -> Path:
    """A CANN home with the libraries, built once. Skips the test where that cannot be."""
    need_cann()
    made = Path(tempfile.mkdtemp(prefix="msprun-cann-"))
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    libraries = made / "lib64"
    libraries.mkdir()
    empty = made / "empty.c"
    empty.write_text("int fake_cann;\n")
    for name in LIBRARIES + EMPTY_LIBRARIES:
        source = FAKES / f"{name}.c" if name in LIBRARIES else empty
        words = ["cc", "-shared", "-fPIC", "-O1", "-o", str(libraries / f"{name}.so"), str(source)]
        subprocess.run(words, check=True, capture_output=True, timeout=60)
    (made / "version.cfg").write_text("# version: 1.0\nruntime_running_version=[8.3.RC2]\n")
    return made


def _torch_source(file: str) -> str:
    """A file of torch, found without importing it; empty where there is none."""
    for entry in sys.path:
        path = Path(entry) / "torch" / file
        if path.is_file():
            return path.read_text()
    return ""
