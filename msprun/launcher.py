"""A sweep with Hydra: expands and checks all jobs before the first starts, then lets a launcher run them."""

from __future__ import annotations

import os
import shutil
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

from hydra._internal.callbacks import Callbacks
from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra.core.config_loader import ConfigLoader
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.plugins import Plugins
from hydra.types import HydraContext
from msgspec import Struct
from msgspec.structs import replace
from omegaconf import DictConfig, OmegaConf, open_dict

from msprun import __version__, argv, config, language, process, replay, request, search, suggest, sweep
from msprun.errors import ConfigError, MachineError, MsprunError
from msprun.language import Words
from msprun.model.sweep import SCHEMA_VERSION, Ended, Job, Sweep, SweepRequest
from msprun.report.sweep import Teller

# One value of each of these holds for the whole sweep.
_WHOLE = ("print", "lang", "out", "fail_fast", "dry_run")
_PIPE_COLUMNS = 120


class Checked(Struct, frozen=True, kw_only=True):
    """A job that is fine as far as nothing runs, with its texts for `.hydra/` and digests of its operator's files."""

    asked: request.Asked
    files: dict[str, str]
    digests: dict[str, str]


class Jobs:
    """Hydra's task function: runs one job and keeps its status. It travels to other processes with some launchers.

    With `fail_fast` a job that goes wrong lets the later ones be skipped; `forgiven` went wrong before a resume.
    """

    def __init__(self, books: Sweep, place: Path, lang: str, is_json: bool) -> None:
        self.place = place
        self.sweep_id = books.sweep_id
        self.lang = lang
        self.is_json = is_json
        self.fail_fast = books.request.fail_fast
        self.forgiven = tuple(job.number for job in books.jobs if job.exit_code)

    def __call__(self, cfg: DictConfig) -> int:
        """Run the job whose config Hydra has composed."""
        node = request.hydra_node()
        number = int(node.job.num)
        place = request.Place(run_id=f"{self.sweep_id}-{number}", is_sweep=True)
        return self.run(number, lambda: request.read(cfg, node, place))

    def run(self, number: int, read: Callable[[], request.Asked]) -> int:
        """Run one job; what goes wrong is said and recorded, so that the other jobs run.

        Raises KeyboardInterrupt where the user stopped it: the rest of the sweep is to stop, too.
        """
        books = sweep.load(self.place)
        job = books.jobs[number]
        where = self.place / job.folder
        teller = Teller(self.lang, self.is_json, sys.stdout, sys.stderr)
        if sweep.is_settled(where):
            teller.job(job, len(books.jobs), kept=True)
            return sweep.noted(where).exit_code or 0
        if self.fail_fast and any(other.exit_code and other.number not in self.forgiven for other in books.jobs):
            sweep.note(where, Ended(status="skipped_fail_fast"))
            return 0
        teller.job(job, len(books.jobs))
        ended = self._booked(number, where, read)
        if ended.exit_code == 130:
            raise KeyboardInterrupt
        return ended.exit_code or 0

    def _booked(self, number: int, where: Path, read: Callable[[], request.Asked]) -> Ended:
        """Run it between two entries into the books."""
        began = time.monotonic()
        ended = Ended(status="interrupted", exit_code=130)
        sweep.note(where, Ended(status="running"))
        sweep.refresh(self.place, self.lang)
        try:
            ended = self._ended(number, where, read)
        except KeyboardInterrupt:
            pass
        with process.undisturbed():
            sweep.note(where, replace(ended, elapsed_s=round(time.monotonic() - began, 3)))
            sweep.refresh(self.place, self.lang)
        return ended

    def _ended(self, number: int, where: Path, read: Callable[[], request.Asked]) -> Ended:
        try:
            asked = read()
            invocation = replace(asked.invocation, resume=(where / "plan.json").is_file())
            code = asked.mode.run(asked.request, invocation)
        except MsprunError as error:
            print(suggest.lines(error, number), file=sys.stderr)
            return Ended(status="refused", exit_code=2, reason=error.message, next=error.hint)
        except Exception as error:
            traceback.print_exception(error)
            what = Words(self.lang)("sweep.bug", what=f"{type(error).__name__}: {error}".partition("\n")[0])
            print(f"msprun: job {number}: this is a bug in msprun", file=sys.stderr)
            return Ended(status="failed", exit_code=1, reason=what)
        return Ended(status=sweep.status_of(code), exit_code=code)


