"""The life of one check or quick run: request, plan, execution, pages."""

from __future__ import annotations

import shlex
import sys
import time
from pathlib import Path

from msprun import config, folder, plan, process
from msprun.errors import ConfigError, MsprunError
from msprun.measure.describe import describe
from msprun.measure.execute import Execution
from msprun.measure.outcome import exit_code, result
from msprun.measure.tally import Tally, row
from msprun.model.invocation import Invocation
from msprun.model.plan import Command, Plan
from msprun.model.result import Result
from msprun.plan import Bench
from msprun.report import write_pages
from msprun.report.console import Console
from msprun.report.json import dumps
from msprun.source.folder import load_operator

INTERRUPTED = 130


def run(request: config.Run, invocation: Invocation) -> int:
    """Plan, and unless `dry_run` do it; the exit code. Raises MsprunError before anything was measured."""
    with process.interruptible():
        made, planned = compose(request, invocation)
        with Console("json" if request.print == "json" else "text", sys.stdout, sys.stderr) as console:
            if request.dry_run:
                console.plan(folder.public(planned))
                return 0
            return perform(made, planned, invocation, console, request.keep_runs)


def compose(request: config.Run, invocation: Invocation) -> tuple[Bench, Plan]:
    """The plan of a request; the whole of it is checked here."""
    python, why = plan.interpreter(request)
    operator = load_operator(request.op, compile_sources=python == Path(sys.executable))
    made = plan.bench(request, operator, python, why)
    if not operator.cases:
        made = plan.with_operator(made, describe(made, request.seed, request.timeout_s))
    return made, plan.make(request, invocation, made)


def perform(made: Bench, planned: Plan, invocation: Invocation, console: Console, keep_runs: int | None) -> int:
    """Run a plan in its folder; interrupted or not, what was measured is on disk afterwards."""
    folder.create(planned, invocation)
    _build(planned, made)
    began = time.time()

    def snapshot(code: int | None) -> Result:
        return result(planned, execution, invocation.run_id, began, code)

    def on_change(tally: Tally) -> None:
        folder.save(planned.folder, dumps(snapshot(None)))
        console.update(row(tally))

    execution = Execution(planned, made, on_change)
    code: int | None = None
    console.start(planned)
    try:
        execution.run()
    except KeyboardInterrupt:
        code = INTERRUPTED
    with process.undisturbed():
        if code is None:
            code = exit_code(planned, snapshot(None).per_case)
        _finish(planned, execution, snapshot(code), console)
        folder.keep_newest(planned.folder, keep_runs)
    return code


def _finish(planned: Plan, execution: Execution, final: Result, console: Console) -> None:
    """Pages, the operator's own copies of them, and the last words."""
    samples = [sample for tally in execution.tallies for sample in tally.samples]
    try:
        folder.save(planned.folder, dumps(final))
        write_pages(final, samples, planned.pages, planned.folder)
        if planned.save_to_op and final.exit_code != INTERRUPTED:
            folder.copy_to_operator(planned)
    except OSError as error:
        console.note(f"not everything could be written: {error}")
    console.finish(final, planned.folder)


def _build(planned: Plan, made: Bench) -> None:
    """Run `op.build` before anything is imported. Raises ConfigError when it fails."""
    words = planned.operator.build
    if not words:
        return
    place = planned.folder / "build"
    place.mkdir()
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
        raise MsprunError(f"op.build={shlex.join(words)} {how}", f"see {command.stderr}")
