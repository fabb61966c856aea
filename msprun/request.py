"""From a composed config to a checked request and its mode."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from hydra.core.config_store import ConfigStore
from hydra.core.hydra_config import HydraConfig
from msgspec import Struct
from omegaconf import DictConfig, OmegaConf, open_dict

from msprun import config, origin, schema, search, suggest
from msprun.contract import Mode
from msprun.errors import ConfigError, MsprunError
from msprun.model.invocation import Invocation
from msprun.model.plan import Source

# Keys that no mode honours because they belong to the command as a whole.
_OF_A_SWEEP = ("fail_fast",)
_ALONE = ("resume", "rerun")


class Place(Struct, frozen=True, kw_only=True):
    """Where a request runs: its id, the files for `.hydra/`, whether it is one of a sweep's jobs or goes on."""

    run_id: str
    files: dict[str, str] = {}
    is_sweep: bool = False
    resume: bool = False


class Asked(Struct, frozen=True, kw_only=True):
    """A request that is fine as far as the config goes, and the mode that can serve it."""

    request: schema.Run
    invocation: Invocation
    mode: Mode


@contextmanager
def one_line() -> Iterator[None]:
    """Before the task starts every exception is a request that makes no sense."""
    try:
        yield
    except MsprunError:
        raise
    except Exception as error:
        raise suggest.translated(error, config.schema_keys(), _options()) from error


def hydra_node() -> DictConfig:
    """The `hydra` part of the config that Hydra works on."""
    composed: DictConfig = HydraConfig.instance().cfg  # type: ignore[assignment]
    node: DictConfig = composed.hydra
    return node


def register_operator(folder: str) -> None:
    """Make a folder an option of `op`. Raises ConfigError where it is none."""
    if not os.path.isdir(folder):
        what = "is a file; give its folder" if os.path.exists(folder) else "is not there"
        raise ConfigError(f"the operator folder {folder} {what}", "op=./folder for a folder, op=name for a known one")
    parent, name = os.path.split(folder)
    group = f"op{parent}".rstrip("/")
    ConfigStore.instance().store(name, {"dir": folder}, group=group, package="op", provider="msprun")


def settle(cfg: DictConfig, folder: Path) -> tuple[DictConfig, dict[str, str]]:
    """What Hydra does before a job, without making its folder; takes `hydra` out of the config.

    Returns that node and the files for `.hydra/`.
    """
    with open_dict(cfg.hydra):
        cfg.hydra.runtime.output_dir = os.path.abspath(folder)
    HydraConfig.instance().set_config(cfg)
    with open_dict(cfg):
        del cfg["hydra"]
    node = hydra_node()
    return node, {
        "config.yaml": OmegaConf.to_yaml(cfg),
        "hydra.yaml": OmegaConf.to_yaml(OmegaConf.create({"hydra": node})),
        "overrides.yaml": OmegaConf.to_yaml(node.overrides.task),
    }


def read(cfg: DictConfig, node: DictConfig, place: Place) -> Asked:
    """Check a composed config, `node` being what stood in its `hydra`. Raises MsprunError."""
    from msprun.mode import MODES

    with one_line():
        request, invocation = _request(cfg, node, place)
        return Asked(request=request, invocation=invocation, mode=_mode_of(invocation, MODES))


def origin_of(cfg: DictConfig, node: DictConfig) -> origin.Origin:
    """Where the values of a composed config came from."""
    overrides = tuple(node.overrides.task)
    chosen = node.runtime.choices
    choices = {group: str(chosen[group]) for group in config.GROUPS if chosen.get(group) is not None}
    # Hydra's choices leave out a group that got a list, which report and experiment may.
    choices["report"] = ",".join(() if OmegaConf.is_missing(cfg, "pages") else cfg.pages)
    listed = [word.partition("=")[2].strip("[]") for word in overrides if word.lstrip("+").startswith("experiment=")]
    if listed:
        choices["experiment"] = listed[-1]
    return origin.Origin(
        overrides=overrides,
        choices=choices,
        folders=tuple(Path(source.path) for source in node.runtime.config_sources if source.schema == "file"),
        cwd=Path(node.runtime.cwd),
        load=config.raw_file,
    )


