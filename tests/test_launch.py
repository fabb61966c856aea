"""A session's process seen from the parent, with workers that break the protocol in every way we thought of."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import pytest

from msprun.launch import Reply, Worker
from msprun.model.plan import Command, Session
from msprun.process import Hold, held

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
    job = {"operator": {"name": "toy", "folder": str(folder)}, "cases": [], "folder": str(place)}
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
        stored = tmp_path / "sessions" / "0" / "outputs" / "case0"
        stored.parent.mkdir()
        stored.write_bytes(b"a gigabyte of the reference's outputs")
    folder = tmp_path / "sessions" / "0"
    assert not stored.parent.exists()
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


@contextmanager
def _broken_off(folder: Path, fault: str, patience_s: float = 0.3) -> Iterator[tuple[Worker, Hold]]:
    """A worker whose answer was waited for until an interrupt had no more patience."""
    with _worker(folder, fault) as worker:
        worker.greet(20)
        began = time.monotonic()
        with pytest.raises(KeyboardInterrupt), held(lambda: patience_s, lambda: None) as hold:
            worker.hold = hold
            with _interrupted(folder / "sessions" / "0" / "begun"):
                worker.ask("time", "timing", 60)
        assert patience_s <= time.monotonic() - began < 20
        assert not hold.is_final and not worker.is_lost
        hold.patience = lambda: 60.0
        yield worker, hold


@contextmanager
def _interrupted(begun: Path) -> Iterator[None]:
    """An interrupt comes as soon as the worker is in its call."""

    def interrupt() -> None:
        while not begun.exists():
            time.sleep(0.02)
        os.kill(os.getpid(), signal.SIGINT)

    thread = Thread(target=interrupt)
    thread.start()
    yield
    thread.join()


def test_a_call_that_was_broken_off_answers_and_the_channel_is_in_step(tmp_path: Path) -> None:
    with _broken_off(tmp_path, "is_slow") as (worker, _):
        answer = worker.settle(20)
        assert answer is not None and answer.failure is not None
        assert (answer.failure.message, answer.body["abandoned"]) == ("KeyboardInterrupt", [7])
        assert worker.settle(20) == Reply()  # nothing is owed any more
        assert worker.ask("echo", "timing", 20, word=1).body["heard"] == 1


@pytest.mark.parametrize(("fault", "patience_s"), [("is_deaf", 0.3), ("dies_of_an_interrupt", 20)])
def test_a_worker_that_does_not_come_back_from_its_call_has_no_answer(
    tmp_path: Path, fault: str, patience_s: float
) -> None:
    with _broken_off(tmp_path, fault) as (worker, _):
        assert worker.settle(patience_s) is None


def test_the_end_of_a_worker_is_waited_for_no_longer_than_an_interrupt_has_patience(tmp_path: Path) -> None:
    with _broken_off(tmp_path, "is_deaf") as (worker, hold):
        hold.patience = lambda: 1.0
        began = time.monotonic()
        worker.close(60)
        assert time.monotonic() - began < 20
    assert not _runs(worker.pid)


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
