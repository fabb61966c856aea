"""The one door to processes and signals: start a command in its own group, end it, hear interrupts."""

from __future__ import annotations

import contextlib
import ctypes
import json
import math
import os
import selectors
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import IO

from msprun.errors import MachineError
from msprun.model.plan import Command, Heard, Outcome

# What a group is told after it did not obey the INT, and how long it may take before the next and harsher word.
PATIENCE = ((signal.SIGTERM, 1.0), (signal.SIGKILL, 5.0))
_POLITE = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# timeout(1) and a terminal that is closed tell a process, and then its group: that is one interrupt, not two.
_SAME_S = 0.3
_PR_SET_PDEATHSIG = 1
_POLL_S = 0.1
_LIMIT_BYTES = 1 << 20


class Spare:
    """A process that imports torch before anybody knows which session it will serve (see worker/spare.py)."""

    def __init__(self, argv: Sequence[str], env: Mapping[str, str], cwd: Path, late: Collection[str] = ()) -> None:
        """Start it; `late` are variables that nothing reads before it has become a session, which may bring others.

        Raises OSError when that is not possible.
        """
        self._python, self._env, self._cwd, self._late = argv[0], dict(env), cwd, late
        self._is_taken = False
        self._ours, theirs = socket.socketpair()
        with theirs, contextlib.ExitStack() as stack:
            stack.callback(self._ours.close)
            self._popen = subprocess.Popen(
                argv,
                cwd=cwd,
                env=self._env,
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
            stack.pop_all()

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._popen.pid

    def become(self, command: Command, fds: tuple[int, ...] = ()) -> subprocess.Popen[bytes] | None:
        """Hand the process over to a command that is a wrapper for the very environment in which it was started.

        `fds` are open in it from then on. None, and the process is ended, when the command wants something else or the
        process is gone.
        """
        if self._is_taken:
            return None
        env = dict(command.env)
        wanted = (command.argv[0], self._fixed(env), command.cwd, 2)
        if wanted != (self._python, self._fixed(self._env), self._cwd, len(command.argv)):
            self.dismiss()
            return None
        late = {name: env.get(name) for name in self._late}
        words = json.dumps([command.argv[1], str(command.stdout), str(command.stderr), late]).encode() + b"\n"
        try:
            # No descriptors is a message that not every system knows.
            socket.send_fds(self._ours, [words], fds) if fds else self._ours.sendall(words)
            self._ours.close()
        except OSError:
            self.dismiss()
            return None
        self._is_taken = True
        return self._popen

    def dismiss(self) -> None:
        """End it where nobody took it."""
        if self._is_taken:
            return
        self._is_taken = True
        with contextlib.suppress(OSError):
            os.killpg(self._popen.pid, signal.SIGKILL)
        self._popen.wait()
        self._ours.close()

    def _fixed(self, env: Mapping[str, str]) -> dict[str, str]:
        return {name: value for name, value in env.items() if name not in self._late}


class Child:
    """A running command that leads its own session, so that all it starts can be ended with it."""

    def __init__(self, command: Command, spare: Spare | None = None, fds: tuple[int, ...] = ()) -> None:
        """Start it, in a spare process where there is one that fits.

        `fds` stay open in it and in what it starts: leases, held as long as anybody is there who uses the device.
        Raises OSError when the program cannot be started or a log cannot be opened.
        """
        self.command = command
        self._started = time.monotonic()
        taken = spare.become(command, fds) if spare is not None else None
        self._popen = _start(command, fds) if taken is None else taken

    @property
    def pid(self) -> int:
        """Its process id, which is also its group's."""
        return self._popen.pid

    @property
    def is_running(self) -> bool:
        """Not ended yet."""
        return self._popen.poll() is None

    def wait(self, timeout_s: float | None) -> Outcome | None:
        """How it ended, or None when it still runs after `timeout_s` seconds."""
        try:
            self._popen.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return None
        return self._outcome(timed_out=False)

    def where(self, pid: int | None = None) -> None:
        """Ask a worker to write its stacks to its log; any other program dies of it, so a wrapped one has its `pid`."""
        self._tell(signal.SIGUSR1, pid)

    def interrupt(self, pid: int | None = None) -> None:
        """Have a worker break off the call that it is in; without the `pid` of a wrapped one the whole group stops."""
        self._tell(signal.SIGINT, pid)

    def _tell(self, number: signal.Signals, pid: int | None) -> None:
        if pid is None:
            self._send(number)
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)

    def end(self, *, timed_out: bool = False, at_once: bool = False) -> Outcome:
        """End the whole group: INT, TERM, KILL, each with its patience; `at_once` goes straight to KILL."""
        words = ((signal.SIGINT, self.command.grace_s), *PATIENCE)
        for number, patience_s in words[-1:] if at_once else words:
            self._send(number)
            try:
                self._popen.wait(patience_s)
                break
            except subprocess.TimeoutExpired:
                continue
        self._send(signal.SIGKILL)  # the leader is gone; what it started may not be
        return self._outcome(timed_out=timed_out)

    def _send(self, number: signal.Signals) -> None:
        try:
            os.killpg(self._popen.pid, number)
        except (ProcessLookupError, PermissionError):
            return

    def _outcome(self, *, timed_out: bool) -> Outcome:
        code = self._popen.returncode
        died_of = -code if code is not None and code < 0 else None
        return Outcome(
            returncode=code if died_of is None else None,
            signal=died_of,
            timed_out=timed_out,
            elapsed_s=time.monotonic() - self._started,
        )


def run(command: Command) -> Outcome:
    """Run a command to its end or to its `timeout_s`."""
    child = Child(command)
    try:
        return child.wait(command.timeout_s) or child.end(timed_out=True)
    except BaseException:
        child.end()
        raise


