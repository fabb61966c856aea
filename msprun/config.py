"""From composed YAML to a checked request, whose types are in schema.py."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Sequence
from dataclasses import is_dataclass
from functools import reduce
from pathlib import Path
from typing import Any, get_type_hints

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from msprun import search, suggest
from msprun.errors import ConfigError
from msprun.keywords import KEYWORDS
from msprun.schema import Run

GROUPS = ("mode", "op", "device", "profiler", "check", "report")
PATHS = ("out", "python", "op.dir", "against", "lease.dir")
USER_VALUES = "msprun_user"


_AUTO_COUNTS = {"warmup": 0, "repeats": 1}
_AT_LEAST: dict[str, float] = {
    "seed": 0,
    "retry": 0,
    "max_cases": 1,
    "keep_runs": 1,
    "device.threads": 1,
    "device.id": 0,
    "device.physical": 0,
    "lease.wait_s": 0,
    "profiler.visits": 1,
    "profiler.quads_min": 1,
    "profiler.quads_max": 1,
    "profiler.block_us": 0,
    "profiler.block_calls_max": 1,
    "profiler.warmup_min": 0,
    "profiler.warmup_max": 0,
    "profiler.warmup_s": 0,
    "check.rtol": 0,
    "check.atol": 0,
    "op.check.rtol": 0,
    "op.check.atol": 0,
    "op.check.threshold": 0,
}
_ABOVE_ZERO = (
    "budget_s",
    "op_timeout_s",
    "case_timeout_s",
    "compile_timeout_s",
    "timeout_s",
    "time_limit_s",
    "log_limit_mb",
    "profiler.precision",
    "check.budget_s",
)
_SEED_MAX = 2**63 - 1
_TAG = re.compile(r"(?!-)[A-Za-z0-9_.-]+")


def schema_keys(cls: type = Run, prefix: str = "") -> tuple[str, ...]:
    """All dotted keys of the schema, nodes and leaves."""
    keys: list[str] = []
    for name, hint in get_type_hints(cls).items():
        keys.append(prefix + name)
        if is_dataclass(hint) and isinstance(hint, type):
            keys += schema_keys(hint, f"{prefix}{name}.")
    return tuple(keys)


def unknown_keys(cfg: DictConfig, cls: type = Run, prefix: str = "") -> list[str]:
    """Dotted keys of a config that the schema has not. Hydra lets them in behind `+`."""
    hints = get_type_hints(cls)
    unknown: list[str] = []
    for key in cfg:
        name = str(key)
        if name not in hints:
            unknown.append(prefix + name)
        elif is_dataclass(hints[name]) and not OmegaConf.is_missing(cfg, name) and OmegaConf.is_dict(cfg[name]):
            unknown += unknown_keys(cfg[name], hints[name], f"{prefix}{name}.")
    return unknown


def with_option(cfg: DictConfig, group: str, name: str, search_path: Sequence[Path]) -> None:
    """Fill the keys that `<group>/<name>.yaml` has and the composed node has not; `kind` is replaced.

    Raises ConfigError where no folder of `search_path` has that file.
    """
    file = search.find(search_path, group, name)
    if file is None:
        raise ConfigError(f"there is no {group}={name} for {group}=auto", f"choose one: {group}=...")
    node = cfg[group]
    for key, value in OmegaConf.load(file).items():
        if key == "kind" or (key != "defaults" and OmegaConf.is_missing(node, key)):
            OmegaConf.update(node, str(key), value)


def checked(cfg: DictConfig) -> Run:
    """The request as an object. Raises ConfigError for unknown or missing keys and for values that make no sense."""
    if unknown := unknown_keys(cfg):
        raise suggest.unknown_key(unknown[0], schema_keys())
    # Hydra's config is typed already, and merging takes 25 ms.
    typed = cfg if OmegaConf.get_type(cfg) is Run else OmegaConf.merge(OmegaConf.structured(Run), cfg)
    if missing := OmegaConf.missing_keys(typed):
        raise ConfigError(f"no value for {', '.join(sorted(missing))}", "give each one as key=value")
    run = OmegaConf.to_object(typed)
    assert isinstance(run, Run)
    check_values(run)
    return run


def check_values(run: Run) -> None:
    """Raises ConfigError, naming the key and the value, for the first value out of its range."""
    for key, low in _AUTO_COUNTS.items():
        setattr(run, key, _count(key, getattr(run, key), low))
    for key, least in _AT_LEAST.items():
        value = _value(run, key)
        if value is not None and not (least <= value < math.inf):
            raise ConfigError(f"{key}={value} is out of range", f"{key} is at least {least}")
    for key in _ABOVE_ZERO:
        value = _value(run, key)
        if value is not None and not (0 < value < math.inf):
            raise ConfigError(f"{key}={value} is out of range", f"{key} is more than 0")
    for key, words in KEYWORDS.items():
        _check_word(key, _value(run, key), words)
    for key in PATHS:
        if _value(run, key) == "":
            raise ConfigError(f"{key} is empty", f"drop it or name a path: {key}=...")
    _check_pairs(run)
    _check_cases(run.cases)
    run.save_to_op = _switch("save_to_op", run.save_to_op)
    if run.prof_tag is not None and (not _TAG.fullmatch(run.prof_tag) or run.prof_tag in (".", "..")):
        raise ConfigError(
            f"prof_tag={run.prof_tag} cannot be part of a folder's name",
            "letters, digits, _ . - and no dash in front: prof_tag=my-tag",
        )


def _value(run: Run, key: str) -> Any:
    return reduce(getattr, key.split("."), run)


def _count(key: str, value: int | str, low: int) -> int | str:
    if value == "auto":
        return value
    try:
        count = int(value)
    except ValueError:
        meant = suggest.did_you_mean(str(value), ["auto"])
        raise ConfigError(f"{key}={value} is not auto or a whole number{meant}", f"{key}=auto, or {key}=10") from None
    if count < low:
        raise ConfigError(f"{key}={value} is out of range", f"{key} is auto or at least {low}")
    return count


def _check_word(key: str, value: str, words: tuple[str, ...]) -> None:
    if value not in words:
        raise suggest.option_error(key, value, words)


def _check_pairs(run: Run) -> None:
    if run.seed > _SEED_MAX:
        raise ConfigError(f"seed={run.seed} is out of range", "seed is at most 2^63 - 1")
    for low, high in (("quads_min", "quads_max"), ("warmup_min", "warmup_max")):
        least, most = getattr(run.profiler, low), getattr(run.profiler, high)
        if least > most:
            raise ConfigError(f"profiler.{low}={least} is more than profiler.{high}={most}", "give both")
    if run.against is not None and (run.aa or run.impl == "reference"):
        other = "aa=true" if run.aa else "impl=reference"
        raise ConfigError(f"against needs the candidate, which {other} leaves out", f"drop {other}, or drop against")


def _check_cases(cases: object) -> None:
    if cases is None:
        return
    listed = cases if isinstance(cases, list) else [cases]
    if not listed:
        raise ConfigError("cases=[] selects nothing", "drop it to run all cases, or name some: 'cases=[0,2]'")
    for case in listed:
        if isinstance(case, bool) or not isinstance(case, (int, str)) or case == "":
            raise ConfigError(f"cases={case} is no index and no name", "an index, a name or a list: 'cases=[0,2]'")
        if isinstance(case, int) and case < 0:
            raise ConfigError(f"cases={case} is out of range", "cases are counted from 0")


def _switch(key: str, value: object) -> object:
    words: dict[object, object] = {"auto": "auto", "true": True, "false": False}
    if isinstance(value, bool):
        return value
    if value not in words:
        meant = suggest.did_you_mean(str(value), ["auto", "true", "false"])
        raise ConfigError(f"there is no {key}={value}{meant}", f"{key} is one of: auto, true, false")
    return words[value]


def located(value: str, base: Path) -> str:
    """A path of the request made absolute."""
    return os.path.abspath(base / os.path.expanduser(value))


def raw(cfg: DictConfig) -> dict[str, Any]:
    """A config as plain dictionaries, interpolations unresolved, missing values as `???`."""
    plain = OmegaConf.to_container(cfg, resolve=False)
    return {str(key): value for key, value in plain.items()} if isinstance(plain, dict) else {}


def raw_file(file: Path) -> dict[str, Any]:
    """A config file as plain dictionaries."""
    loaded = OmegaConf.load(file)
    return raw(loaded) if isinstance(loaded, DictConfig) else {}


def raw_text(text: str) -> dict[str, Any]:
    """The text of a config file as plain dictionaries."""
    parsed = OmegaConf.create(text)
    return raw(parsed) if isinstance(parsed, DictConfig) else {}


def with_defaults(primary: Path, files: Sequence[Path]) -> tuple[DictConfig, DictConfig, tuple[str, ...]]:
    """The packaged primary config with the choices of users' defaults files, their values, and the folders in `op`.

    Later files win. The values are a config of their own, `USER_VALUES`, which stands in the defaults list behind the
    options and before the mode. Raises ConfigError, naming the file, for a key or a value that the schema refuses.
    """
    merged, values = OmegaConf.load(primary), OmegaConf.create()
    assert isinstance(merged, DictConfig) and isinstance(values, DictConfig)
    places = {str(key): entry for entry in merged.defaults if OmegaConf.is_dict(entry) for key in entry}
    folders: list[str] = []
    for file in files:
        for key, value in _said(file).items():
            if key in places and not OmegaConf.is_dict(value):
                places[key][key] = _choice(key, value, file, folders)
            else:
                values.merge_with({key: value})
    merged.defaults.insert(list(merged.defaults).index(places["mode"]), USER_VALUES)
    return merged, values, tuple(folders)


def _said(file: Path) -> dict[str, Any]:
    """The keys of one defaults file, its paths made absolute."""
    said = OmegaConf.load(file)
    if not isinstance(said, DictConfig):
        raise ConfigError(f"{file} holds no keys", "write key: value, one a line")
    groups = {key for key in said if not OmegaConf.is_dict(said[key])} & {*GROUPS}
    plain = OmegaConf.masked_copy(said, [str(key) for key in said if key not in groups])
    if unknown := unknown_keys(plain):
        raise suggest.unknown_key(unknown[0], schema_keys(), f"{file}: ")
    try:
        OmegaConf.merge(OmegaConf.structured(Run), plain)
    except OmegaConfBaseException as error:
        found = suggest.translated(error, schema_keys())
        raise ConfigError(f"{file}: {found.message}", found.hint) from error
    for key in PATHS:
        value = OmegaConf.select(plain, key)
        if value is not None and (key != "python" or "/" in value):
            OmegaConf.update(plain, key, located(value, file.parents[1]))
    return {str(key): plain[key] if key in plain else said[key] for key in said}


def _choice(group: str, value: object, file: Path, folders: list[str]) -> object:
    """An option that a defaults file chooses; YAML's `off` means none, a path means a folder."""
    if OmegaConf.is_list(value) and group != "report":
        raise ConfigError(f"{file}: {group} takes one option", f"write {group}: name")
    if value is False:
        return "none"
    if group == "op" and isinstance(value, str) and ("/" in value or value.startswith((".", "~"))):
        folders.append(located(value, file.parents[1]))
        return folders[-1]
    return value if OmegaConf.is_list(value) else str(value)
