"""What holds for every test: no process without its marker, nobody's home but its own, a time limit, an honest root."""

from __future__ import annotations

import os
import pickle
import subprocess
import tempfile
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import pytest
from hypothesis import HealthCheck, settings

from msprun import spare

TORCH_TESTS_AT_MOST = 60
NOBODY = 65534
# Variables of the user's that change what msprun does or prints, by how they begin.
FOREIGN = ("MSPRUN_", "ASCEND_", "CUDA_", "HYDRA_", "XDG_", "COLUMNS", "FORCE_COLOR", "NO_COLOR", "LC_", "LANG")
STARTERS = (
    "fork", "forkpty", "posix_spawn", "posix_spawnp", "system",
    "execv", "execve", "execvp", "execvpe", "execl", "execle", "execlp", "execlpe",
)  # fmt: skip

# Machines under load are slow; a slow example is no finding.
settings.register_profile("msprun", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("msprun")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Torch takes seconds to start: the suite may only start it so often."""
    count = sum(item.get_closest_marker("torch") is not None for item in items)
    if count > TORCH_TESTS_AT_MOST:
        raise pytest.UsageError(f"{count} tests start torch, {TORCH_TESTS_AT_MOST} may: test below the worker")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Tests that are not marked `process` or `torch` cannot start one, and neither can the fixtures they cause."""
    if item.get_closest_marker("process") or item.get_closest_marker("torch"):
        return (yield)
    with _no_processes():
        return (yield)


@contextmanager
def _no_processes() -> Iterator[None]:
    def refuse(*_: object, **__: object) -> NoReturn:
        pytest.fail("a unit test may not start a process; mark it `process`, or `torch` where it starts torch")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subprocess.Popen, "__init__", refuse)
        # A half-made Popen must not complain when it is collected.
        patch.setattr(subprocess.Popen, "__del__", lambda self: None)
        for name in STARTERS:
            patch.setattr(os, name, refuse, raising=False)
        yield


@pytest.fixture(autouse=True)
def own_world(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home and nothing of the user's in the environment; the current directory, empty too."""
    home, here = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("cwd")
    for name in [n for n in os.environ if n.startswith(FOREIGN) and n != "MSPRUN_SAMPLES"]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / ".config"))
    monkeypatch.chdir(here)
    # The command as tests call it in this process begins no worker before anybody knows that one is needed.
    monkeypatch.setattr(spare, "start", lambda words, environ: None)
    return here


@pytest.fixture(scope="session")
def samples() -> Path:
    """The folder of real captures, which may not be committed."""
    if not (named := os.environ.get("MSPRUN_SAMPLES")):
        pytest.skip("MSPRUN_SAMPLES does not name the folder of real captures")
    return Path(named)


class Unprivileged:
    """A user who is not root, for whom permission bits count. `folder` is the user's own and empty."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def call(self, function: Callable[..., Any], *args: object) -> Any:
        """What the function returns, or raises, when that user calls it in a forked child (what it prints is captured).

        A fork and no exec: root's own interpreter is often in a folder that nobody else may enter. For the same
        reason the child cannot import what the test has not imported before.
        """
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            self._answer(writing, function, args)
        os.close(writing)
        with os.fdopen(reading, "rb") as pipe:
            answer = pipe.read()
        os.waitpid(child, 0)
        assert answer, "the child ended without an answer"
        returned, value, trace = pickle.loads(answer)
        if returned:
            return value
        value.add_note(trace) if hasattr(value, "add_note") else None
        raise value

    def _answer(self, writing: int, function: Callable[..., Any], args: tuple[object, ...]) -> NoReturn:
        try:
            become_nobody()
            os.chdir(self.folder)
            answer = (True, function(*args), "")
        except BaseException as error:
            answer = (False, error, traceback.format_exc())
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(pickle.dumps(answer))
        os._exit(0)


def become_nobody() -> None:
    """Give up root for good; who is not root stays who they are."""
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
        os.environ["HOME"] = "/nonexistent"


@pytest.fixture
def unprivileged() -> Iterator[Unprivileged]:
    """Runs functions as a user who is not root; the test is marked `process`."""
    # Not below tmp_path: pytest keeps that folder from other users.
    with tempfile.TemporaryDirectory(prefix="msprun-nobody-") as name:
        user = Unprivileged(Path(name))
        if os.geteuid() == 0:
            try:
                os.chown(name, NOBODY, NOBODY)
                user.call(os.geteuid)
            except OSError as error:
                pytest.skip(f"root cannot become another user here: {error}")
        yield user
