"""One session's process and the talk with it: start a worker, ask it, notice when it is lost."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import socket
import tempfile
import time
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from msprun import process, render
from msprun.disk import write_atomically
from msprun.errors import MachineError
from msprun.model.failure import Failure, Stage
from msprun.model.operator import ALL_SIDES, Side
from msprun.model.plan import Outcome, Session
from msprun.profiler import COLLECTORS
from msprun.worker import protocol

_POLL_S = 0.2
_LINE_LIMIT = 64 << 20


class Reply(Struct, frozen=True, kw_only=True):
    """A worker's answer: `body`, or the `failure` and the side whose code caused it (None: not known, or neither)."""

    body: dict[str, Any] = {}
    failure: Failure | None = None
    side: Side | None = None


class Worker:
    """A live session. After a failure that `is_lost` confirms it answers nothing more.

    With a `hold` whoever interrupts msprun is heard while something is waited for, and not kept waiting for longer.
    """

    def __init__(
        self,
        session: Session,
        job: dict[str, Any],
        log_limit_mb: float,
        spare: process.Spare | None = None,
        fds: tuple[int, ...] = (),
    ) -> None:
        """Write the session's folder and start it, `fds` left open. Raises MachineError where that is not possible."""
        self.session = session
        self.environment: dict[str, Any] = {}
        self.is_lost = False
        self.hold: process.Hold | None = None
        self._is_owing = False
        self._limit_bytes = int(log_limit_mb * (1 << 20))
        self._nonce = secrets.token_hex(8)
        self._id = 0
        self._buffer = b""
        self._mark = session.folder / "mark"
        self._socket_folder = Path(tempfile.mkdtemp(prefix="msprun-"))  # 0700; paths of sockets end at 107 bytes
        try:
            self._server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            self._server.bind(str(self._socket_folder / "s"))
            self._server.listen(1)
            self._furnish(job)
            self._child = process.Child(session.command, spare, fds)
        except OSError as error:
            self._forget_socket()
            raise MachineError(f"a session cannot be started: {error}", "is there room and right to write?") from error
        self._connection: socket.socket | None = None

    def greet(self, timeout_s: float) -> Failure | None:
        """Wait until it has imported torch and says hello."""
        self._server.settimeout(_POLL_S)
        end = time.monotonic() + timeout_s
        while time.monotonic() < end:
            try:
                self._connection, _ = self._server.accept()
                break
            except TimeoutError:
                if not self._child.is_running:
                    return self._lose("launch", self._child.end(), None).failure
        self._forget_socket()
        if self._connection is None:
            return self._lose("launch", self._child.end(timed_out=True), None).failure
        reply = self._answer(0, "launch", None, end)
        self.environment = reply.body.get("environment", {})
        return reply.failure

    def ask(self, do: str, stage: Stage, timeout_s: float, *, side: Side | None = None, **words: Any) -> Reply:
        """One request and its answer. A lost worker, a hang and a broken channel are failures, never exceptions.

        Raises KeyboardInterrupt where the hold has no more patience: `settle` then comes before another request.
        """
        if self._connection is None or self.is_lost:
            return Reply(failure=Failure(stage=stage, kind="channel", message="the worker is gone"), side=side)
        self._id += 1
        message = {"nonce": self._nonce, "id": self._id, "do": do, **words}
        if side is not None:
            message["side"] = side
        end = time.monotonic() + timeout_s
        self._is_owing = True
        with contextlib.suppress(OSError):  # a dead worker is noticed, and explained, while its answer is awaited
            self._connection.settimeout(timeout_s)
            self._connection.sendall(protocol.encode(message))
        reply = self._answer(self._id, stage, side, end)
        self._is_owing = False
        return reply

    def settle(self, patience_s: float) -> Reply | None:
        """Have a worker break off the call that nobody waits for any more: its answer, or None where none comes."""
        if not self._is_owing:
            return Reply()
        self._child.interrupt(self._pid)
        with contextlib.suppress(TimeoutError, protocol.ChannelError):
            line = self._line(time.monotonic() + patience_s)
            found = None if line is None else self._reply(self._message(line, self._id), "timing", None)
            self._is_owing = False  # an answer, or the end of a worker that died of the interrupt
            return found
        return None

    @property
    def pid(self) -> int:
        """The process that leads the session."""
        return self._child.pid

    def close(self, patience_s: float = 2.0) -> None:
        """Say goodbye, give it that long to end by itself, then end what is left."""
        if self._connection is not None:
            with contextlib.suppress(OSError):
                self._connection.sendall(protocol.encode({"nonce": self._nonce, "id": self._id + 1, "do": "bye"}))
            self._connection.close()
            self._connection = None
            if not self.is_lost:
                self._await_end(patience_s)
        self._child.end()
        self._forget_socket()
        self._trim_logs()
        shutil.rmtree(self.session.folder / "outputs", ignore_errors=True)  # compared, and as large as the operator's

    def _await_end(self, patience_s: float) -> None:
        """Give it that long, and no longer than whoever interrupts has patience."""
        if self._is_owing:  # it does not listen; an msprof around it does, and collects for a second more
            self._child.interrupt()
        end = time.monotonic() + patience_s
        while (left_s := min(end - time.monotonic(), _POLL_S)) > 0 and not self._is_urgent:
            if self._child.wait(left_s) is not None:
                return

    @property
    def _is_urgent(self) -> bool:
        """Somebody interrupts and has waited long enough."""
        return self.hold is not None and self.hold.left_s <= 0

    @property
    def _pid(self) -> int | None:
        """The worker's own where it is not the one that leads the session."""
        return self.environment.get("pid") if self.session.command.dies_with_parent else None

    def kill(self) -> None:
        """End it now: for interrupts."""
        self.is_lost = True
        self._child.end(at_once=True)
        self.close()

    def _furnish(self, job: dict[str, Any]) -> None:
        folder = self.session.folder
        folder.mkdir(parents=True)
        own = Path(protocol.__file__).parent
        shutil.copytree(own, folder / "worker")  # with the bytecode, which keeps a tenth of a second of every start
        self._mark.write_bytes(protocol.IDLE)
        job = {**job, "nonce": self._nonce, "socket": str(self._socket_folder / "s"), "mark": str(self._mark)}
        write_atomically(folder / "job.json", msgspec.json.format(msgspec.json.encode(job), indent=1))
        command = " ".join(self.session.command.argv)
        write_atomically(folder / "command.txt", command + "\n")
        operator = job["operator"]
        text = render.render(
            "wrapper.py.j2",
            name=operator["name"],
            folder=operator["folder"],
            cases=len(job["cases"]),
            command=command,
            created=time.strftime("%Y-%m-%d %H:%M:%S"),
        )
        write_atomically(folder / "wrapper.py", text)

    def _forget_socket(self) -> None:
        self._server.close()
        shutil.rmtree(self._socket_folder, ignore_errors=True)

    def _answer(self, number: int, stage: Stage, side: Side | None, end: float) -> Reply:
        try:
            line = self._line(end)
        except TimeoutError:
            side = self._guilty(side)  # before the INT, of which many an operator returns, and the mark with it
            self._child.where(self._pid)
            time.sleep(_POLL_S)
            return self._lose(stage, self._child.end(timed_out=True), side)
        if line is None:
            outcome = self._child.wait(2.0) or self._child.end(at_once=self.session.command.dies_with_parent)
            return self._lose(stage, outcome, side)
        try:
            message = self._message(line, number)
        except protocol.ChannelError as error:
            self._child.end(at_once=True)
            self.is_lost = True
            failure = Failure(
                stage=stage, kind="channel", message=f"the worker's channel broke: {error}", log=self._log()
            )
            return Reply(failure=failure, side=self._guilty(side))
        return self._reply(message, stage, side)

    def _message(self, line: bytes, number: int) -> dict[str, Any]:
        """A line as the answer to a request. Raises ChannelError when it is none."""
        message: dict[str, Any] = protocol.decode(line, self._nonce)
        if message.get("id") != number:
            raise protocol.ChannelError(f"an answer to request {message.get('id')}, not to {number}")
        return message

    def _reply(self, message: dict[str, Any], stage: Stage, side: Side | None) -> Reply:
        if message.get("ok") is True:
            return Reply(body=message)
        told = message.get("failure") or {}
        failure = Failure(
            stage=told.get("stage") or stage,
            kind=str(told.get("kind", "exception")),
            message=str(told.get("message", "no reason was given")),
            log=self._log(),
        )
        return Reply(body=message, failure=failure, side=told.get("side") or side)

    def _line(self, end: float) -> bytes | None:
        """The next line; None when the worker is gone. Raises TimeoutError at `end` (monotonic seconds).

        Raises KeyboardInterrupt where the hold has no more patience.
        """
        assert self._connection is not None
        while b"\n" not in self._buffer:
            left = end - time.monotonic()
            if left <= 0:
                raise TimeoutError
            self._connection.settimeout(min(left, _POLL_S))
            try:
                part = self._connection.recv(1 << 16)
            except TimeoutError:
                self._trim_logs()
                if not self._child.is_running:  # what it started may still hold the socket open
                    return None
                if self._is_urgent:
                    raise KeyboardInterrupt from None
                continue
            except OSError:
                return None
            if not part or len(self._buffer) > _LINE_LIMIT:
                return None
            self._buffer += part
        line, _, self._buffer = self._buffer.partition(b"\n")
        self._trim_logs()
        return line

    def _lose(self, stage: Stage, outcome: Outcome, side: Side | None) -> Reply:
        self.is_lost = True
        failure = explain(stage, outcome, self.session.folder / "stderr.log")
        said = self.complaint()
        if said is not None and not outcome.timed_out:  # exit codes and signals read the same
            where = _last_place(self.session.folder / "stderr.log")
            failure = msgspec.structs.replace(failure, kind="crash", message=said + where)
        return Reply(failure=msgspec.structs.replace(failure, log=self._log()), side=self._guilty(side))

    def complaint(self) -> str | None:
        """What the program around the worker says that went wrong; its exit code does not tell."""
        if not self.session.command.dies_with_parent:
            return None
        return COLLECTORS[self.session.profiler].complaint(self.said())

    def said(self) -> str:
        """The last lines of the session's log."""
        return "\n".join(_tail(self.session.log))

    def _guilty(self, side: Side | None) -> Side | None:
        """The side whose call was running: the worker marks it before each block."""
        if side is not None:
            return side
        try:
            mark = self._mark.read_bytes()[:1]
        except OSError:
            return None
        return next((side for side in ALL_SIDES if protocol.MARKS[side] == mark), None)

    def _log(self) -> str:
        return f"sessions/{self.session.number}/stderr.log"

    def _trim_logs(self) -> None:
        """Logs are appended to, so that cutting one off keeps its beginning and lets it go on."""
        for path in (self.session.command.stdout, self.session.command.stderr):
            with contextlib.suppress(OSError):
                if path.stat().st_size > self._limit_bytes:
                    os.truncate(path, self._limit_bytes)


