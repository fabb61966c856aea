"""A session's process seen from the parent, with workers that break the protocol in every way we thought of."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from msprun.launch import Worker
from msprun.model.plan import Command, Session

pytestmark = pytest.mark.process
FAKE = Path(__file__).parent / "fakes" / "odd_worker.py"


@contextmanager
def _worker(folder: Path, fault: str, log_limit_mb: float = 20) -> Iterator[Worker]:
    place = folder / "sessions" / "0"
    command = Command(
        argv=(sys.executable, str(FAKE), str(place / "job.json"), fault),
        cwd=folder,
        env=tuple(os.environ.items()),
        stdout=place / "stdout.log",
        stderr=place / "stderr.log",
    )
    session = Session(
        number=0, round="timing", profiler="clock", cases=(0,), sides=("reference",), folder=place, command=command
    )
    job = {"operator": {"name": "toy", "folder": str(folder)}, "cases": []}
    worker = Worker(session, job, log_limit_mb)
    try:
        yield worker
    finally:
        worker.close()


def test_a_sound_worker_answers_and_leaves_everything_to_run_it_again(tmp_path: Path) -> None:
    with _worker(tmp_path, "none") as worker:
        assert worker.greet(20) is None
        assert worker.environment == {"torch": "fake"}
        reply = worker.ask("echo", "timing", 20, word="é")
        assert reply.failure is None
        assert reply.body["heard"] == "é"
    folder = tmp_path / "sessions" / "0"
    assert {"wrapper.py", "job.json", "command.txt", "stdout.log", "stderr.log", "worker"} <= set(os.listdir(folder))
    assert str(FAKE) in (folder / "command.txt").read_text()
    assert not Path(worker._socket_folder).exists()


def test_a_worker_that_ends_before_it_speaks_is_explained_by_its_last_words(tmp_path: Path) -> None:
    with _worker(tmp_path, "exits_at_once") as worker:
        failure = worker.greet(20)
    assert failure is not None
    assert (failure.stage, failure.kind) == ("launch", "exit")
    assert failure.message == "the process ended itself with exit code 1: ModuleNotFoundError: No module named 'torch'"
    assert failure.log == "sessions/0/stderr.log"


def test_a_worker_that_never_speaks_is_stopped(tmp_path: Path) -> None:
    with _worker(tmp_path, "never_connects") as worker:
        failure = worker.greet(0.5)
    assert failure is not None
    assert (failure.stage, failure.kind) == ("launch", "timeout")


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("garbage", "not JSON"),
        ("wrong_nonce", "not of this session"),
        ("old_answer", "an answer to request 0, not to 1"),
    ],
)
def test_a_line_that_is_no_answer_ends_the_session(tmp_path: Path, fault: str, words: str) -> None:
    with _worker(tmp_path, fault) as worker:
        worker.greet(20)
        reply = worker.ask("time", "timing", 20)
        assert reply.failure is not None
        assert reply.failure.kind == "channel"
        assert words in reply.failure.message
        assert worker.is_lost
        again = worker.ask("time", "timing", 20)
        assert again.failure is not None
        assert again.failure.kind == "channel"


def test_a_failure_that_the_worker_reports_keeps_the_worker(tmp_path: Path) -> None:
    with _worker(tmp_path, "fails") as worker:
        worker.greet(20)
        reply = worker.ask("time", "check", 20)
        assert reply.failure is not None
        assert (reply.failure.stage, reply.failure.kind) == ("timing", "exception")
        assert reply.failure.message == "ValueError: no"
        assert reply.side == "candidate"
        assert worker.ask("echo", "timing", 20, word=1).body["heard"] == 1


def test_a_hang_is_stopped_and_says_which_side_and_where(tmp_path: Path) -> None:
    with _worker(tmp_path, "hangs") as worker:
        worker.greet(20)
        reply = worker.ask("time", "timing", 0.6)
    assert reply.failure is not None
    assert reply.failure.kind == "timeout"
    assert reply.failure.message == "no answer in time, stopped in forward (model.py:12)"
    assert reply.side == "candidate"


def test_the_mark_of_an_older_build_names_it(tmp_path: Path) -> None:
    with _worker(tmp_path, "dies_in_the_older_build") as worker:
        worker.greet(20)
        assert worker.ask("time", "timing", 60).side == "against"


def test_a_crash_is_noticed_although_its_child_holds_the_channel_open(tmp_path: Path) -> None:
    with _worker(tmp_path, "dies_and_leaves_a_child") as worker:
        worker.greet(20)
        reply = worker.ask("time", "timing", 60)
        assert reply.failure is not None
        assert reply.failure.kind == "signal"
        assert reply.failure.message.startswith("died of SIGSEGV")
        assert reply.side == "reference"
    child = int((tmp_path / "sessions" / "0" / "stdout.log").read_text())
    end = time.monotonic() + 10
    while time.monotonic() < end and _runs(child):
        time.sleep(0.05)
    assert not _runs(child)


def test_a_log_is_cut_at_its_limit(tmp_path: Path) -> None:
    with _worker(tmp_path, "floods_its_log", log_limit_mb=0.5) as worker:
        worker.greet(20)
        assert worker.ask("time", "timing", 60).failure is None
    assert (tmp_path / "sessions" / "0" / "stdout.log").stat().st_size <= 512 * 1024


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
