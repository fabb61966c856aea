"""Composes a request with Hydra and hands it to its mode. The only place besides config.py that knows Hydra."""

from __future__ import annotations

import logging
import os
import re
import secrets
import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import hydra
from hydra.core.config_store import ConfigStore
from hydra.core.hydra_config import HydraConfig
from hydra.core.plugins import Plugins
from hydra.errors import ConfigCompositionException
from hydra.plugins.search_path_plugin import SearchPathPlugin
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf, open_dict

from msprun import argv, config, origin, search, suggest
from msprun.contract import Mode
from msprun.errors import ConfigError, MsprunError
from msprun.model.invocation import Invocation
from msprun.model.plan import Source
from msprun.resources import data_folder

WORST_FIRST = (2, 130, 3, 4, 1, 0)
_PRIMARY = "msprun"
_MERGED = "msprun_merged"


class UserFolders(SearchPathPlugin):
    """Puts the users' conf folders before the packaged one."""

    def manipulate_search_path(self, search_path: Any) -> None:
        """Called by Hydra once a command."""
        for folder in reversed(search.user_folders(Path.cwd(), os.environ)):
            search_path.prepend("msprun-user", f"file://{folder.resolve()}")


class Jobs:
    """Hydra's task function for a sweep: what its jobs ended with."""

    def __init__(self, uid: str, as_json: bool) -> None:
        self.uid = uid
        self.as_json = as_json
        self.codes: list[int] = []

    def __call__(self, cfg: DictConfig) -> int:
        """Run one job; what goes wrong is said and recorded, so that the other jobs run."""
        node = _composed_hydra()
        number = int(node.job.num)
        try:
            code = _run_mode(cfg, node, f"{self.uid}-{number}", {})
        except Exception as error:
            code = self._failed(error, number)
        self.codes.append(code)
        if code == 130:
            raise KeyboardInterrupt  # the user wants the rest of the sweep to stop, too
        return code

    def _failed(self, error: Exception, number: int) -> int:
        if not isinstance(error, MsprunError):
            traceback.print_exception(error)
            print(f"msprun: job {number}: this is a bug in msprun", file=sys.stderr)
            return 1
        print(suggest.lines(error, number), file=sys.stderr)
        if self.as_json:
            print(suggest.as_json(error), flush=True)
        return 2


def run(words: Sequence[str]) -> int:
    """Run one command line; returns the exit code. Raises MsprunError when nothing could be measured."""
    with _one_line():
        uid = "".join(secrets.choice("abcdefghijkmnpqrstuvwxyz23456789") for _ in range(6))
        cwd = Path.cwd()
        given = argv.read(words, cwd)
        name = _register(given, cwd, uid)
        cfg = None if given.flags else _compose(name, given.overrides)
    if cfg is None or cfg.hydra.mode == RunMode.MULTIRUN:
        return _with_hydra(name, given, Jobs(uid, argv.wants_json(words)))
    with _one_line():
        node, files = _settle(cfg)
    return _run_mode(cfg, node, uid, files)


def worst(codes: Sequence[int]) -> int:
    """The exit code of several jobs: 2, 130, 3, 4, 1, 0."""
    return min(codes, key=WORST_FIRST.index)


@contextmanager
def _one_line() -> Iterator[None]:
    """Before the task starts every exception is a request that makes no sense."""
    try:
        yield
    except MsprunError:
        raise
    except Exception as error:
        raise suggest.translated(error, config.schema_keys(), _options()) from error


def _options() -> dict[str, list[str]]:
    """The options of every group, as far as they can be read."""
    try:
        return {group: list(found) for group, found in search.options(search.folders(Path.cwd(), os.environ)).items()}
    except (MsprunError, OSError):
        return {}


def _register(given: argv.Words, cwd: Path, uid: str) -> str:
    """Tell Hydra of schema, resolvers, user folders and folders of operators; returns the primary config's name."""
    store = ConfigStore.instance()
    store.store(group="schema", name="run", node=config.Run, provider="msprun")
    stamp = time.strftime("%Y%m%d-%H%M%S")
    OmegaConf.register_new_resolver("msprun.run_dir", lambda *, _root_: _run_dir(_root_, stamp, uid), replace=True)
    OmegaConf.register_new_resolver("msprun.sweep_dir", lambda *, _root_: _sweep_dir(_root_, stamp, uid), replace=True)
    search.user_folders(cwd, os.environ)
    Plugins.instance().register(UserFolders)
    name, folders = _PRIMARY, given.op_folders
    if files := search.defaults_files(cwd, os.environ):
        merged, values, more = config.with_defaults(data_folder("conf") / search.PRIMARY, files)
        store.store(name=config.USER_VALUES, node=values, provider="msprun")
        store.store(name=_MERGED, node=merged, provider="msprun")
        name, folders = _MERGED, (*folders, *more)
    for folder in folders:
        _register_operator(folder)
    return name


def _register_operator(folder: str) -> None:
    if not os.path.isdir(folder):
        what = "is a file; give its folder" if os.path.exists(folder) else "is not there"
        raise ConfigError(f"the operator folder {folder} {what}", "op=./folder for a folder, op=name for a known one")
    parent, name = os.path.split(folder)
    group = f"op{parent}".rstrip("/")
    ConfigStore.instance().store(name, {"dir": folder}, group=group, package="op", provider="msprun")