class Sweeping:
    """One sweep, from a composed config (`hydra.mode` MULTIRUN) to an exit code."""

    def __init__(self, loader: ConfigLoader, master: DictConfig, sweep_id: str, *, resume: bool = False) -> None:
        """`resume`: its folder is there already. Raises MsprunError when a job makes no sense."""
        self._loader = loader
        self._master = _with_folder(master)
        self._place = Path(str(self._master.hydra.sweep.dir))
        self._id = sweep_id
        with request.one_line():
            self._keys, self.jobs = expand(loader, self._master)
        self._checked = [self._check(number) for number in range(len(self.jobs))]
        first = self._checked[0].asked.request
        self._request = first
        self._is_json = first.print == "json"
        self._lang = language.choose(os.environ).lang if first.lang == "auto" else first.lang
        self._teller = Teller(self._lang, self._is_json, sys.stdout, sys.stderr)
        self._resume = resume

    def differences(self, saved: replay.Saved) -> list[str]:
        """How this sweep differs from one that was kept: its jobs, their configs, the operators' files."""
        assert saved.books
        before, now = saved.books.jobs, [self._job(number) for number in range(len(self.jobs))]
        if len(before) != len(now):
            return [f"jobs: {len(before)} -> {len(now)}"]
        pairs = zip(before, now, strict=True)
        found = [f"job {old.number}: {_said(old)} -> {_said(new)}" for old, new in pairs if old.swept != new.swept]
        for old_config, job in zip(saved.configs, self._checked, strict=True):
            found += replay.differences(old_config, config.raw_text(job.files["config.yaml"]))
        files = self._digests()
        found += [f"{file} has changed" for file, old in saved.books.request.files.items() if files.get(file) != old]
        return list(dict.fromkeys(found))

    def run(self) -> int:
        """Run all jobs that have no result yet; the worst exit code."""
        if self._request.dry_run:
            return self._dry()
        if not self._resume:
            sweep.create(self._place, self._books(), [job.files for job in self._checked])
            OmegaConf.save(self._master, self._place / "multirun.yaml")
        with sweep.owned(self._place):
            books = sweep.reopen(self._place, self._lang)
            self._teller.start(books, self._place)
            code = 0
            lost = Ended(status="failed", exit_code=1, reason=Words(self._lang)("sweep.lost"))
            try:
                self._launch(books)
            except KeyboardInterrupt:
                code, lost = 130, Ended(status="interrupted", exit_code=130)
            except Exception as error:
                code = self._launcher_failed(error)
            with process.undisturbed():
                books = sweep.refresh(self._place, self._lang, lost, code)
                self._teller.finish(books, self._place, _columns())
                return books.exit_code

    def _launch(self, books: Sweep) -> None:
        """Run the jobs: one after the other here, or as another launcher than Hydra's basic one does it."""
        jobs = Jobs(books, self._place, self._lang, self._is_json)
        if str(self._master.hydra.launcher._target_).endswith(".BasicLauncher"):
            for job, checked in zip(books.jobs, self._checked, strict=True):
                jobs.run(job.number, lambda asked=checked.asked: asked)  # type: ignore[misc]
            return
        left = [job.number for job in books.jobs if not sweep.is_settled(self._place / job.folder)]
        if left:
            self._launch_from(left[0], jobs)

    def _launch_from(self, first: int, jobs: Jobs) -> None:
        """Launchers number from some job upwards; those that have a result already end at once."""
        callbacks = Callbacks(self._master)
        name = self._master.hydra.job.config_name
        callbacks.on_multirun_start(config=self._master, config_name=name)
        launcher = Plugins.instance().instantiate_launcher(
            hydra_context=HydraContext(config_loader=self._loader, callbacks=callbacks),
            task_function=jobs,
            config=self._master,
        )
        for ended in launcher.launch([list(job) for job in self.jobs[first:]], initial_job_idx=first):
            _ = ended.return_value  # raises what the job raised
        callbacks.on_multirun_end(config=self._master, config_name=name)

    def _launcher_failed(self, error: Exception) -> int:
        """Say why the launcher stopped; the code that this adds to those of the jobs."""
        found = suggest.translated(error, ())
        print(suggest.lines(ConfigError(f"the launcher stopped: {found.message}", None)), file=sys.stderr)
        return 1 if any(job.status != "not_started" for job in sweep.load(self._place).jobs) else 2

    def _dry(self) -> int:
        """Print the plan of every job; nothing is written."""
        codes = []
        for number, job in enumerate(self._checked):
            self._teller.job(self._job(number), len(self.jobs))
            codes.append(job.asked.mode.run(job.asked.request, job.asked.invocation))
        return sweep.worst(codes)

    def _check(self, number: int) -> Checked:
        """Compose and check one job. Raises ConfigError, naming its words."""
        words = list(self.jobs[number])
        try:
            with request.one_line():
                cfg = self._loader.load_sweep_config(self._master, words)
                with open_dict(cfg.hydra):
                    cfg.hydra.job.id = cfg.hydra.job.num = number
                node, files = request.settle(cfg, self._place / str(OmegaConf.select(cfg, "hydra.sweep.subdir")))
                place = request.Place(run_id=f"{self._id}-{number}", is_sweep=True)
                asked = request.read(cfg, node, place)
                digests = asked.mode.examine(asked.request, asked.invocation)
        except MachineError:
            raise  # what is wrong with the machine is wrong for every job
        except MsprunError as error:
            raise _of_a_job(error, number, _swept(self.jobs[number], self._keys)) from error
        return Checked(asked=asked, files=files, digests={f"{asked.request.op.dir}/{k}": v for k, v in digests.items()})

    def _books(self) -> Sweep:
        jobs = tuple(self._job(number) for number in range(len(self.jobs)))
        overrides = self._master.hydra.overrides
        asked = SweepRequest(
            overrides=tuple(overrides.task),
            hydra=tuple(overrides.hydra),
            keys=self._keys,
            cwd=str(self._master.hydra.runtime.cwd),
            fail_fast=self._request.fail_fast,
            files=self._digests(),
        )
        return Sweep(
            schema_version=SCHEMA_VERSION,
            msprun_version=__version__,
            sweep_id=self._id,
            started_at=time.strftime("%Y-%m-%dT%H:%M:%S%z"),
            request=asked,
            jobs=jobs,
            exit_code=0,
            complete=False,
        )

    def _digests(self) -> dict[str, str]:
        """Digests of the files of all operators, by path."""
        return {path: digest for job in self._checked for path, digest in job.digests.items()}

    def _job(self, number: int) -> Job:
        folder = os.path.relpath(self._checked[number].asked.invocation.folder, self._place)
        return Job(
            number=number,
            overrides=self.jobs[number],
            swept=_swept(self.jobs[number], self._keys),
            folder=folder,
        )