def capture(argv: Sequence[str], env: Mapping[str, str], timeout_s: float, limit_bytes: int = _LIMIT_BYTES) -> Heard:
    """What a small tool prints, both channels together, of which the first `limit_bytes` are kept.

    It is over when the tool ends, prints too much or takes too long; then its whole group is killed, so that nothing
    that it started stays behind. Raises OSError when it cannot be started.
    """
    began = time.monotonic()
    popen = subprocess.Popen(
        argv,
        env=dict(env),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    assert popen.stdout is not None
    with popen.stdout:
        try:
            text, timed_out = _listen(popen, began + timeout_s, limit_bytes)
        finally:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(popen.pid, signal.SIGKILL)
    with contextlib.suppress(subprocess.TimeoutExpired):  # a tool that hangs inside its driver dies when it returns
        popen.wait(1.0)
    code = popen.returncode
    died_of = -code if code is not None and code < 0 else None
    return Heard(
        returncode=code if died_of is None else None,
        signal=died_of,
        timed_out=timed_out,
        elapsed_s=time.monotonic() - began,
        text=text[:limit_bytes].decode(errors="replace"),
        is_cut=len(text) > limit_bytes,
    )


def _listen(popen: subprocess.Popen[bytes], end: float, limit_bytes: int) -> tuple[bytes, bool]:
    """What comes until the tool has ended, and whether `end` (monotonic seconds) came first."""
    assert popen.stdout is not None
    text = b""
    with selectors.DefaultSelector() as selector:
        selector.register(popen.stdout, selectors.EVENT_READ)
        while len(text) <= limit_bytes:
            if time.monotonic() >= end:
                return text, True
            is_over = popen.poll() is not None  # a grandchild may hold the pipe open for ever
            if selector.select(0 if is_over else min(_POLL_S, max(0.0, end - time.monotonic()))):
                part = os.read(popen.stdout.fileno(), 1 << 16)
                if not part:
                    break
                text += part
            elif is_over:
                break
    if len(text) <= limit_bytes:
        with contextlib.suppress(subprocess.TimeoutExpired):
            popen.wait(max(0.0, end - time.monotonic()))
        return text, popen.returncode is None
    return text, False


def signal_name(number: int) -> str:
    """`SIGSEGV (Segmentation fault)`; the bare number where this system has no such signal."""
    try:
        name = signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
    return f"{name} ({signal.strsignal(number)})"


@contextmanager
def interruptible() -> Iterator[None]:
    """Inside, TERM and HUP are a KeyboardInterrupt as Ctrl-C is, also where a shell's `&` had INT ignored."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    with _handling(interrupt):
        yield


class Hold:
    """An end that INT, TERM or HUP ask for and that waits for a better moment, as long as `patience` says (s).

    Without patience, and when it is asked for once more, it is a KeyboardInterrupt at once. `heard` is called by the
    first who looks: a signal may come while somebody writes, and then nothing can be said.
    """

    def __init__(self, patience: Callable[[], float], heard: Callable[[], None]) -> None:
        self.patience = patience
        self.is_final = False
        self._heard = heard
        self._asked_s: float | None = None
        self._is_told = False

    def hear(self, number: int, frame: FrameType | None) -> None:
        """Handle a signal. Raises KeyboardInterrupt."""
        now = time.monotonic()
        if self._asked_s is None and self.patience() > 0:
            self._asked_s = now
        elif self._asked_s is None or now - self._asked_s > _SAME_S:
            self.is_final = True
            raise KeyboardInterrupt

    @property
    def is_asked(self) -> bool:
        """Somebody wants the end."""
        if self._asked_s is not None and not self._is_told:
            self._is_told = True
            self._heard()
        return self._asked_s is not None

    @property
    def left_s(self) -> float:
        """Seconds for which they still wait; infinity where nobody does."""
        if not self.is_asked or self._asked_s is None:
            return math.inf
        return max(0.0, self._asked_s + self.patience() - time.monotonic())


@contextmanager
def held(patience: Callable[[], float], heard: Callable[[], None]) -> Iterator[Hold]:
    """Inside, the first INT, TERM or HUP waits for whoever looks at the Hold; at the end it is a KeyboardInterrupt.

    So is a MachineError then: whoever wants the end does not ask what hinders the way to it.
    """
    hold = Hold(patience, heard)
    with _handling(hold.hear):
        try:
            yield hold
        except MachineError:
            if not hold.is_asked:
                raise
    if hold.is_asked:
        raise KeyboardInterrupt


@contextmanager
def undisturbed() -> Iterator[None]:
    """Inside, INT, TERM and HUP are not heard: for the last writes of an interrupted run."""
    with _handling(signal.SIG_IGN):
        yield


@contextmanager
def _handling(handler: Callable[[int, FrameType | None], object] | signal.Handlers) -> Iterator[None]:
    before = {number: signal.signal(number, handler) for number in _POLITE}
    try:
        yield
    finally:
        for number, known in before.items():
            signal.signal(number, known)


def _start(command: Command, fds: tuple[int, ...]) -> subprocess.Popen[bytes]:
    with _appending(command.stdout) as out, _appending(command.stderr) as err:
        return subprocess.Popen(
            command.argv,
            cwd=command.cwd,
            env=dict(command.env),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
            pass_fds=fds,
            preexec_fn=_die_with_parent if command.dies_with_parent else None,
        )


def _die_with_parent() -> None:
    """In the child, before the program begins: the kernel kills it when msprun goes, however that happens."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _appending(path: Path) -> IO[bytes]:
    return path.open("ab", buffering=0)
