"""Operator folders written by a test, served in this process or by a real worker."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from msprun import render
from msprun.worker import protocol
from msprun.worker.failures import StageError
from msprun.worker.job import read_job
from msprun.worker.session import Session

NONCE = "nonce-of-the-test"
RULE = {"name": "default", "rule": "standard", "level": "L0", "budget_s": 20, "rtol": None, "atol": None,
        "threshold": None, "compare": None}  # fmt: skip
HEADER = "import torch\nfrom torch import nn\n\n"


class Bench:
    """A session of an operator folder. `check` runs one case as a parent would, up to its state."""

    def __init__(self, root: Path) -> None:
        self.operator = root / "my_op"
        self.folder = root / "session"
        self.operator.mkdir()
        self.folder.mkdir()
        (self.folder / "mark").write_bytes(b"-")

    def write(self, model: str | None = None, candidate: str | None = None) -> None:
        for name, text in (("model.py", model), ("model_new_ascendc.py", candidate)):
            if text is not None:
                (self.operator / name).write_text(HEADER + text)

    def job(self, cases: list[Any] | None = None, rule: dict[str, Any] | None = None, **more: Any) -> Path:
        descriptors = [None] if cases is None else cases
        content = {
            "nonce": NONCE, "socket": str(self.folder / "nobody"), "seed": 0, "device": "cpu", "threads": 1,
            "folder": str(self.folder), "log": str(self.folder / "results.jsonl"), "mark": str(self.folder / "mark"),
            "operator": {
                "name": "my_op", "folder": str(self.operator),
                "reference": {"file": "model.py", "cls": "Model"},
                "candidate": {"file": "model_new_ascendc.py", "cls": "ModelNew"},
            },
            "n_cases": len(descriptors),
            "cases": [{"index": i, "name": f"case{i}", "inputs": made} for i, made in enumerate(descriptors)],
            "sides": ["reference", "candidate"], "check": {**RULE, **(rule or {})}, "warmup": None, "repeats": None,
            **more,
        }  # fmt: skip
        path = self.folder / "job.json"
        path.write_text(json.dumps(content))
        return path

    def session(self, cases: list[Any] | None = None, rule: dict[str, Any] | None = None, **more: Any) -> Session:
        return Session(read_job(self.job(cases, rule, **more)))

    def check(self, model: str, candidate: str, rule: dict[str, Any] | None = None) -> dict[str, Any]:
        """The answer to `check` of case 0."""
        session, digest = self.ready(model, candidate, rule)
        answer: dict[str, Any] = session.check(0, "candidate", None, digest)
        return answer

    def ready(self, model: str, candidate: str, rule: dict[str, Any] | None = None) -> tuple[Session, str | None]:
        """A session in which both sides of case 0 were called once, and the hash of the reference's outputs."""
        self.write(model, candidate)
        session = self.session(rule=rule)
        session.load(0)
        digest = None
        for side in ("reference", "candidate"):
            session.construct(0, side)
            digest = session.first(0, side).get("hash") or digest
        return session, digest


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    paths, modules = list(sys.path), set(sys.modules)
    yield Bench(tmp_path)
    sys.path[:] = paths
    for name in set(sys.modules) - modules:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]


@pytest.fixture
def refused() -> Callable[..., StageError]:
    """The StageError of a call that must raise one."""

    def call(function: Callable[..., Any], *args: Any) -> StageError:
        with pytest.raises(StageError) as caught:
            function(*args)
        return caught.value

    return call


class Talk:
    """A real worker process and the parent's end of its socket."""

    def __init__(self, bench: Bench, start: bool = True, **more: Any) -> None:
        self.bench = bench
        self.path = bench.folder / "s"
        self.server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.server.bind(str(self.path))
        self.server.listen(1)
        self.server.settimeout(60)
        furnish(bench, socket=str(self.path), **more)
        with (bench.folder / "stdout.log").open("wb") as out, (bench.folder / "stderr.log").open("wb") as err:
            self.child = subprocess.Popen([sys.executable, str(bench.folder / "wrapper.py")], stdout=out, stderr=err)
        self.connection, _ = self.server.accept()
        self.connection.settimeout(60)
        self.lines = self.connection.makefile("rb")
        self.number = 0
        self.hello = self.answer()

    def answer(self) -> dict[str, Any] | None:
        line = self.lines.readline()
        return protocol.decode(line, NONCE) if line else None

    def send(self, do: str, **words: Any) -> None:
        self.number += 1
        self.connection.sendall(protocol.encode({"nonce": NONCE, "id": self.number, "do": do, **words}))

    def ask(self, do: str, **words: Any) -> dict[str, Any] | None:
        self.send(do, **words)
        return self.answer()

    def log(self, name: str) -> str:
        return (self.bench.folder / name).read_text()

    def close(self) -> None:
        self.connection.close()
        self.server.close()
        if self.child.poll() is None:
            self.child.kill()
        self.child.wait()


def furnish(bench: Bench, **more: Any) -> None:
    """The session's folder as the parent makes it."""
    bench.job(**more)
    shutil.copytree(Path(protocol.__file__).parent, bench.folder / "worker")
    text = render.render(
        "wrapper.py.j2",
        name='my "op"\n',
        folder=str(bench.operator),
        cases=1,
        command="python wrapper.py",
        created="now",
    )
    (bench.folder / "wrapper.py").write_text(text)


@pytest.fixture
def talk(bench: Bench) -> Iterator[Callable[..., Talk]]:
    started: list[Talk] = []

    def start(**more: Any) -> Talk:
        started.append(Talk(bench, **more))
        return started[-1]

    yield start
    for one in started:
        one.close()


@pytest.fixture
def by_hand(bench: Bench) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs the wrapper while nobody listens."""

    def run(**more: Any) -> subprocess.CompletedProcess[str]:
        furnish(bench, **more)
        return subprocess.run(
            [sys.executable, str(bench.folder / "wrapper.py")], capture_output=True, text=True, timeout=100
        )

    return run