def expand(loader: ConfigLoader, master: DictConfig) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """The swept keys, and the words of each job, the last swept key fastest, as Hydra's own sweeper does.

    Raises ConfigError for another sweeper, whose jobs nobody knows beforehand, and for a key that cannot be swept.
    """
    sweeper = master.hydra.sweeper
    if not str(sweeper._target_).endswith(".BasicSweeper"):
        raise ConfigError("msprun sweeps with Hydra's basic sweeper only", "drop hydra/sweeper=...")
    params = [f"{key}={value}" for key, value in (sweeper.params or {}).items()]
    home = search.workspace(Path.cwd())
    given = argv.read(params, home.parent if home else Path.cwd())
    for folder in given.op_folders:
        request.register_operator(folder)
    parsed = OverridesParser.create(config_loader=loader).parse_overrides(
        [*given.overrides, *master.hydra.overrides.task]
    )
    keys = dict.fromkeys(word.get_key_element().lstrip("+") for word in parsed if word.is_sweep_override())
    for key in keys:
        if key in _WHOLE:
            raise ConfigError(f"{key} cannot be swept: it holds for the whole sweep", f"one value: {key}=...")
    jobs = [tuple(job) for batch in BasicSweeper.split_arguments(parsed, None) for job in batch]
    return tuple(keys), tuple(jobs)


def _with_folder(master: DictConfig) -> DictConfig:
    """The folder as a plain path: jobs that run in another process know nothing of our resolvers."""
    folder = os.path.abspath(str(master.hydra.sweep.dir))
    with open_dict(master.hydra):
        master.hydra.sweep.dir = folder
        master.hydra.overrides.hydra.append(f"hydra.sweep.dir={argv.quoted(folder)}")
    return master


def _swept(words: Sequence[str], keys: Sequence[str]) -> dict[str, str]:
    values = {key.lstrip("+"): argv.unquoted(value) for key, _, value in (word.partition("=") for word in words)}
    return {key: values[key] for key in keys}


def _said(job: Job) -> str:
    return " ".join(f"{key}={value}" for key, value in job.swept.items())


def _of_a_job(error: MsprunError, number: int, swept: dict[str, str]) -> ConfigError:
    """The error with the words of the job."""
    words = " ".join(f"{key}={value}" for key, value in swept.items())
    return ConfigError(f"job {number} ({words}): {error.message}" if words else error.message, error.hint)


def _columns() -> int:
    """Columns of the terminal; a pipe takes longer lines."""
    return shutil.get_terminal_size((_PIPE_COLUMNS, 0)).columns
