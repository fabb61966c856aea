"""The life of one check or quick run: request, plan, execution, pages."""

from __future__ import annotations

import os
import shlex
import sys
import time
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from msprun import bench, folder, journal, plan, process, schema
from msprun.bench import Bench
from msprun.device import DEVICES
from msprun.device.claim import claim
from msprun.errors import ConfigError
from msprun.journal import Journal
from msprun.measure.describe import describe
from msprun.measure.execute import Execution
from msprun.measure.outcome import exit_code, result
from msprun.model.invocation import Invocation
from msprun.model.operator import Operator
from msprun.model.plan import Command, Plan
from msprun.model.result import CaseRow, Result
from msprun.report import write_pages
from msprun.report.brief import Brief
from msprun.report.console import Console
from msprun.report.json import dumps
from msprun.source.build import build_remarks
from msprun.source.digest import digests
from msprun.source.folder import load_operator
from msprun.source.older import load_older

INTERRUPTED = 130
# The journal has everything at once; the whole result is written as often as costs a tenth of the time.
_SHARE = 10


def run(request: schema.Run, invocation: Invocation, spare: process.Spare | None = None) -> int:
    """Plan, and unless `dry_run` do it; the exit code. Raises MsprunError before anything was measured.

    `spare` is a process that the first worker may take over.
    """
    with process.interruptible(), ExitStack() as leased:
        made, planned = compose(request, invocation, None if request.dry_run else leased)
        with _console(request, invocation, planned.lang) as console:
            if request.dry_run:
                console.plan(folder.public(planned))
                return 0
            return Performance(made, planned, invocation, console, spare).perform(
                None if invocation.is_sweep else request.keep_runs
            )


def _console(request: schema.Run, invocation: Invocation, lang: str) -> Console:
    """Stdout belongs to the one JSON object of print=json, which for a job of a sweep is not the job's."""
    is_json = request.print == "json"
    if invocation.is_sweep and not request.dry_run:
        return Brief("text", sys.stderr if is_json else sys.stdout, sys.stderr, lang)
    return Console("json" if is_json else "text", sys.stdout, sys.stderr, lang)


def compose(request: schema.Run, invocation: Invocation, leased: ExitStack | None = None) -> tuple[Bench, Plan]:
    """The plan of a request; the whole of it is checked here.

    The device is leased until `leased` is closed; without one it is only chosen.
    """
    if invocation.resume and request.device.id is None and request.device.physical is None:
        request.device.id = folder.earlier_device(invocation.folder)
    python, why = bench.interpreter(request)
    operator = _operator(request, compile_sources=python == Path(sys.executable))
    made = bench.prepare(request, operator, (python, why))
    if leased is not None and made.device.lease is not None:
        if operator.cases:
            plan.make(request, invocation, made)  # whatever is wrong is said before anybody waits for a device
        again = partial(DEVICES[made.device.kind].select, request, os.environ)
        claimed = leased.enter_context(closing(claim(made.device, again, request.lease, invocation.run_id, _tell)))
        made = replace(bench.prepare(request, operator, (python, why), claimed), findings=made.findings)
    if not operator.cases:
        made = bench.with_operator(made, describe(made, request.seed, request.timeout_s))
    return made, plan.make(request, invocation, made)


def _tell(text: str) -> None:
    """While a device is waited for there is no console yet."""
    print(f"msprun: {text}", file=sys.stderr, flush=True)


def _operator(request: schema.Run, *, compile_sources: bool) -> Operator:
    """The operator with the sides that were asked for."""
    operator = load_operator(request.op, compile_sources=compile_sources)
    if request.aa:
        return replace(operator, candidate=operator.reference)
    if request.against is None:
        return operator
    older = load_older(Path(request.against), request.op, compile_sources=compile_sources)
    return replace(operator, against=older)


