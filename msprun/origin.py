"""Where each value of a composed request came from, and what its relative paths are relative to."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from msprun import search
from msprun.model.plan import Source

Load = Callable[[Path], dict[str, Any]]


class Origin(Struct, frozen=True, kw_only=True):
    """`overrides` are the words of the command line, `choices` the chosen option of each group.

    `folders` are the conf folders, `load` reads a config file as it stands.
    """

    overrides: tuple[str, ...]
    choices: dict[str, str]
    folders: tuple[Path, ...]
    cwd: Path
    load: Load

    def typed(self) -> tuple[str, ...]:
        """Dotted keys and groups that the command line names."""
        return tuple(word.lstrip("+~").partition("=")[0].partition("@")[0] for word in self.overrides)

    def given(self) -> frozenset[str]:
        """Dotted keys and groups that the command line or an experiment names."""
        keys = {key for key in self.typed() if key != "experiment" and not key.startswith("hydra")}
        for option in self.choices.get("experiment", "").split(","):
            file = search.find(self.folders, "experiment", option) if option else None
            raw = self.load(file) if file else {}
            keys |= {key for key in leaves(raw) if key.partition(".")[0] not in ("defaults", "hydra")}
            keys |= set(_overridden(raw))
        return frozenset(keys)

    def sources(self, values: Mapping[str, Any]) -> dict[str, Source]:
        """`cli` or `config` for every dotted key of the composed config; an option that was typed brings its keys."""
        typed = self.typed()
        by_option = {key for key in leaves(values) if key.partition(".")[0] in typed}
        return {key: "cli" if key in by_option or self._is_typed(key) else "config" for key in leaves(values)}

    def located(self, key: str, value: str) -> str:
        """A path made absolute: typed ones from the cwd, those of a file from the folder that holds its conf folder."""
        if key == "python" and "/" not in value:
            return value
        base = self.cwd if self._is_typed(key) else self._base_of(key)
        return os.path.abspath(base / os.path.expanduser(value))

    def _is_typed(self, key: str) -> bool:
        for word, typed in zip(self.overrides, self.typed(), strict=True):
            is_choice = typed in self.choices and "={" not in word
            if key == typed or (key.startswith(f"{typed}.") and not is_choice):
                return True
        return False

    def _base_of(self, key: str) -> Path:
        for group in ("experiment", "mode"):
            for option in reversed(self.choices.get(group, "").split(",")):
                if base := self._holder(group, option, key):
                    return base
        group, _, rest = key.partition(".")
        return (self._holder(group, self.choices[group], rest) if group in self.choices else None) or self.cwd

    def _holder(self, group: str, option: str, key: str) -> Path | None:
        """The folder beside the conf folder whose option file, or one that it builds on, holds `key`."""
        file = search.find(self.folders, group, option) if option else None
        if file is None:
            return None
        raw = self.load(file)
        if key in set(leaves(raw)):
            return file.parents[2]
        entries = [entry for entry in raw.get("defaults", ()) if isinstance(entry, str)]
        below = (self._holder(group, entry, key) for entry in entries if entry not in ("_self_", option))
        return next((base for base in below if base), None)


def leaves(values: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """The dotted keys of nested mappings, leaves only."""
    for key, value in values.items():
        if isinstance(value, Mapping) and value:
            yield from leaves(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}"


def _overridden(raw: Mapping[str, Any]) -> Sequence[str]:
    """The groups whose option an experiment's defaults list replaces."""
    entries = [str(key) for entry in raw.get("defaults", ()) if isinstance(entry, Mapping) for key in entry]
    return [key.rpartition(" ")[2].lstrip("/") for key in entries if "hydra" not in key]