def _compose(name: str, overrides: Sequence[str]) -> DictConfig | None:
    """The composed config, or None where only a sweep can be meant."""
    conf = str(data_folder("conf"))
    with hydra.initialize_config_dir(version_base="1.3", config_dir=conf, job_name="msprun"):
        try:
            return hydra.compose(name, list(overrides), return_hydra_config=True)
        except ConfigCompositionException as error:
            # Several values for a key: an experiment may have said that this is a sweep; Hydra's main finds out.
            if "requires --multirun" in str(error) or "Ambiguous value" in str(error):
                return None
            raise


def _settle(cfg: DictConfig) -> tuple[DictConfig, dict[str, str]]:
    """What Hydra does before a job, without making its folder; takes `hydra` out of the config.

    Returns that node and the files for `.hydra/`.
    """
    with open_dict(cfg.hydra):
        cfg.hydra.runtime.output_dir = os.path.abspath(str(OmegaConf.select(cfg, "hydra.run.dir")))
    HydraConfig.instance().set_config(cfg)
    with open_dict(cfg):
        del cfg["hydra"]
    node = _composed_hydra()
    return node, {
        "config.yaml": OmegaConf.to_yaml(cfg),
        "hydra.yaml": OmegaConf.to_yaml(OmegaConf.create({"hydra": node})),
        "overrides.yaml": OmegaConf.to_yaml(node.overrides.task),
    }


def _composed_hydra() -> DictConfig:
    composed: Any = HydraConfig.instance().cfg
    node: DictConfig = composed.hydra
    return node


def _with_hydra(name: str, given: argv.Words, jobs: Jobs) -> int:
    """Sweeps and Hydra's own flags."""
    main = hydra.main(version_base="1.3", config_path=str(data_folder("conf")), config_name=name)
    with _one_line(), _hydras_world([*given.overrides, *given.flags]):
        try:
            main(jobs)()
        except KeyboardInterrupt:
            print("msprun: interrupted", file=sys.stderr)
            jobs.codes.append(130)
        except SystemExit as end:
            return end.code if isinstance(end.code, int) else 2
    return worst(jobs.codes or [0])


@contextmanager
def _hydras_world(words: Sequence[str]) -> Iterator[None]:
    """Hydra's main reads sys.argv, prints errors itself unless a variable is set, and `--info` sets up logging."""
    root, name = logging.getLogger(), "HYDRA_FULL_ERROR"
    before = sys.argv, os.environ.get(name), root.level, root.handlers[:]
    sys.argv, os.environ[name] = ["msprun", *words], "1"
    try:
        yield
    finally:
        sys.argv, full_error, level, root.handlers[:] = before
        root.setLevel(level)
        if full_error is None:
            del os.environ[name]
        else:
            os.environ[name] = full_error


def _run_mode(cfg: DictConfig, node: DictConfig, uid: str, files: dict[str, str]) -> int:
    """Check the request and start its mode. Raises MsprunError."""
    from msprun.mode import MODES

    with _one_line():
        request, invocation = _request(cfg, node, uid, files)
        mode = _mode_of(invocation, MODES)
    code: int = mode.run(request, invocation)
    return code


def _request(cfg: DictConfig, node: DictConfig, uid: str, files: dict[str, str]) -> tuple[config.Run, Invocation]:
    place = _origin(cfg, node)
    _check_choices(place.choices)
    whys = _choose(cfg, place.folders)
    request = config.checked(_filled(cfg, place))
    _check_out(Path(request.out))
    sources: dict[str, Source] = place.sources(config.raw(cfg))
    sources |= dict.fromkeys(whys, "auto")
    invocation = Invocation(
        overrides=place.overrides,
        choices=place.choices,
        given=place.given(),
        sources=sources,
        cwd=Path(node.runtime.cwd),
        folder=Path(node.runtime.output_dir),
        run_id=uid,
        hydra_files=files,
        whys=whys,
        is_sweep=not files,
    )
    return request, invocation


def _origin(cfg: DictConfig, node: DictConfig) -> origin.Origin:
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
        top = {"report": "pages"}.get(key, key.partition(".")[0])
        if top not in modes[name].KEYS and top not in ("mode", "experiment"):
            others = [f"mode={other}" for other in modes if top in modes[other].KEYS]
            use = f"use {' or '.join(others)} or drop it" if others else "drop it"
            whose = "" if _is_typed(key, invocation) else f" (set by experiment={invocation.choices['experiment']})"
            raise ConfigError(f"mode={name} does not honour {key}{whose}; {use}")
    return modes[name]


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


def _run_dir(root: DictConfig, stamp: str, uid: str) -> str:
    name = OmegaConf.select(root, "op.name") or Path(OmegaConf.select(root, "op.dir") or "operator").name
    tag = OmegaConf.select(root, "prof_tag")
    parts = [re.sub(r"[^\w.-]", "_", str(part))[:60] for part in (name, tag) if part]
    return os.path.join(_out(root), "-".join([stamp, *parts, uid]))


def _sweep_dir(root: DictConfig, stamp: str, uid: str) -> str:
    return os.path.join(_out(root), f"{stamp}-sweep-{uid}")


def _out(root: DictConfig) -> str:
    return _origin(root, root.hydra).located("out", str(OmegaConf.select(root, "out")))
