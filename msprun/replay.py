"""`resume=DIR` and `rerun=DIR`: the request that a run or a sweep has kept, and how today's differs from it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct

from msprun import config, origin, sweep
from msprun import folder as run_folder
from msprun.errors import ConfigError
from msprun.model.result import SCHEMA_VERSION
from msprun.model.sweep import Sweep

_KEYS = ("resume", "rerun")
# What may differ without another measurement.
_FREE = ("print", "lang")
# What a replay says anew: where it runs, and whether it is a sweep.
_PLACES = ("hydra.mode=", "hydra.run.dir=", "hydra.sweep.dir=")
_SHOWN = 5
# A key that is not there, or has no value yet, is as good as null: later versions have more keys.
_NOTHING = "null"


class Wish(Struct, frozen=True, kw_only=True):
    """What the command line wants again; `more` are the words beside it."""

    key: Literal["resume", "rerun"]
    folder: Path
    more: tuple[str, ...]


class Saved(Struct, frozen=True, kw_only=True):
    """A request as it was kept: its words, where it was typed, the composed config of each of its jobs.

    `books` are those of a sweep, None for a single run.
    """

    words: tuple[str, ...]
    cwd: Path
    run_id: str
    configs: tuple[dict[str, Any], ...]
    books: Sweep | None = None


def wish(words: Sequence[str], cwd: Path) -> Wish | None:
    """What `resume=` or `rerun=` asks for. Raises ConfigError for both at once, for a flag, and for no folder."""
    found = [word for word in words if word.lstrip("+").partition("=")[0] in _KEYS]
    if not found:
        return None
    key, _, value = found[0].lstrip("+").partition("=")
    more = tuple(word for word in words if word != found[0])
    if odd := [word for word in more if word in found or word.startswith("-")]:
        raise ConfigError(f"{odd[0]} does not go with {found[0]}", f"alone: msprun {found[0]}")
    value = value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"" else value
    folder = Path(os.path.abspath(cwd / os.path.expanduser(value)))
    if not value or not folder.is_dir():
        raise ConfigError(f"{key}={value}: there is no such folder", f"the folder of a run or a sweep: {key}=runs/...")
    return Wish(key="resume" if key == "resume" else "rerun", folder=folder, more=more)


def saved(wanted: Wish) -> Saved:
    """The request in a folder. Raises ConfigError where there is none, or one of another version."""
    folder = wanted.folder
    if (folder / sweep.NAME).is_file():
        return _sweep(folder)
    if wanted.key == "resume" and (folder.parent / sweep.NAME).is_file():
        raise ConfigError(f"{folder} is a job of a sweep", f"take up the whole sweep: msprun resume={folder.parent}")
    return _run(folder)


def differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """`key: saved value -> value now` for every dotted key that is not the same."""
    old, new = (dict(_flat(values)) for values in (before, now))
    keys = [key for key in dict.fromkeys((*old, *new)) if key.partition(".")[0] not in _FREE]
    return [f"{key}: {_shown(old, key)} -> {_shown(new, key)}" for key in keys if _shown(old, key) != _shown(new, key)]


def changed(found: Sequence[str], folder: Path) -> ConfigError:
    """The error for a request that is not the one that was kept."""
    rest = f"; and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return ConfigError(
        f"the request has changed: {'; '.join(found[:_SHOWN])}{rest}", f"to measure anew: msprun rerun={folder}"
    )


@contextlib.contextmanager
def inside(folder: Path) -> Iterator[None]:
    """Inside, this is the current directory, as it was when the request was typed."""
    before = Path.cwd()
    try:
        os.chdir(folder)
    except OSError as error:
        raise ConfigError(f"the request was typed in {folder}: {error.strerror}", "make that folder again") from error
    try:
        yield
    finally:
        os.chdir(before)


def _run(folder: Path) -> Saved:
    place = folder / ".hydra"
    if not (folder / run_folder.MARKER).is_file() or not (place / "hydra.yaml").is_file():
        raise ConfigError(f"{folder} is no folder of a run or a sweep", "they lie in runs/, or where out= said")
    run_id = folder.name.rpartition("-")[2]
    with contextlib.suppress(OSError, msgspec.DecodeError):
        result = msgspec.json.decode((folder / run_folder.RESULT).read_bytes(), type=dict[str, Any])
        run_id = str(result.get("run_id", run_id))
        if result.get("schema_version") != SCHEMA_VERSION:
            raise ConfigError(
                f"{folder} has version {result.get('schema_version')}, this msprun writes version {SCHEMA_VERSION}",
                "use the msprun that wrote it, or start anew",
            )
    hydra = config.raw_file(place / "hydra.yaml")["hydra"]
    own = [word for word in hydra["overrides"]["hydra"] if not word.lstrip("+").startswith(_PLACES)]
    return Saved(
        words=(*hydra["overrides"]["task"], *own),
        cwd=Path(hydra["runtime"]["cwd"]),
        run_id=run_id,
        configs=(config.raw_file(place / "config.yaml"),),
    )


def _sweep(folder: Path) -> Saved:
    books = sweep.load(folder)
    return Saved(
        words=(*books.request.overrides, *(w for w in books.request.hydra if not w.lstrip("+").startswith(_PLACES))),
        cwd=Path(books.request.cwd),
        run_id=books.sweep_id,
        configs=tuple(config.raw_file(folder / job.folder / ".hydra" / "config.yaml") for job in books.jobs),
        books=books,
    )


def _flat(values: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key in origin.leaves(values):
        found: Any = values
        for part in key.split("."):
            found = found.get(part) if isinstance(found, Mapping) else None
        yield key, found


def _shown(values: Mapping[str, Any], key: str) -> str:
    if key not in values:
        return _NOTHING
    if values[key] is None or values[key] == "???":
        return _NOTHING
    text = str(values[key]) if isinstance(values[key], str) else msgspec.json.encode(values[key]).decode()
    return text if len(text) <= 80 else text[:77] + "..."
