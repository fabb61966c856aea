"""One worker at a time for all cases: started again after it was lost, given back what the next question needs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NoReturn

from msgspec.structs import replace

from msprun import acl
from msprun.bench import Bench, Service, job, session
from msprun.contract import Collector
from msprun.errors import MachineError
from msprun.launch import Reply, Worker
from msprun.measure.limit import limit
from msprun.measure.sentinel import Seen, Sentinel
from msprun.measure.tally import Tally
from msprun.model.failure import Failure, Stage
from msprun.model.operator import Side
from msprun.model.plan import Plan, Session
from msprun.process import Hold, Spare
from msprun.profiler import COLLECTORS
from msprun.work.facts import of_worker

_PROBE_S = 20.0
_GOODBYE_S = 2.0
_SETTLE_S = 2.0
_OCCUPIED_S = 2.0
_GIB = 1 << 30
_TOO_LARGE = "no other case or side was in memory beside it: free some memory, or give the case smaller inputs"
_TIGHT = "a process for each side needs less memory: isolation=side"


class SickDevice(MachineError):
    """Fresh processes fail on the device, whatever they run."""


class Crew:
    """The worker of a run, or of one session's `service`. `on_hello` hears each new worker's environment."""

    def __init__(
        self,
        plan: Plan,
        made: Bench,
        on_hello: Callable[[dict[str, Any]], None],
        service: Service | None = None,
        sentinel: Sentinel | None = None,
    ) -> None:
        self._sentinel = sentinel
        self._plan = plan
        self._service = service or Service(cases=plan.cases, sides=plan.sides)
        self._spare: Spare | None = None
        self._made = made
        self._on_hello = on_hello
        self._worker: Worker | None = None
        self._pending: Worker | None = None
        self._started = len(list((plan.folder / "sessions").glob("[0-9]*")))  # of the run that is resumed
        self._loaded: dict[int, int] = {}
        self._ready: set[tuple[int, Side]] = set()
        self._hashes: dict[int, str] = {}
        self._retries = plan.retry
        self.sessions: list[Session] = []
        self._room = _free_bytes() // 4
        self._hold: Hold | None = None

    def heed(self, hold: Hold) -> None:
        """From now on whoever interrupts waits for the request under way; no other one about a case follows it."""
        self._hold = hold
        if self._worker is not None:
            self._worker.hold = hold

    def settle(self) -> Reply | None:
        """What the worker answers to a request that an interrupt broke off; None where it does not answer."""
        return None if self._worker is None else self._worker.settle(_SETTLE_S)

    def ask(self, do: str, stage: Stage, tally: Tally, deadline: float | None = None, **words: Any) -> Reply:
        """One request about a case, answered by `deadline` (monotonic seconds; None: the limit of its stage from now).

        After a failure the worker is probed, and dropped when it is no longer sound. Where memory is short, it is asked
        again with less in it, but not in the middle of timing. Raises KeyboardInterrupt.
        """
        reply = self._ask(do, stage, tally, deadline, words)
        while stage != "timing" and self.make_room(tally, reply, may_part=stage != "breakdown"):  # its sides were timed
            reply = self._ask(do, stage, tally, deadline, words)
        return reply

    def _ask(self, do: str, stage: Stage, tally: Tally, deadline: float | None, words: dict[str, Any]) -> Reply:
        if self._hold is not None and self._hold.is_asked:
            raise KeyboardInterrupt
        key, limit_s = limit(self._plan, stage, tally)
        left_s = limit_s if deadline is None else deadline - time.monotonic()
        hint = f"more time: {key}={2 * limit_s:g}"
        if left_s <= 0:  # between two requests: the worker is sound, only the case's time is over
            message = f"its calls took longer than {limit_s:g} s"
            return Reply(failure=Failure(stage=stage, kind="timeout", message=message, hint=hint))
        worker = self._present()
        reply = worker.ask(do, stage, left_s, case=tally.case.index, **words)
        tally.note(reply.body.get("notes") or [])  # whatever the worker noticed since its last answer
        if reply.failure is None:
            return reply
        failure = self._explained(reply.failure, worker)
        if not worker.is_lost:
            worker.is_lost = worker.ask("probe", stage, _PROBE_S).failure is not None
        if failure.kind == "out_of_memory" and failure.hint is None:
            failure = replace(
                failure, hint=_TIGHT if stage == "timing" and len(self._service.sides) > 1 else _TOO_LARGE
            )
        return replace(reply, failure=replace(failure, hint=hint) if failure.kind == "timeout" else failure)

    def _explained(self, found: Failure, worker: Worker) -> Failure:
        """With the meaning of an ACL code that the message or the session's logs hold."""
        if self._sentinel is None:
            return found
        meant = acl.explain(found.message) or acl.read_logs(worker.session.folder / "plog").explained
        if meant is None:
            return found
        kind = "out_of_memory" if meant.kind == "memory" else found.kind
        return replace(
            found, kind=kind, message=f"{found.message} [{meant.text}]", acl_code=meant.acl_code, hint=meant.next
        )

    def load(self, tally: Tally) -> Failure | None:
        """Have the case's inputs in the worker; others are released when they would need too much memory."""
        self._present()
        if tally.case.index in self._loaded:
            return None
        if sum(self._loaded.values()) + tally.bytes > self._room:
            self._release(self._loaded)
        reply = self.ask("load", "inputs", tally)
        if reply.failure is not None:
            return reply.failure
        tally.shape = str(reply.body.get("shape", tally.shape))
        tally.dtype = str(reply.body.get("dtype", tally.dtype))
        tally.bytes = int(reply.body.get("bytes", 0))
        tally.inputs_from = reply.body.get("inputs_from")
        tally.arguments = of_worker(reply.body.get("arguments", ()), tally.case)
        self._loaded[tally.case.index] = tally.bytes
        if reply.body.get("empty"):
            tally.skipped = "empty_tensor"
        if tally.is_parted and self._parts_sides:
            self._part(tally)
        return None

    def make_room(self, tally: Tally, reply: Reply, may_part: bool = True) -> bool:
        """Whether behind a reply that tells of too little memory something could be let go.

        Other cases go first, then the sides of this one but that which is called.
        """
        index = tally.case.index
        if reply.failure is None or reply.failure.kind != "out_of_memory" or self.is_lost:
            return False
        if others := [case for case in self._loaded if case != index]:
            self._release(others)
            return True
        has_other = any(case == index and known != reply.side for case, known in self._ready)
        if not (has_other and may_part and self._parts_sides) or tally.is_parted:
            return False
        tally.is_parted = True
        tally.note([{"code": "sides_apart", "figures": {}}])
        return self._part(tally)

    @property
    def _parts_sides(self) -> bool:
        """Sides that do not fit together may do so by turns; a profiled session measures them side by side or not."""
        return len(self._service.sides) > 1 and not self._service.is_timing

    def _part(self, tally: Tally) -> bool:
        """Have one side of this case at a time in the worker, each made again when it is called."""
        limit_s = self._plan.limits.compile_timeout_s  # weights may be many
        return self._present().ask("part", "construct", limit_s, case=tally.case.index).failure is None

    def ready(self, tally: Tally, side: Side) -> Reply:
        """Have a side constructed and called once in this worker."""
        failure = self.load(tally)
        if failure is not None:
            return Reply(failure=failure)
        if (tally.case.index, side) in self._ready:
            return Reply()
        built = self.ask("construct", "construct", tally, side=side)
        if built.failure is not None:
            return built
        first = self.ask("first", "first_call", tally, side=side)
        if first.failure is not None:
            return first
        if side == "reference" or tally.output_bytes is None:
            tally.output_bytes = first.body.get("output_bytes")
        told = tally.sides[side]
        if told.first_call_us is None:
            told.construct_s = built.body.get("construct_s")
            told.first_call_us = first.body.get("first_us")
        if (told_hash := first.body.get("hash")) is not None:
            self._hashes[tally.case.index] = told_hash
        told.prepare_us = built.body.get("prepare_us")
        self._ready.add((tally.case.index, side))
        return first

    def collect(self, word: str) -> None:
        """Have a worker that collects by itself begin or end. Raises MachineError when it cannot."""
        collector = self._collector
        if collector is not None and collector.is_within and not self.is_lost:
            reply = self._present().ask("collect", "launch", self._plan.limits.timeout_s, word=word)
            if reply.failure is not None:
                raise MachineError(f"profiler={self._plan.profiler}: {reply.failure.message}", "try profiler=msprof")
            self._on_hello({name: reply.body[name] for name in ("markers", "markers_why") if name in reply.body})

    def stored(self, tally: Tally) -> str | None:
        """The hash of the reference's outputs that this worker keeps for a case; None without a check."""
        return self._hashes.get(tally.case.index)

    def _release(self, cases: Iterable[int]) -> None:
        """Let go of the tensors of these cases."""
        for case in tuple(cases):
            if self._worker is not None and not self._worker.is_lost:
                self._worker.ask("release", "inputs", _PROBE_S, case=case)
            self._loaded.pop(case, None)
            self._hashes.pop(case, None)
            self._ready -= {known for known in self._ready if known[0] == case}

    def close(self, patience_s: float = _GOODBYE_S) -> None:
        """Send the worker home, and wait for what must still be done behind it."""
        for worker in (self._worker, self._pending):
            if worker is not None:
                worker.close(patience_s)

    @property
    def is_wrapped(self) -> bool:
        """A program around its worker collects, and writes also what a worker did that answers no more."""
        return self.sessions[-1].command.dies_with_parent

    @property
    def is_lost(self) -> bool:
        """Its worker is gone, or no longer sound."""
        return self._worker is not None and self._worker.is_lost

    @property
    def is_refused(self) -> bool:
        """Somebody else profiles the device, so that nobody collects in this session."""
        return self._worker is not None and self._is_occupied(self._worker)

    def said(self) -> str:
        """The last lines of what the collector prints, or the worker that it works in."""
        return "" if self._worker is None else self._worker.said()

    def look_back(self) -> Seen | None:
        """What was seen of the device around a session that is over; None where nobody looks, or none began."""
        if self._sentinel is None or self._worker is None:
            return None
        return self._sentinel.after(self._worker.pid)

    def kill(self) -> None:
        """End the worker at once: the user does not wait."""
        for worker in (self._worker, self._pending):
            if worker is not None:
                worker.kill()

    def _present(self) -> Worker:
        if self._worker is not None and not self._worker.is_lost:
            return self._worker
        if self._worker is not None:
            self._worker.close()
        self._loaded.clear()
        self._ready.clear()
        self._hashes.clear()
        self._worker = self._start()
        return self._worker

    def start(self, spare: Spare | None = None) -> None:
        """Have the first worker's process started, so that it imports torch while other things are made ready.

        It takes over the process `spare` where that fits.
        """
        self._spare = spare
        self._retries += spare is not None
        if self._pending is None and self._worker is None:
            self._pending = self._launch()

    def _start(self) -> Worker:
        """A new worker. Failing to start is no operator's fault, so it is tried again `retry` times.

        A spare process does not count: it cannot say why torch is not to be had.
        """
        failure: Failure | None = None
        is_second, ends = self._worker is not None or self._service.follows_lost, None
        tries = 1 + self._retries
        while tries > 0:
            worker, self._pending = self._pending or self._launch(), None
            self._worker = worker
            failure = worker.greet(self._plan.limits.timeout_s)
            if failure is None and is_second:
                failure = self._look_at_device(worker)
            if failure is None and self._is_occupied(worker):
                failure = Failure(stage="launch", kind="launch", message=worker.complaint() or "nobody collects")
            if failure is None:
                self._on_hello(worker.environment)
                free = worker.environment.get("device_free_bytes")
                self._room = free // 4 if isinstance(free, int) else self._room
                return worker
            worker.close()
            if self._does_without(worker):
                continue
            failure = self._explained(failure, worker)
            if self._is_occupied(worker):
                ends = ends or time.monotonic() + self._wait_for_channel(failure)
                if time.monotonic() < ends:
                    time.sleep(_OCCUPIED_S)
                    continue
            tries -= 1
        assert failure is not None
        if is_second and _is_of_device(failure):
            self._give_up_device(failure.message)
        raise MachineError(
            f"the worker does not start: {failure.message}", f"see {self._plan.folder / (failure.log or '')}"
        )

    def _look_at_device(self, worker: Worker) -> Failure | None:
        """In a fresh process behind a lost one: the second failure is the device's own."""
        if self._sentinel is None:
            return None
        failure = worker.ask("probe", "launch", _PROBE_S).failure
        if failure is None:
            return None
        worker.kill()
        self._give_up_device(self._explained(failure, worker).message)

    def _give_up_device(self, why: str) -> NoReturn:
        if self._sentinel is not None:
            self._sentinel.sick(why)
        raise SickDevice(f"the device is sick, fresh processes fail on it: {why}", "leave it to its administrator")

    def _does_without(self, worker: Worker) -> bool:
        """Whether the profiler refused words of its command that it need not be told again."""
        collector = self._collector
        words = () if collector is None else collector.refused(worker.said())
        new = tuple(word for word in words if word not in self._service.without)
        self._service = replace(self._service, without=(*self._service.without, *new))
        return bool(new)

    @property
    def _collector(self) -> Collector | None:
        return COLLECTORS.get(self._plan.profiler) if self._service.is_timing else None

    def _is_occupied(self, worker: Worker) -> bool:
        collector = self._collector
        return collector is not None and collector.is_occupied(worker.said())

    def _wait_for_channel(self, failure: Failure) -> float:
        """Seconds for which somebody else's profiler is waited for, which is said."""
        assert self._sentinel is not None
        if self._sentinel.patience_s:
            self._sentinel.tell(f"waiting for the device's profiling channel: {failure.message}")
        return self._sentinel.patience_s

    def _launch(self) -> Worker:
        plan, spare = self._plan, self._spare
        if self._sentinel is not None:
            self._sentinel.before()
        found = session(self._made, self._started, plan.folder, self._service)
        self._spare = None
        self._started += 1
        self.sessions.append(found)
        return Worker(found, job(self._made, plan, plan.schedule.seed, found), plan.log_limit_mb, spare, self._made.fds)


def _is_of_device(failure: Failure) -> bool:
    """By the code that CANN gave: the device itself cannot be opened or does not answer."""
    found = acl.explain(failure.message)
    return found is not None and found.kind == "device"


def _free_bytes() -> int:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return 4 * _GIB
    kib = next((int(line.split()[1]) for line in lines if line.startswith("MemAvailable:")), 0)
    return kib * 1024 or 4 * _GIB
