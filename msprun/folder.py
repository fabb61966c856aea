"""The run folder: made for one run, never shared, never in anybody's way."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec.structs import replace

from msprun.disk import write_atomically
from msprun.errors import ConfigError
from msprun.model.invocation import Invocation
from msprun.model.plan import Plan
from msprun.model.result import Result

MARKER = ".msprun-run"
RESULT = "result.json"
# What of a plan decides its numbers.
DECIDING = ("mode", "files", "cases", "sides", "schedule", "check", "device", "profiler", "python")
# What of it may be otherwise when the run is taken up again.
PASSING = ("device.id_source", "device.id_why", "device.health")
# What callers of the old script look for beside the operator, and the page of a run that it is.
OPERATORS_OWN = {"json": "performance.json", "log": "performance.log", "markdown": "perf_report.md"}


def create(plan: Plan, invocation: Invocation) -> None:
    """Make the folder with the request and the plan in it. Raises ConfigError when that is not possible."""
    out = plan.folder.parent
    try:
        make_out(out)
        plan.folder.mkdir(exist_ok=invocation.is_sweep or invocation.resume)
        (plan.folder / MARKER).write_text(f"{os.getpid()}\n")
        if invocation.hydra_files:
            (plan.folder / ".hydra").mkdir(exist_ok=invocation.resume)
        for name, text in invocation.hydra_files.items():
            write_atomically(plan.folder / ".hydra" / name, text)
        write_atomically(
            plan.folder / "plan.json", msgspec.json.format(msgspec.json.encode(public(plan), enc_hook=str), indent=1)
        )
    except OSError as error:
        raise ConfigError(
            f"out={out} cannot be written: {error.strerror or error}", "give another folder: out=/tmp/runs"
        ) from error


def make_out(out: Path) -> None:
    """Make the folder that holds runs, kept out of version control; many may do so at once. Raises OSError."""
    out.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        out.mkdir()
        write_atomically(out / ".gitignore", "*\n")


def reopen(plan: Plan) -> Result | None:
    """Take up an earlier run's folder; its result so far, None where it was ended before the first.

    Raises ConfigError when the folder is no run's, when the run is still going on, or when this plan would measure
    something else than the earlier one.
    """
    folder = plan.folder
    if not (folder / MARKER).is_file():
        raise ConfigError(f"{folder} is no run folder", "resume=runs/<run> takes up a run that was interrupted")
    if not _is_finished_run(folder):
        raise ConfigError(f"{folder} is still being written by process {(folder / MARKER).read_text().strip()}")
    try:
        before = msgspec.json.decode((folder / "plan.json").read_bytes())
        result = msgspec.json.decode(saved.read_bytes(), type=Result) if (saved := folder / RESULT).exists() else None
    except (OSError, msgspec.DecodeError) as error:
        raise ConfigError(f"{folder} cannot be taken up again: {error}", f"msprun rerun={folder}") from error
    now = msgspec.json.decode(msgspec.json.encode(public(plan), enc_hook=str))
    changed = [what for part in DECIDING for what in _differences(part, before.get(part), now.get(part))]
    if changed:
        raise ConfigError(f"the request has changed: {'; '.join(changed[:5])}", f"msprun rerun={folder} measures anew")
    (folder / MARKER).write_text(f"{os.getpid()}\n")
    return result


def earlier_device(folder: Path) -> int | None:
    """The number of the NPU on which a run began, for one that is taken up again: its times belong to that device."""
    try:
        device = msgspec.json.decode((folder / "plan.json").read_bytes())["device"]
        return int(device["id"]) if device["kind"] == "npu" else None
    except (OSError, msgspec.DecodeError, KeyError, TypeError, ValueError):
        return None


def _differences(key: str, before: object, now: object) -> list[str]:
    if key in PASSING:
        return []
    if isinstance(before, dict) and isinstance(now, dict):
        keys = sorted(before.keys() | now.keys())
        return [what for k in keys for what in _differences(f"{key}.{k}", before.get(k), now.get(k))]
    return [] if before == now else [f"{key}: {_short(before)} -> {_short(now)}"]


def _short(value: object) -> str:
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= 60 else text[:57] + "..."


def public(plan: Plan) -> Plan:
    """The plan without the sessions' whole environments: they may hold secrets."""
    return replace(plan, sessions=tuple(replace(s, command=replace(s.command, env=())) for s in plan.sessions))


def save(folder: Path, data: bytes) -> None:
    """Put the result as it stands on disk."""
    write_atomically(folder / RESULT, data)


def copy_to_operator(plan: Plan) -> None:
    """The pages that were asked for, into the operator's folder as one set; other runs wait."""
    target = plan.operator.folder
    with _locked(target):
        for name, _, file in plan.pages:
            if name in OPERATORS_OWN:
                write_atomically(target / OPERATORS_OWN[name], (plan.folder / file).read_bytes())


def keep_newest(folder: Path, count: int | None) -> None:
    """Remove all but the newest `count` finished runs beside this one: only folders with our marker, never links."""
    if count is None:
        return
    ours = [p for p in folder.parent.iterdir() if _is_finished_run(p) and p != folder]
    for old in sorted(ours, key=lambda p: p.name)[: max(0, len(ours) - (count - 1))]:
        shutil.rmtree(old, ignore_errors=True)


def _is_finished_run(path: Path) -> bool:
    marker = path / MARKER
    if path.is_symlink() or not path.is_dir() or marker.is_symlink() or not marker.is_file():
        return False
    try:
        pid = int(marker.read_text())
        os.kill(pid, 0)
    except (ProcessLookupError, ValueError):
        return True
    except OSError:
        return False
    return pid == os.getpid()


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """The lock of a folder is the folder: nothing is left behind, and it goes with the process."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
