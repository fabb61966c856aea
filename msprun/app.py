"""Composes a request with Hydra and hands it to its mode, or to the launcher where it is a sweep."""

from __future__ import annotations

import logging
import os
import re
import secrets
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, NoReturn

import hydra
from hydra.core.config_store import ConfigStore
from hydra.core.global_hydra import GlobalHydra
from hydra.core.plugins import Plugins
from hydra.errors import ConfigCompositionException
from hydra.plugins.search_path_plugin import SearchPathPlugin
from hydra.types import RunMode
from msgspec import Struct
from omegaconf import DictConfig, OmegaConf

from msprun import argv, config, process, replay, request, schema, search, sweep
from msprun.errors import ConfigError
from msprun.launcher import Sweeping
from msprun.resources import data_folder

_PRIMARY = "msprun"
_MERGED = "msprun_merged"
_SWEEP = ("-m", "--multirun")


class UserFolders(SearchPathPlugin):
    """Puts the users' conf folders before the packaged one."""

    def manipulate_search_path(self, search_path: Any) -> None:
        """Called by Hydra once a command."""
        for folder in reversed(search.user_folders(Path.cwd(), os.environ)):
            search_path.prepend("msprun-user", f"file://{folder.resolve()}")


class Again(Struct, frozen=True, kw_only=True):
    """A request that was kept, and what is wanted of it."""

    wish: replay.Wish
    saved: replay.Saved

    @property
    def resumes(self) -> bool:
        """It goes on in its own folder."""
        return self.wish.key == "resume"

    def words(self) -> tuple[str, ...]:
        """The command line that says the same."""
        words = (*self.saved.words, *self.wish.more)
        kind, where = ("MULTIRUN", "sweep") if self.saved.books else ("RUN", "run")
        own: tuple[str, ...] = (f"hydra.mode={kind}",)
        if self.resumes:
            own += (f"hydra.{where}.dir={argv.quoted(str(self.wish.folder))}",)
        return (*words, *own)

    def compare(self, found: Sequence[str]) -> None:
        """Say how the request differs from the one that was kept. Raises ConfigError where it must not."""
        if self.resumes and found:
            raise replay.changed(found, self.wish.folder)
        for line in found:
            print(f"msprun: since then: {line}", file=sys.stderr)


def run(words: Sequence[str], spare: process.Spare | None = None) -> int:
    """Run one command line; returns the exit code. Raises MsprunError when nothing could be measured.

    `spare` is a process that a worker may take over.
    """
    with process.interruptible():
        uid = "".join(secrets.choice("abcdefghijkmnpqrstuvwxyz23456789") for _ in range(6))
        with request.one_line():
            wish = replay.wish(words, Path.cwd())
            again = Again(wish=wish, saved=replay.saved(wish)) if wish else None
        if again is None:
            return _run(words, uid, None, spare)
        with replay.inside(again.saved.cwd):
            return _run(again.words(), again.saved.run_id if again.resumes else uid, again, spare)


def _run(words: Sequence[str], uid: str, again: Again | None, spare: process.Spare | None) -> int:
    with request.one_line():
        cwd = Path.cwd()
        given = argv.read(words, cwd)
        name = _register(given, cwd, uid)
    if [flag for flag in given.flags if flag not in _SWEEP]:
        return _with_hydra(name, given)
    conf = str(data_folder("conf"))
    with hydra.initialize_config_dir(version_base="1.3", config_dir=conf, job_name="msprun"), _own_logging():
        with request.one_line():
            cfg = _compose(name, given)
        if cfg.hydra.mode == RunMode.MULTIRUN:
            return _sweep(cfg, uid, again)
        with request.one_line():
            node, files = request.settle(cfg, Path(str(OmegaConf.select(cfg, "hydra.run.dir"))))
    resumes = again is not None and again.resumes
    place = request.Place(run_id=uid, files=files, resume=resumes)
    if again is not None:
        again.compare(replay.differences(again.saved.configs[0], config.raw_text(files["config.yaml"])))
    asked = request.read(cfg, node, place)
    with sweep.owned(asked.invocation.folder) if resumes else nullcontext():
        return asked.mode.run(asked.request, asked.invocation, spare)


