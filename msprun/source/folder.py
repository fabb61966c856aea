"""An operator folder as a checked value."""

from __future__ import annotations

import shlex
import warnings
from pathlib import Path

from msprun.errors import ConfigError
from msprun.model.operator import Implementation, Operator, Work
from msprun.schema import Op, OpWork
from msprun.schema import Side as SideConfig
from msprun.source.cases import read_cases
from msprun.source.faults import guess

_SHOWN = 8


def load_operator(op: Op, *, compile_sources: bool) -> Operator:
    """The operator of `op.dir` (an absolute path), with the cases of its cases file or, without one, with none.

    `compile_sources` finds syntax errors with this interpreter before anything starts. Raises ConfigError where a
    folder or file is missing, a source does not compile, or the cases file has a fault.
    """
    folder = _folder(Path(op.dir))
    reference = implementation(folder, op.reference, "reference")
    candidate = implementation(folder, op.candidate, "candidate")
    if compile_sources:
        compile_source(reference.file)
        compile_source(candidate.file)
    cases, cases_file, origin = read_cases(folder, op.cases_file)
    return Operator(
        name=op.name or folder.name,
        folder=folder,
        reference=reference,
        candidate=candidate,
        cases=cases,
        cases_file=cases_file,
        origin=origin,
        build=_words(op.build),
        grad=op.grad,
        work=_work(op.work),
    )


def _folder(folder: Path) -> Path:
    if folder.is_dir():
        return folder
    if folder.exists():
        raise ConfigError(f"op: {folder} is not a folder", f"type op={folder.parent}")
    beside = _subfolders(folder.parent)
    near = guess(folder.name, beside, "type op=DIR with the folder that holds model.py and model_new_ascendc.py")
    raise ConfigError(f"op: there is no folder {folder}", near)


def _subfolders(folder: Path) -> list[str]:
    try:
        return sorted(entry.name for entry in folder.iterdir() if entry.is_dir())
    except OSError:
        return []


def implementation(folder: Path, side: SideConfig, word: str, key: str = "op") -> Implementation:
    """One side in a folder that `key` names; `word` is its own. Raises ConfigError where the file is missing."""
    file = folder / side.file
    if not file.is_file():
        raise ConfigError(f"{key}: {folder} has no {side.file} ({word})", _other_files(folder, side.file, (key, word)))
    return Implementation(file=file, cls=side.cls, env=tuple(sorted(side.env.items())))


def _other_files(folder: Path, wanted: str, words: tuple[str, str]) -> str:
    key, word = words
    below = sorted(path.parent.name for path in folder.glob(f"*/{wanted}"))
    if below:
        return f"operators lie in its folders; type {key}={folder / below[0]}" + _rest("others", below[1:])
    python = sorted(path.name for path in folder.glob("*.py"))
    return f"write it, or type op.{word}.file=FILE" + _rest("there are", python)


def _rest(what: str, names: list[str]) -> str:
    shown = ", ".join(names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")
    return f" ({what}: {shown})" if names else ""


def compile_source(path: Path) -> None:
    """Raise ConfigError with file, line and text where a source is no Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(path.read_bytes(), str(path), "exec", dont_inherit=True)
    except SyntaxError as error:
        place = f"{path}:{error.lineno}" if error.lineno else str(path)
        text = (error.text or "").strip()
        raise ConfigError(
            f"{place}: {type(error).__name__}: {error.msg}" + (f": {text[:100]}" if text else ""),
            "correct the line; mode=check runs the operator again",
        ) from None
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}", f"type chmod u+r {path}") from None
    except (ValueError, RecursionError, MemoryError, OverflowError) as error:
        raise ConfigError(f"{path} is no Python source: {error}", "is it a text file?") from None


def _words(build: str | None) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(build or ""))
    except ValueError as error:
        raise ConfigError(f"op.build: {error}", "write it as you would in a shell, quotes in pairs") from None


def _work(work: OpWork) -> Work | None:
    return Work(bytes=work.bytes, flops=work.flops) if work.bytes is not None or work.flops is not None else None
