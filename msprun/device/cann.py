"""The CANN that a worker would find: sourced or not, one or several, with msprof or without; read from files alone."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from msprun.interpreter import has_package
from msprun.model.npu import Finding
from msprun.toolkit import HOME, search_path

LIBRARY = "libascendcl.so"
_LINKER_CACHE = Path("/etc/ld.so.cache")
_CACHE_LIMIT = 1 << 24
_VERSION = re.compile(r"^\s*(?:version|Version|runtime_running_version)\s*=\s*\[?([\w.+-]+)", re.MULTILINE)
_VERSION_FILES = ("*/ascend_toolkit_install.info", "ascend_toolkit_install.info", "version.cfg", "version.info")


class Cann(Struct, frozen=True, kw_only=True):
    """What was found. `msprof` is the one that is used, `msprof_why` says why, `others` are those on PATH beside it."""

    home: Path | None
    version: str | None
    library: Path | None
    msprof: Path | None
    msprof_why: str
    others: tuple[Path, ...]
    findings: tuple[Finding, ...]


def examine(environ: Mapping[str, str], python: Path) -> Cann:
    """Look at the CANN of an environment and at the torch_npu of the interpreter that would run in it."""
    home = Path(environ[HOME]) if environ.get(HOME) else None
    library = _library(environ)
    msprof, why, others = _msprof(environ, home)
    return Cann(
        home=home,
        version=None if home is None else _version(home),
        library=library,
        msprof=msprof,
        msprof_why=why,
        others=others,
        findings=(
            *_sourcing(environ, home, library),
            *_torch_npu(python, environ),
            *_profilers(msprof, why, others),
        ),
    )


def _sourcing(environ: Mapping[str, str], home: Path | None, library: Path | None) -> Iterator[Finding]:
    source = "source set_env.sh of CANN, mostly: source /usr/local/Ascend/ascend-toolkit/set_env.sh"
    if home is not None and not home.is_dir():
        yield Finding(
            code="cann_not_there", message=f"{HOME}={home} is no folder", hint=source, is_fatal=library is None
        )
    if library is None:
        what = f"{HOME} is not set" if home is None else f"{LIBRARY} is not on LD_LIBRARY_PATH"
        yield Finding(code="cann_not_sourced", message=f"CANN is not sourced: {what}", hint=source, is_fatal=True)
    elif home is None:
        yield Finding(code="cann_half_sourced", message=f"{HOME} is not set, though {library} is found", hint=source)
    elif not library.resolve().is_relative_to(home.resolve()) and home.is_dir():
        yield Finding(
            code="two_libraries",
            message=f"{LIBRARY} is taken from {library.parent}, outside {HOME}={home}",
            hint="source set_env.sh of one CANN only, in a fresh shell",
        )


def _torch_npu(python: Path, environ: Mapping[str, str]) -> Iterator[Finding]:
    if not has_package(python, "torch_npu", environ):
        yield Finding(
            code="no_torch_npu",
            message=f"torch_npu is not installed for {python}",
            hint="name the environment whose torch_npu fits this CANN: python=/path/to/bin/python",
            is_fatal=True,
        )


def _profilers(msprof: Path | None, why: str, others: tuple[Path, ...]) -> Iterator[Finding]:
    if msprof is None:
        yield Finding(
            code="no_msprof",
            message=f"there is no msprof on PATH or below {HOME}, so torch_npu's profiler is used, which calls it too",
            hint="source set_env.sh of CANN to have msprof",
        )
    if others:
        yield Finding(
            code="two_canns",
            message=f"several CANNs are found: {msprof} is used ({why}), not {', '.join(map(str, others))}",
            hint="source set_env.sh of one CANN only, in a fresh shell",
        )


def _library(environ: Mapping[str, str]) -> Path | None:
    """Where the dynamic linker would find CANN's runtime: LD_LIBRARY_PATH, then what ldconfig knows."""
    for folder in environ.get("LD_LIBRARY_PATH", "").split(os.pathsep):
        if folder and (file := Path(folder, LIBRARY)).exists():
            return file
    try:
        with _LINKER_CACHE.open("rb") as cache:
            known = re.search(rb"/[\x21-\x7e]*/" + LIBRARY.encode() + rb"\b", cache.read(_CACHE_LIMIT))
    except OSError:
        return None
    cached = Path(os.fsdecode(known[0])) if known else None
    return cached if cached is not None and cached.exists() else None


def _msprof(environ: Mapping[str, str], home: Path | None) -> tuple[Path | None, str, tuple[Path, ...]]:
    """The msprof that a session starts, why that one, and the others: links to one and the same file are one."""
    found: dict[Path, Path] = {}
    for folder in search_path(environ).split(os.pathsep):
        file = Path(folder or ".", "msprof")
        if file.is_file() and os.access(file, os.X_OK):
            found.setdefault(file.resolve(), file.absolute())
    if not found:
        return None, "there is none", ()
    used, *others = found
    is_on_path = str(found[used].parent) in environ.get("PATH", os.defpath).split(os.pathsep)
    why = "the first on PATH" if is_on_path else "none is on PATH"
    if home is not None:
        is_inside = used.is_relative_to(home.resolve())
        why += f", and of {HOME}={home}" if is_inside else f", though {HOME}={home}"
    return found[used], why, tuple(found[real] for real in others)


def _version(home: Path) -> str | None:
    for pattern in _VERSION_FILES:
        for file in sorted(home.glob(pattern)):
            try:
                told = _VERSION.search(file.read_text(errors="replace")[:4096])
            except OSError:
                continue
            if told:
                return told[1]
    return None
