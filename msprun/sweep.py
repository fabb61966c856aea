"""The books of a sweep: one folder and one status a job, and what all of them come to."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from msprun import folder as run_folder
from msprun.disk import write_atomically
from msprun.errors import ConfigError
from msprun.model.result import Result
from msprun.model.sweep import SCHEMA_VERSION, Ended, Geomean, Job, JobStatus, Sweep
from msprun.report import sweep as page
from msprun.report.json import dumps, loads
from msprun.report.overview import has_speed, overview

WORST_FIRST = (2, 130, 3, 4, 1, 0)
NAME = "sweep.json"
TABLE = "sweep.csv"
STATUS = "status.json"
_LOCK = ".msprun-sweep"
_ENDED: tuple[JobStatus, ...] = ("done", "failed", "refused")
_NO_FIGURES = {"verdict": None, "state": None, "counts": None, "geomean": None}
_BY_CODE: dict[int, JobStatus] = {0: "done", 2: "refused", 130: "interrupted"}


def worst(codes: Sequence[int]) -> int:
    """The exit code of several jobs: 2, 130, 3, 4, 1, 0."""
    return min(codes, key=WORST_FIRST.index, default=0)


def status_of(code: int) -> JobStatus:
    """What an exit code says of a job."""
    return _BY_CODE.get(code, "failed")


def create(place: Path, sweep: Sweep, files: Sequence[dict[str, str]]) -> None:
    """Make the folders of a sweep and its jobs; `files` are the texts for each job's `.hydra/`.

    `sweep.json` comes last: where it is, everything is. Raises ConfigError where that is not possible.
    """
    try:
        run_folder.make_out(place.parent)
        place.mkdir()
        (place / _LOCK).write_text(f"{os.getpid()}\n")
        for job, texts in zip(sweep.jobs, files, strict=True):
            (place / job.folder / ".hydra").mkdir(parents=True)
            for name, text in texts.items():
                write_atomically(place / job.folder / ".hydra" / name, text)
            note(place / job.folder, Ended())
        _write(place, sweep)
    except OSError as error:
        raise ConfigError(
            f"{place} cannot be written: {error.strerror or error}", "give another folder: out=/tmp/runs"
        ) from error


def load(place: Path) -> Sweep:
    """The books of a sweep folder. Raises ConfigError for those of another version, OSError where there are none."""
    data = (place / NAME).read_bytes()
    try:
        version = msgspec.json.decode(data, type=dict)["schema_version"]
        if version != SCHEMA_VERSION:
            raise ConfigError(
                f"{place / NAME} has version {version}, this msprun writes version {SCHEMA_VERSION}",
                "use the msprun that wrote it, or start anew",
            )
        return msgspec.json.decode(data, type=Sweep)
    except (msgspec.DecodeError, KeyError) as error:
        raise ConfigError(f"{place / NAME} cannot be read: {error}", "start the sweep anew") from error


def note(job_folder: Path, ended: Ended) -> None:
    """Write a job's own status."""
    job_folder.mkdir(parents=True, exist_ok=True)
    write_atomically(job_folder / STATUS, dumps(ended))


def noted(job_folder: Path) -> Ended:
    """A job's own status; not started where there is none."""
    try:
        return msgspec.json.decode((job_folder / STATUS).read_bytes(), type=Ended)
    except (OSError, msgspec.DecodeError):
        return Ended()


def is_settled(job_folder: Path) -> bool:
    """The job ended by itself with a complete result: there is nothing to measure again."""
    found = _result(job_folder)
    return noted(job_folder).status in ("done", "failed") and found is not None and found.complete


def refresh(place: Path, lang: str, lost: Ended | None = None, code: int = 0) -> Sweep:
    """Gather the jobs' files into `sweep.json` and `sweep.csv`; several processes may do so at once.

    `lost`: no job runs any more, and this is what became of those that still say `running`; `code` is the exit code of
    the sweep as far as it is none of its jobs'.
    """
    with _locked(place):
        before = load(place)
        jobs = tuple(_gathered(place / job.folder, job, lang, lost) for job in before.jobs)
        codes = [code, *(job.exit_code for job in jobs if job.exit_code is not None)]
        complete = all(job.status in _ENDED for job in jobs)
        now = replace(before, jobs=jobs, exit_code=worst(codes), complete=complete)
        _write(place, now)
        return now


def reopen(place: Path, lang: str) -> Sweep:
    """The books before jobs start: those without a result start from nothing, or from what their folders hold."""
    for job in load(place).jobs:
        if not is_settled(place / job.folder):
            note(place / job.folder, Ended())
    return refresh(place, lang)


@contextlib.contextmanager
def owned(place: Path) -> Iterator[None]:
    """Inside, nobody else runs this sweep. Raises ConfigError where somebody does."""
    handle = os.open(place, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(handle)
        raise ConfigError(f"{place} is being run by another msprun", "wait for it, or stop it first") from error
    try:
        yield
    finally:
        os.close(handle)


def _gathered(where: Path, job: Job, lang: str, lost: Ended | None) -> Job:
    """A job with its latest status and the figures of its result."""
    ended = noted(where)
    if ended.status in _ENDED and ended.status == job.status:
        return job
    if lost is not None and ended.status == "running":
        ended = lost
        note(where, ended)
    found = None if ended.status in ("not_started", "skipped_fail_fast") else _result(where)
    known = replace(job, **_NO_FIGURES, **{name: getattr(ended, name) for name in ended.__struct_fields__})
    return known if found is None else _with_figures(known, found, lang)


def _with_figures(job: Job, found: Result, lang: str) -> Job:
    view = overview(found)
    speed, verdict = _speed(found)
    return replace(
        job,
        verdict=verdict if verdict and view.word in page.SPEEDS else view.word,
        state=view.state,
        counts=found.counts,
        geomean=None if view.check_only else speed,
        reason=job.reason or (page.reason(view, lang) if job.status in _ENDED else None),
    )


def _speed(found: Result) -> tuple[Geomean | None, str | None]:
    """The geomean over the cases; that of a single case is the case's own figure, with its interval and verdict."""
    pairs = [row.paired for row in found.per_case if has_speed(row) and row.paired]
    if len(pairs) == 1 and pairs[0].speedup is not None:
        return Geomean(speedup=pairs[0].speedup, low=pairs[0].low, high=pairs[0].high), pairs[0].verdict
    if found.geomean_speedup is None:
        return None, None
    return Geomean(speedup=found.geomean_speedup, low=found.geomean_low, high=found.geomean_high), None


def _result(job_folder: Path) -> Result | None:
    try:
        return loads((job_folder / "result.json").read_bytes())
    except (OSError, msgspec.DecodeError):
        return None


def _write(place: Path, sweep: Sweep) -> None:
    write_atomically(place / NAME, dumps(sweep))
    write_atomically(place / TABLE, page.csv(sweep))


@contextlib.contextmanager
def _locked(place: Path) -> Iterator[None]:
    """A lock of its own for the books: the folder's belongs to whoever runs the sweep."""
    with (place / _LOCK).open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
