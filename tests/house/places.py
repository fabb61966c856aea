"""Rule 1: one word, four places. Who knows the option knows the file."""

from __future__ import annotations

import typing
from collections.abc import Iterator
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any

import yaml

GROUPS = ("mode", "device", "profiler")
NO_FILE = {"auto", "none"}


def lost_options(root: Path) -> Iterator[str]:
    """Options of mode, device and profiler that lack their module or their test."""
    for group in GROUPS:
        for option in sorted((root / "conf" / group).glob("*.yaml")):
            if option.stem not in NO_FILE:
                yield from _absent(root, f"msprun/{group}/{option.stem}.py", f"tests/{group}/test_{option.stem}.py")


def lost_pages(root: Path) -> Iterator[str]:
    """Reports that lack their template and a golden page, or, where code writes them, their module and its test."""
    for option in sorted((root / "conf" / "report").glob("*.yaml")):
        if option.stem in NO_FILE:
            continue
        page = next(iter(yaml.safe_load(option.read_text()).values()))
        if page["template"] is None:
            yield from _absent(root, f"msprun/report/{option.stem}.py", f"tests/report/test_{option.stem}.py")
            continue
        yield from _absent(root, f"templates/{page['template']}")
        if not any((root / "tests" / "golden").glob(f"*/{page['file']}")):
            yield f"tests/golden/*/{page['file']} is not there"


def shared_words(root: Path, schema: type) -> Iterator[str]:
    """Plain keys, in msprun.yaml or in the schema, that share their name with a folder of conf/."""
    folders = {folder.name for folder in (root / "conf").iterdir() if folder.is_dir()}
    defaults: dict[str, Any] = yaml.safe_load((root / "conf" / "msprun.yaml").read_text())
    for key in sorted(folders & set(defaults)):
        if not isinstance(defaults[key], dict):
            yield f"conf/msprun.yaml: {key} is a key and a folder"
    for key, kind in typing.get_type_hints(schema).items():
        if key in folders and not is_dataclass(kind):
            yield f"{schema.__name__}.{key} is a key and a folder"


def _absent(root: Path, *paths: str) -> Iterator[str]:
    yield from (f"{path} is not there" for path in paths if not (root / path).is_file())
