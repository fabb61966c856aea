"""Tiny programs for the fake msprof to profile: they write the log of a device by hand, without torch."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

BIN = Path(__file__).resolve().parents[1] / "fakes" / "cann" / "bin"

# Writes the log that its first argument names the size of: that many kernels a tenth of a millisecond apart, whose
# durations are 10 us, 10.02 us, 10.04 us, ... The other arguments say what else it does.
LOG = """
import json, os, sys, time

state, count = os.environ["FAKE_CANN_STATE"], int(sys.argv[1])
kind = os.environ.get("APP_KIND", "AI_VECTOR_CORE")
mix = 48 if kind.startswith("MIX") else 0
file = open(os.path.join(state, "device-%d.jsonl" % os.getpid()), "a")


def put(what, **words):
    file.write(json.dumps(dict(words, t=what)) + chr(10))
    file.flush()


begin = time.time_ns() + 1_000_000
put("process", pid=os.getpid(), chip="910B2", device=int(os.environ.get("APP_DEVICE", "0")), physical=int(
    os.environ.get("APP_PHYSICAL", "4")), start_ns=time.time_ns(), collecting="FAKE_CANN_COLLECT" in os.environ,
    session=os.environ.get("FAKE_CANN_SESSION", ""))
for number in range(count):
    launch = begin + number * 100_000
    put("kernel", name="aclnnAdd_AddAiCore_%d" % (number % 2), op_type="Add", kind=kind, stream=2, task=number,
        host_ns=launch, start_ns=launch + 30_000, duration_ns=10_000 + 20 * number, block_num=24, mix_block_num=mix,
        inputs='"2,3;2,3"', dtypes="FLOAT;FLOAT", mhz=1800)
"""

# Two ranges of msprun's on stream 2 around kernels 0-1 and 2-3, one of somebody's without a stream.
MARKS = """
with open(os.path.join(state, "marks-%d.jsonl" % os.getpid()), "a") as marks:
    for id, domain, stream, at in ((1, "msprun", 2, 0), (2, "msprun", 2, 2), (3, "other", 0, 0)):
        words = {"t": "mark_start", "id": id, "message": "c%d" % id, "domain": domain, "stream": stream}
        marks.write(json.dumps(dict(words, host_ns=begin + at * 100_000 - 5_000)) + chr(10))
        marks.write(json.dumps({"t": "mark_end", "id": id, "host_ns": begin + at * 100_000 + 101_000}) + chr(10))
"""


@dataclass
class Machine:
    """A host with the fake CANN on its PATH; `environ` is what its programs see."""

    folder: Path
    environ: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        (self.folder / "state").mkdir()
        here = {"PATH": f"{BIN}:{os.environ['PATH']}", "FAKE_CANN_STATE": str(self.folder / "state")}
        self.environ = {"HOME": str(self.folder), **here, **self.environ}

    def app(self, text: str = LOG, name: str = "app.py") -> Path:
        """A program with that text."""
        path = self.folder / name
        path.write_text(text)
        return path

    def run(self, *words: str | Path, **environ: str) -> subprocess.CompletedProcess[str]:
        """A program of the fake's to its end, below `folder`."""
        return subprocess.run(
            [str(word) for word in words],
            capture_output=True,
            text=True,
            cwd=self.folder,
            env={**self.environ, **environ},
            timeout=60,
        )

    def start(self, *words: str | Path, **environ: str) -> subprocess.Popen[str]:
        """The same without waiting, in a session of its own, its output in one pipe."""
        return subprocess.Popen(
            [str(word) for word in words],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=self.folder,
            env={**self.environ, **environ},
            start_new_session=True,
        )

    def collect(self, *flags: str, kernels: int = 4, **environ: str) -> subprocess.CompletedProcess[str]:
        """msprof over a program of so many kernels, into `out`."""
        return self.run("msprof", "--output=out", *flags, sys.executable, self.app(), str(kernels), **environ)

    def marked(self, *flags: str, **environ: str) -> subprocess.CompletedProcess[str]:
        """msprof over four kernels with markers around them."""
        words = ["msprof", "--output=out", "--msproftx=on", *flags, sys.executable, self.app(LOG + MARKS), "4"]
        return self.run(*words, **environ)

    @property
    def profs(self) -> list[Path]:
        """The PROF folders of `out`, oldest first."""
        return sorted((self.folder / "out").glob("PROF_*"))

    def files(self, name: str) -> list[Path]:
        """Every exported file of a table, oldest first."""
        return sorted((self.folder / "out").glob(f"PROF_*/mindstudio_profiler_output/{name}_*.csv"))

    def table(self, name: str) -> list[dict[str, str]]:
        """The rows of the only file of a table."""
        (path,) = self.files(name)
        return rows(path)


def header(path: Path) -> list[str]:
    """The names of the columns of a file."""
    with open(path, newline="") as file:
        return next(csv.reader(file))


def rows(path: Path) -> list[dict[str, str]]:
    """The rows of a file by the names of its columns."""
    with open(path, newline="") as file:
        return list(csv.DictReader(file))