def _sweep(cfg: DictConfig, uid: str, again: Again | None) -> int:
    loader = GlobalHydra.instance().config_loader()
    sweeping = Sweeping(loader, cfg, uid, resume=again is not None and again.resumes)
    if again is not None:
        again.compare(sweeping.differences(again.saved))
    return sweeping.run()


def _compose(name: str, given: argv.Words) -> DictConfig:
    """The composed config of a single run, or the one from which a sweep's jobs are made."""
    if not given.is_sweep:
        try:
            return hydra.compose(name, list(given.overrides), return_hydra_config=True)
        except ConfigCompositionException as error:
            # Several values for a key: an experiment may have said that this is a sweep.
            if "requires --multirun" not in str(error) and "Ambiguous value" not in str(error):
                raise
            cfg = _composed(name, given.overrides, False)
            if cfg.hydra.mode != RunMode.MULTIRUN:
                raise
    return _composed(name, (*given.overrides, *(("hydra.mode=MULTIRUN",) if given.is_sweep else ())), True)


def _composed(name: str, overrides: Sequence[str], validate: bool) -> DictConfig:
    found = GlobalHydra.instance().hydra
    assert found is not None
    return found.compose_config(
        name,
        list(overrides),
        run_mode=RunMode.MULTIRUN,
        with_log_configuration=False,
        validate_sweep_overrides=validate,
    )


def _register(given: argv.Words, cwd: Path, uid: str) -> str:
    """Tell Hydra of schema, resolvers, user folders and folders of operators; returns the primary config's name."""
    store = ConfigStore.instance()
    store.store(group="schema", name="run", node=schema.Run, provider="msprun")
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
        request.register_operator(folder)
    return name


def _with_hydra(name: str, given: argv.Words) -> int:
    """Hydra's own flags, which show something and run nothing."""
    main = hydra.main(version_base="1.3", config_path=str(data_folder("conf")), config_name=name)

    def nothing(cfg: DictConfig) -> NoReturn:
        raise ConfigError(f"{' '.join(given.flags)} shows nothing by itself", "msprun --help lists the flags")

    with request.one_line(), _hydras_world([*given.overrides, *given.flags]):
        try:
            main(nothing)()
        except SystemExit as end:
            return end.code if isinstance(end.code, int) else 2
    return 0


@contextmanager
def _hydras_world(words: Sequence[str]) -> Iterator[None]:
    """Hydra's main reads sys.argv, prints errors itself unless a variable is set, and `--info` sets up logging."""
    name = "HYDRA_FULL_ERROR"
    before = sys.argv, os.environ.get(name)
    sys.argv, os.environ[name] = ["msprun", *words], "1"
    try:
        with _own_logging():
            yield
    finally:
        sys.argv, full_error = before
        if full_error is None:
            del os.environ[name]
        else:
            os.environ[name] = full_error


@contextmanager
def _own_logging() -> Iterator[None]:
    """What Hydra does to the root logger is undone."""
    root = logging.getLogger()
    level, handlers = root.level, root.handlers[:]
    try:
        yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)


def _run_dir(root: DictConfig, stamp: str, uid: str) -> str:
    name = OmegaConf.select(root, "op.name") or Path(OmegaConf.select(root, "op.dir") or "operator").name
    tag = OmegaConf.select(root, "prof_tag")
    parts = [re.sub(r"[^\w.-]", "_", str(part))[:60] for part in (name, tag) if part]
    return os.path.join(_out(root), "-".join([stamp, *parts, uid]))


def _sweep_dir(root: DictConfig, stamp: str, uid: str) -> str:
    return os.path.join(_out(root), f"{stamp}-sweep-{uid}")


def _out(root: DictConfig) -> str:
    return request.origin_of(root, root.hydra).located("out", str(OmegaConf.select(root, "out")))
