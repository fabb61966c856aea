"""Starting, waiting for and ending processes, with real programs that do not want to end."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from msprun import process
from msprun.errors import MachineError
from msprun.model.plan import Command

pytestmark = pytest.mark.process


def _command(folder: Path, text: str, timeout_s: float | None = None) -> Command:
    return Command(
        argv=(sys.executable, "-c", text),
        cwd=folder,
        env=tuple(os.environ.items()),
        stdout=folder / "out",
        stderr=folder / "err",
        timeout_s=timeout_s,
    )


def _await(path: Path) -> str:
    end = time.monotonic() + 20
    while time.monotonic() < end:
        if path.exists() and path.read_text():
            return path.read_text()
        time.sleep(0.02)
    raise AssertionError(f"{path} did not appear")


def _is_alive(pid: int) -> bool:
    """Zombies are dead: nobody in this container may be there to reap an orphan."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def _await_death(pid: int) -> bool:
    end = time.monotonic() + 10
    while time.monotonic() < end and _is_alive(pid):
        time.sleep(0.02)
    return not _is_alive(pid)


def test_an_exit_code_and_both_channels_are_kept(tmp_path: Path) -> None:
    outcome = process.run(_command(tmp_path, "import sys; print('a'); print('b', file=sys.stderr); sys.exit(7)"))
    assert (outcome.returncode, outcome.signal, outcome.timed_out) == (7, None, False)
    assert (tmp_path / "out").read_text() == "a\n"
    assert (tmp_path / "err").read_text() == "b\n"


def test_a_death_by_signal_is_named(tmp_path: Path) -> None:
    outcome = process.run(_command(tmp_path, "import os; os.kill(os.getpid(), 11)"))
    assert (outcome.returncode, outcome.signal) == (None, signal.SIGSEGV)
    assert process.signal_name(11) == "SIGSEGV (Segmentation fault)"
    assert process.signal_name(63) == "signal 63"


def test_a_program_that_ignores_int_and_term_is_killed_at_its_limit(tmp_path: Path) -> None:
    text = (
        "import signal, time; signal.signal(2, signal.SIG_IGN); signal.signal(15, signal.SIG_IGN);"
        "print('ready', flush=True); time.sleep(600)"
    )
    outcome = process.run(_command(tmp_path, text, timeout_s=1.0))
    assert outcome.timed_out
    assert outcome.signal == signal.SIGKILL
    assert 1.0 <= outcome.elapsed_s < 60


def test_what_a_program_started_ends_with_it(tmp_path: Path) -> None:
    text = (
        "import subprocess, sys, time; p = subprocess.Popen([sys.executable, '-c', "
        "'import signal, time; signal.signal(15, signal.SIG_IGN); signal.signal(2, signal.SIG_IGN); time.sleep(600)']);"
        "print(p.pid, flush=True); time.sleep(600)"
    )
    child = process.Child(_command(tmp_path, text))
    grandchild = int(_await(tmp_path / "out"))
    assert _is_alive(grandchild)
    child.end()
    assert _await_death(grandchild)


def test_a_polite_program_gets_the_time_to_say_goodbye(tmp_path: Path) -> None:
    text = (
        "import signal, sys, time; signal.signal(2, lambda *a: (print('bye', flush=True), sys.exit(3)));"
        "print('ready', flush=True); time.sleep(600)"
    )
    child = process.Child(_command(tmp_path, text))
    _await(tmp_path / "out")
    assert child.end().returncode == 3
    assert (tmp_path / "out").read_text() == "ready\nbye\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_inside_interruptible_every_polite_signal_is_an_interrupt(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    with pytest.raises(KeyboardInterrupt), process.interruptible():
        os.kill(os.getpid(), number)
        time.sleep(1)
    assert signal.getsignal(number) is before


