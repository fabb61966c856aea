"""An older build of the candidate, in a folder of its own."""

from __future__ import annotations

from pathlib import Path

from msprun.errors import ConfigError
from msprun.model.operator import Older
from msprun.schema import Op
from msprun.source.folder import compile_source, implementation


def load_older(folder: Path, op: Op, *, compile_sources: bool) -> Older:
    """The candidate as it is in `folder`, an absolute path: the file and class that `op.candidate` names.

    Raises ConfigError where the folder or the file is missing, or the source does not compile.
    """
    if not folder.is_dir():
        what = "is a file" if folder.exists() else "is not there"
        raise ConfigError(f"against: {folder} {what}", "name the folder of an older build: against=DIR")
    if Path(op.candidate.file).is_absolute():
        raise ConfigError(
            f"op.candidate.file={op.candidate.file} would be the older build too",
            "name it relative to the operator's folder, and against=DIR has its own",
        )
    found = implementation(folder, op.candidate, "candidate", "against")
    if compile_sources:
        compile_source(found.file)
    return Older(file=found.file, cls=found.cls, env=found.env, folder=folder)