def _request(cfg: DictConfig, node: DictConfig, place: Place) -> tuple[schema.Run, Invocation]:
    found = origin_of(cfg, node)
    _check_choices(found.choices)
    whys = _choose(cfg, found.folders)
    request = config.checked(_filled(cfg, found))
    _check_out(Path(request.out))
    sources: dict[str, Source] = found.sources(config.raw(cfg))
    sources |= dict.fromkeys(whys, "auto")
    invocation = Invocation(
        overrides=found.overrides,
        choices=found.choices,
        given=found.given(),
        sources=sources,
        cwd=Path(node.runtime.cwd),
        folder=Path(node.runtime.output_dir),
        run_id=place.run_id,
        hydra_files=place.files,
        whys=whys,
        is_sweep=place.is_sweep,
        resume=place.resume,
    )
    return request, invocation


def _filled(cfg: DictConfig, place: origin.Origin) -> DictConfig:
    """The config with absolute paths, a name for the operator, and no pages where none were asked for."""
    if OmegaConf.is_missing(cfg, "pages"):
        cfg.pages = {}
    for key in config.PATHS:
        if value := OmegaConf.select(cfg, key):
            OmegaConf.update(cfg, key, place.located(key, value))
    if OmegaConf.select(cfg, "op.name") is None:
        cfg.op.name = Path(OmegaConf.select(cfg, "op.dir") or "").name
    return cfg


def _choose(cfg: DictConfig, folders: Sequence[Path]) -> dict[str, str]:
    """Replace `auto` by the device of this machine and its profiler; returns why, by key."""
    whys = {}
    if cfg.device.kind == "auto":
        from msprun import device

        kind, whys["device.kind"] = device.detect()
        config.with_option(cfg, "device", kind, folders)
    if cfg.profiler.kind == "auto":
        from msprun import profiler

        name, whys["profiler.kind"] = profiler.default_for(cfg.device.kind)
        config.with_option(cfg, "profiler", name, folders)
    return whys


def _mode_of(invocation: Invocation, modes: dict[str, Mode]) -> Mode:
    """The module of the chosen mode. Raises ConfigError for a mode that is none and a key that it does not honour."""
    name = invocation.choices["mode"]
    if name not in modes:
        raise suggest.option_error("mode", name, tuple(modes))
    for key in sorted(invocation.given):
        _check_whole(key, invocation)
        top = {"report": "pages"}.get(key, key.partition(".")[0])
        if top not in modes[name].KEYS and top not in ("mode", "experiment", *_OF_A_SWEEP):
            others = [f"mode={other}" for other in modes if top in modes[other].KEYS]
            use = f"use {' or '.join(others)} or drop it" if others else "drop it"
            whose = "" if _is_typed(key, invocation) else f" (set by experiment={invocation.choices['experiment']})"
            raise ConfigError(f"mode={name} does not honour {key}{whose}; {use}")
    return modes[name]


def _check_whole(key: str, invocation: Invocation) -> None:
    """Keys that are about the command and not about a run. Raises ConfigError where they do not apply."""
    if key in _ALONE:
        raise ConfigError(f"{key} is for the command line", f"alone: msprun {key}=DIR")
    if key in _OF_A_SWEEP and not invocation.is_sweep:
        raise ConfigError(f"{key} is for sweeps, and this is a single run", f"drop {key}, or sweep: msprun -m ...")


def _is_typed(key: str, invocation: Invocation) -> bool:
    return any(word.lstrip("+~").startswith((f"{key}=", f"{key}@")) for word in invocation.overrides)


def _check_choices(choices: dict[str, str]) -> None:
    """Each group but report takes one option; Hydra would merge several, silently."""
    for group in config.GROUPS:
        if group not in choices:
            raise ConfigError(f"{group} needs one option", f"{group}=name; to run several: msprun -m {group}=a,b")


def _check_out(out: Path) -> None:
    there = next(folder for folder in (out, *out.parents) if folder.exists())
    if not there.is_dir():
        raise ConfigError(f"out={out}: {there} is a file", "name a folder: out=...")
    if not os.access(there, os.W_OK | os.X_OK):
        raise ConfigError(f"out={out}: no right to write in {there}", "name another folder: out=...")


def _options() -> dict[str, list[str]]:
    """The options of every group, as far as they can be read."""
    try:
        return {group: list(found) for group, found in search.options(search.folders(Path.cwd(), os.environ)).items()}
    except (MsprunError, OSError):
        return {}