class Told:
    """Who looks at a hold, and what they hear."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self) -> None:
        self.times += 1


def interrupt(number: signal.Signals = signal.SIGINT) -> None:
    os.kill(os.getpid(), number)
    time.sleep(0.01)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_held_interrupt_is_told_to_who_looks_and_ends_what_it_waited_for(number: signal.Signals) -> None:
    before, told, steps = signal.getsignal(number), Told(), []
    with pytest.raises(KeyboardInterrupt), process.held(lambda: 5.0, told) as hold:
        assert not hold.is_asked and hold.left_s == float("inf")
        interrupt(number)
        assert told.times == 0  # whoever writes just now is not disturbed
        steps.append(hold.is_asked)
        assert 4.0 < hold.left_s <= 5.0 and not hold.is_final
        steps.append(hold.is_asked)
    assert (steps, told.times) == ([True, True], 1)
    assert signal.getsignal(number) is before


def test_a_second_interrupt_waits_for_nothing_but_one_that_comes_twice_at_once_does() -> None:
    with pytest.raises(KeyboardInterrupt), process.held(lambda: 5.0, Told()) as hold:
        interrupt()
        interrupt(signal.SIGTERM)
        assert not hold.is_final
        time.sleep(0.4)
        interrupt()
        raise AssertionError("it was held")
    assert hold.is_final


def test_without_patience_an_interrupt_is_not_held() -> None:
    patience = [0.0]
    with pytest.raises(KeyboardInterrupt), process.held(lambda: patience[0], Told()) as hold:
        interrupt()
        raise AssertionError("it was held")
    assert hold.is_final


def test_patience_ends_and_its_measure_may_change() -> None:
    with pytest.raises(KeyboardInterrupt), process.held(lambda: 0.01, Told()) as hold:
        interrupt()
        time.sleep(0.02)
        assert hold.left_s == 0
        hold.patience = lambda: 30.0
        assert 29.0 < hold.left_s < 30.0


def test_what_goes_wrong_behind_an_interrupt_is_the_interrupt() -> None:
    error = MachineError("no worker", "try again")
    with pytest.raises(KeyboardInterrupt), process.held(lambda: 5.0, Told()):
        interrupt()
        raise error
    with pytest.raises(MachineError), process.held(lambda: 5.0, Told()):
        raise error


def test_the_last_writes_are_not_disturbed() -> None:
    with process.undisturbed():
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            os.kill(os.getpid(), number)
        time.sleep(0.01)


def test_what_a_tool_prints_on_both_channels_is_heard(tmp_path: Path) -> None:
    text = "import os, sys; print(os.environ['WORD'], flush=True); print('b', file=sys.stderr); sys.exit(3)"
    heard = process.capture((sys.executable, "-c", text), {**os.environ, "WORD": "a"}, 20.0)
    assert (heard.text, heard.returncode, heard.signal, heard.timed_out) == ("a\nb\n", 3, None, False)
    assert not heard.is_cut


def test_a_tool_that_hangs_is_killed_with_what_it_started(tmp_path: Path) -> None:
    text = (
        "import os, signal, subprocess, sys, time; signal.signal(15, signal.SIG_IGN);"
        "p = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)']);"
        "print(p.pid, flush=True); time.sleep(600)"
    )
    heard = process.capture((sys.executable, "-c", text), os.environ, 1.5)
    assert heard.timed_out
    assert (heard.returncode, heard.signal) == (None, signal.SIGKILL)
    assert _await_death(int(heard.text))


def test_a_tool_that_never_stops_printing_is_stopped(tmp_path: Path) -> None:
    heard = process.capture((sys.executable, "-c", "while True: print('x' * 1000)"), os.environ, 20.0, 5000)
    assert heard.is_cut and not heard.timed_out
    assert len(heard.text) == 5000
    assert heard.elapsed_s < 15


def test_a_child_that_a_tool_leaves_behind_does_not_keep_us_waiting(tmp_path: Path) -> None:
    sleeper = "[sys.executable, '-c', 'import time; time.sleep(600)']"
    text = f"import subprocess, sys; p = subprocess.Popen({sleeper}); print(p.pid)"
    heard = process.capture((sys.executable, "-c", text), os.environ, 20.0)
    assert (heard.returncode, heard.timed_out) == (0, False)
    assert heard.elapsed_s < 15
    assert _await_death(int(heard.text))


def test_a_tool_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="no-such-tool"):
        process.capture((str(tmp_path / "no-such-tool"),), os.environ, 1.0)


def test_a_descriptor_stays_open_in_the_child_that_is_given_it(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    child = process.Child(_command(tmp_path, f"import os; os.write({writing}, b'mine')"), fds=(writing,))
    os.close(writing)
    assert child.wait(20) is not None
    assert os.read(reading, 10) == b"mine"
    os.close(reading)
