"""Which Python runs the worker: found by reading files, so that nothing is started to find out."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msprun.errors import ConfigError, MachineError


def choose(
    python: str, environ: Mapping[str, str], accelerators: tuple[str, ...], needs: Sequence[str] = ("torch",)
) -> tuple[Path, str]:
    """The interpreter for `python=auto` or a given path that has the packages in `needs`, and why it was taken.

    Raises ConfigError when the given one is not there, MachineError when no interpreter has them.
    """
    if python != "auto":
        return _given(python, environ, needs), "given"
    own = Path(sys.executable)
    lacks = [name for name in needs if not has_package(own, name, environ)]
    if not lacks:
        return own, f"this one has {needs[-1]}"
    for path, where in _others(environ):
        if all(has_package(path, name, environ) for name in needs):
            return path, f"{where} has {lacks[0]}, this one has not"
    raise MachineError(f"{lacks[0]} is not installed for {own}", _advice(accelerators))


def surroundings(
    python: Path, variables: Mapping[str, str | None], environ: Mapping[str, str], own: Mapping[str, str]
) -> dict[str, str]:
    """The whole environment of a worker: the caller's, the operator's own, and what its device needs (None: unset)."""
    found = {**environ, **own}
    for name, value in variables.items():
        if value is None:
            found.pop(name, None)
        else:
            found[name] = value
    found["PATH"] = f"{python.parent}{os.pathsep}{variables.get('PATH') or environ.get('PATH', os.defpath)}"
    found["PYTHONUNBUFFERED"] = "1"
    found["MSPRUN_PARENT"] = str(os.getpid())  # a worker ends with it; by hand the variable is not there
    found["PYTHONDONTWRITEBYTECODE"] = "1"  # operator folders stay as they are
    for name in ("PYTHONSTARTUP", "PYTHONSAFEPATH", "PYTHONHOME"):
        found.pop(name, None)
    return found


def has_package(python: Path, name: str, environ: Mapping[str, str]) -> bool:
    """A package lies where an interpreter looks: in its site-packages, in those of its environment, on PYTHONPATH."""
    if any(Path(folder, name, "__init__.py").is_file() for folder in environ.get("PYTHONPATH", "").split(os.pathsep)):
        return True
    if python == Path(sys.executable):
        return importlib.util.find_spec(name) is not None
    prefixes = dict.fromkeys((python.parent.parent, python.resolve().parent.parent))
    return any(any(prefix.glob(f"lib*/python3*/*-packages/{name}/version.py")) for prefix in prefixes)


def _given(python: str, environ: Mapping[str, str], needs: Sequence[str]) -> Path:
    found = shutil.which(python)
    if found is None:
        raise ConfigError(f"python={python} is no program that can be run", "give the path of an interpreter")
    path = Path(found).absolute()
    for name in needs:
        if not has_package(path, name, environ):
            install = f"install it there: {path} -m pip install torch"
            fits = "take the environment whose torch_npu fits its CANN: python=/path/to/bin/python"
            raise MachineError(f"python={python} has no {name}", install if name == "torch" else fits)
    return path


def _others(environ: Mapping[str, str]) -> Iterator[tuple[Path, str]]:
    for variable in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        python = Path(environ.get(variable, "")) / "bin" / "python"
        if environ.get(variable) and python.exists():
            yield python, f"${variable}"
    for folder in environ.get("PATH", os.defpath).split(os.pathsep):
        python = Path(folder or ".") / "python3"
        if python.exists() and os.access(python, os.X_OK):
            yield python.absolute(), "python3 on PATH"


def _advice(accelerators: tuple[str, ...]) -> str:
    """On a host with NPUs the torch that fits its CANN must not be replaced by one from the package index."""
    if any("davinci" in device for device in accelerators):
        return "this host has NPUs: take the environment whose torch_npu fits its CANN, python=/path/to/bin/python"
    return "pip install 'msprun[cpu]', or name an interpreter that has torch: python=/path/to/bin/python"
