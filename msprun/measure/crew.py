"""One worker at a time for all cases: started again after it was lost, given back what the next question needs."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from msprun.errors import MachineError
from msprun.launch import Reply, Worker
from msprun.measure.tally import Tally
from msprun.model.failure import Failure, Stage
from msprun.model.operator import Side
from msprun.model.plan import Plan, Session
from msprun.plan import Bench, job, session
from msprun.process import Spare
from msprun.work.facts import of_worker

_PROBE_S = 20.0
_GIB = 1 << 30


class Crew:
    """The worker of a run. `on_hello` hears each new worker's environment."""

    def __init__(
        self, plan: Plan, made: Bench, spare: Spare | None, on_hello: Callable[[dict[str, Any]], None]
    ) -> None:
        self._plan = plan
        self._spare = spare
        self._made = made
        self._on_hello = on_hello
        self._worker: Worker | None = None
        self._pending: Worker | None = None
        self._started = len(list((plan.folder / "sessions").glob("[0-9]*")))  # of the run that is resumed
        self._loaded: dict[int, int] = {}
        self._ready: set[tuple[int, Side]] = set()
        self._hashes: dict[int, str] = {}
        self._retries = plan.retry + (spare is not None)
        self._room = _free_bytes() // 4

    def ask(self, do: str, stage: Stage, tally: Tally, deadline: float | None = None, **words: Any) -> Reply:
        """One request about a case, answered by `deadline` (monotonic seconds; None: the limit of its stage from now).

        After a failure the worker is probed, and dropped when it is no longer sound.
        """
        key, limit_s = self._limit(stage)
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
        if not worker.is_lost:
            worker.is_lost = worker.ask("probe", stage, _PROBE_S).failure is not None
        if reply.failure.kind == "timeout":
            return replace(reply, failure=replace(reply.failure, hint=hint))
        return reply

    def _limit(self, stage: Stage) -> tuple[str, float]:
        limits = self._plan.limits
        if stage in ("construct", "first_call"):
            return "compile_timeout_s", limits.compile_timeout_s
        if stage == "check":
            return "case_timeout_s", limits.case_timeout_s + self._plan.check.budget_s
        return "case_timeout_s", limits.case_timeout_s

    def load(self, tally: Tally) -> Failure | None:
        """Have the case's inputs in the worker; others are released when they would need too much memory."""
        self._present()
        if tally.case.index in self._loaded:
            return None
        if sum(self._loaded.values()) + tally.bytes > self._room:
            self.release_all()
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
        return None

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

    def stored(self, tally: Tally) -> str | None:
        """The hash of the reference's outputs that this worker keeps for a case; None without a check."""
        return self._hashes.get(tally.case.index)

    def release_all(self) -> None:
        """Let go of all cases' tensors."""
        for case in tuple(self._loaded):
            if self._worker is not None and not self._worker.is_lost:
                self._worker.ask("release", "inputs", _PROBE_S, case=case)
        self._loaded.clear()
        self._ready.clear()
        self._hashes.clear()

    def close(self) -> None:
        """Send the worker home."""
        for worker in (self._worker, self._pending):
            if worker is not None:
                worker.close()

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

    def start(self) -> None:
        """Have the first worker's process started, so that it imports torch while other things are made ready."""
        if self._pending is None and self._worker is None:
            self._pending = self._launch()

    def _start(self) -> Worker:
        """A new worker. Failing to start is no operator's fault, so it is tried again `retry` times.

        A spare process does not count: it cannot say why torch is not to be had.
        """
        failure: Failure | None = None
        for _ in range(1 + self._retries):
            worker, self._pending = self._pending or self._launch(), None
            self._worker = worker
            failure = worker.greet(self._plan.limits.timeout_s)
            if failure is None:
                self._on_hello(worker.environment)
                return worker
            worker.close()
        assert failure is not None
        raise MachineError(
            f"the worker does not start: {failure.message}", f"see {self._plan.folder / (failure.log or '')}"
        )

    def _launch(self) -> Worker:
        session, plan, spare = self._session(), self._plan, self._spare
        self._spare = None
        self._started += 1
        worker_job = job(self._made, plan, plan.schedule.seed, session.folder)
        return Worker(session, worker_job, plan.log_limit_mb, spare)

    def _session(self) -> Session:
        if self._started == 0:
            return self._plan.sessions[0]
        return session(self._made, self._started, self._plan.folder, self._plan.cases, self._plan.sides)


def _free_bytes() -> int:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return 4 * _GIB
    kib = next((int(line.split()[1]) for line in lines if line.startswith("MemAvailable:")), 0)
    return kib * 1024 or 4 * _GIB