def explain(stage: Stage, outcome: Outcome, stderr: Path) -> Failure:
    """Why a process ended, in one line: its signal or code, and where the log says it was."""
    where = _last_place(stderr)
    if outcome.timed_out:
        return Failure(stage=stage, kind="timeout", message=f"no answer in time, stopped{where}")
    if outcome.signal is not None:
        return Failure(stage=stage, kind="signal", message=f"died of {process.signal_name(outcome.signal)}{where}")
    last = _last_line(stderr) if stage == "launch" else ""
    return Failure(
        stage=stage,
        kind="exit",
        message=f"the process ended itself with exit code {outcome.returncode}{where}" + (f": {last}" if last else ""),
    )


def _tail(path: Path, size: int = 16384) -> list[str]:
    try:
        with path.open("rb") as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() - size))
            return file.read().decode(errors="replace").splitlines()
    except OSError:
        return []


def _last_line(path: Path) -> str:
    lines = [line.strip() for line in _tail(path) if line.strip()]
    return lines[-1][:300] if lines else ""


def _last_place(path: Path) -> str:
    """The innermost frame that faulthandler wrote for the current thread, as ` in forward (model.py:12)`."""
    lines = _tail(path)
    heads = [i for i, line in enumerate(lines) if line.startswith(("Current thread", "Thread"))]
    current = [i for i in heads if lines[i].startswith("Current thread")] or heads
    for line in lines[current[-1] + 1 :] if current else ():
        text = line.strip()
        if text.startswith('File "') and "worker/" not in text and "/torch/" not in text:
            file, _, rest = text[6:].partition('", line ')
            number, _, function = rest.partition(" in ")
            return f" in {function} ({Path(file).name}:{number})"
    return ""