def examine(request: schema.Run, invocation: Invocation) -> dict[str, str]:
    """Check what can be known of a request while nothing runs; digests of the operator's files.

    Raises MsprunError. An operator that is broken is no fault of the request: its own run will say so.
    """
    python, why = bench.interpreter(request)
    try:
        operator = _operator(request, compile_sources=False)
    except ConfigError:
        return {}
    made = bench.prepare(request, operator, (python, why))
    return plan.make(request, invocation, made).files if operator.cases else digests(operator)


class Performance:
    """A plan that is run in its folder; interrupted or not, what was measured is on disk afterwards."""

    def __init__(
        self, made: Bench, planned: Plan, invocation: Invocation, console: Console, spare: process.Spare | None
    ) -> None:
        """Make the run folder, or with `resume` take it up again. Raises ConfigError where that is not possible."""
        self._made = made
        self._plan = planned
        self._console = console
        self._spare = spare
        self._run_id = invocation.run_id
        self._started_at: str | None = None
        self._began_s = time.time()
        self._write_after = 0.0
        earlier = folder.reopen(planned) if invocation.resume else None
        if earlier is None:
            folder.create(planned, invocation)
        self._journal = Journal(planned.folder)
        self._execution = Execution(planned, made, self._journal, self._changed, console.note)
        if earlier is not None:
            self._run_id = earlier.run_id
            self._started_at = earlier.started_at
            self._began_s -= earlier.elapsed_s
            self._execution.resume(journal.read(planned.folder))
            self._execution.environment.update(earlier.environment.get("worker", {}))

    def perform(self, keep_runs: int | None) -> int:
        """Run it; the exit code."""
        build(self._plan, self._made)
        self._execution.remark(build_remarks(self._plan.operator))
        code: int | None = None
        try:
            self._execution.start(self._spare)
            self._console.start(self._plan)
            self._execution.run()
        except KeyboardInterrupt:
            code = INTERRUPTED
        with process.undisturbed():
            if code is None:
                code = exit_code(self._plan, tuple(self._execution.rows.values()))
            self._journal.close()
            self._finish(self._result(code))
            folder.keep_newest(self._plan.folder, keep_runs)
        return code

    def _result(self, code: int | None) -> Result:
        known = result(self._plan, self._execution, self._run_id, self._began_s, code)
        return known if self._started_at is None else replace(known, started_at=self._started_at)

    def _changed(self, known: CaseRow) -> None:
        began = time.monotonic()
        if began >= self._write_after:
            folder.save(self._plan.folder, dumps(self._result(None)))
            ended = time.monotonic()
            self._write_after = ended + _SHARE * (ended - began)
        self._console.update(known)

    def _finish(self, final: Result) -> None:
        """Pages, the operator's own copies of them, and the last words."""
        for known in final.per_case:
            self._console.update(known)
        samples = [sample for tally in self._execution.tallies for sample in tally.samples]
        try:
            folder.save(self._plan.folder, dumps(final))
            write_pages(final, samples, self._plan.pages, self._plan.folder, self._plan.lang)
            if self._plan.save_to_op and final.exit_code != INTERRUPTED:
                folder.copy_to_operator(self._plan)
        except OSError as error:
            self._console.unwritten(error)
        self._console.finish(final, self._plan.folder)


def build(planned: Plan, made: Bench) -> None:
    """Run `op.build` before anything is imported. Raises ConfigError when it fails."""
    words = planned.operator.build
    if not words:
        return
    place = planned.folder / "build"
    place.mkdir(exist_ok=True)
    command = Command(
        argv=words,
        cwd=planned.operator.folder,
        env=made.environment,
        stdout=place / "stdout.log",
        stderr=place / "stderr.log",
        timeout_s=planned.limits.timeout_s,
    )
    try:
        outcome = process.run(command)
    except OSError as error:
        raise ConfigError(f"op.build cannot be started: {error}", f"it runs in {command.cwd}") from error
    if outcome.returncode != 0:
        how = "took too long" if outcome.timed_out else f"ended with {outcome.returncode or outcome.signal}"
        raise ConfigError(f"op.build={shlex.join(words)} {how}", f"see {command.stderr}")
