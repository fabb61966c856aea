"""Where configs lie: MSPRUN_CONF_PATH, the nearest .msprun/, the packaged conf/; and the two defaults files."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from msprun.errors import ConfigError
from msprun.resources import data_folder

DEFAULTS = "defaults.yaml"
PRIMARY = "msprun.yaml"
CHIPS = "soc"
CODES = "acl"
_NO_GROUPS = ("hydra", CHIPS, CODES)
_KEY = re.compile(r"( *)([a-z_]\w*):(?: +(.+))?")
_IN_BRACES = re.compile(r"(\w+): *(\{[^}]*\}|[^,]+)")


def workspace(cwd: Path) -> Path | None:
    """The nearest `.msprun/` at or above `cwd`. Raises ConfigError where it belongs to somebody else."""
    for folder in (cwd, *cwd.parents):
        found = folder / ".msprun"
        if found.is_dir():
            owner = found.stat().st_uid
            if owner not in (0, os.getuid()):
                raise ConfigError(
                    f"{found} belongs to user {owner}; msprun reads only your own and root's",
                    f"if you trust it: MSPRUN_CONF_PATH={found}, and run from elsewhere",
                )
            return found
    return None


def user_folders(cwd: Path, env: Mapping[str, str]) -> tuple[Path, ...]:
    """The user's conf folders, the first wins. Raises ConfigError for one that is not there or hides our defaults."""
    named = [entry for entry in env.get("MSPRUN_CONF_PATH", "").split(os.pathsep) if entry]
    folders = [cwd / os.path.expanduser(entry) for entry in named]
    for entry, folder in zip(named, folders, strict=True):
        if not folder.is_dir():
            raise ConfigError(f"MSPRUN_CONF_PATH names {entry}, which is no folder", "correct the variable or unset it")
    own = workspace(cwd)
    folders += [own] if own else []
    for folder in folders:
        if (folder / PRIMARY).exists():
            raise ConfigError(
                f"{folder / PRIMARY} would hide all of msprun's defaults",
                f"call it {DEFAULTS} and keep only the keys that differ",
            )
    return tuple(folders)


def folders(cwd: Path, env: Mapping[str, str]) -> tuple[Path, ...]:
    """All conf folders, the user's before the packaged one."""
    return (*user_folders(cwd, env), data_folder("conf"))


def defaults_files(cwd: Path, env: Mapping[str, str]) -> tuple[Path, ...]:
    """The defaults files that exist, the stronger one last: the home's, then the workspace's."""
    home = Path(env.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config"), "msprun", DEFAULTS)
    own = workspace(cwd)
    return tuple(file for file in (home, *([own / DEFAULTS] if own else [])) if file.is_file())


def find(folders: Sequence[Path], group: str, option: str) -> Path | None:
    """The file of an option, from the first folder that has one."""
    return next((file for folder in folders if (file := folder / group / f"{option}.yaml").is_file()), None)


def options(folders: Sequence[Path]) -> dict[str, dict[str, Path]]:
    """group -> option -> file, for every group that a conf folder has."""
    found: dict[str, dict[str, Path]] = {}
    for folder in reversed(folders):
        for group in sorted(path for path in folder.iterdir() if path.is_dir() and path.name not in _NO_GROUPS):
            files = {file.stem: file for file in sorted(group.glob("*.yaml"))}
            if files:
                found[group.name] = dict(sorted({**found.get(group.name, {}), **files}.items()))
    return found


def description(file: Path) -> str:
    """The first comment of an option's file that is no package line."""
    for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
        if not line.startswith("#"):
            return ""
        text = line.lstrip("# ").strip()
        if not text.startswith("@package"):
            return text
    return ""


def plain_values(file: Path) -> dict[str, str]:
    """The top-level scalars of a YAML file as text, without a YAML parser: for --help only."""
    values = {}
    for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
        key, colon, value = line.partition(":")
        value = value.partition(" #")[0].strip()
        if colon and value and key.isidentifier() and not value.startswith("{"):
            values[key] = value
    return values


def nested_values(file: Path) -> dict[str, str]:
    """dotted key -> text of every value in a YAML file of ours, without a YAML parser: for completion only."""
    values: dict[str, str] = {}
    above: list[tuple[int, str]] = []
    for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
        found = _KEY.fullmatch(line.partition(" #")[0].rstrip())
        if not found:
            continue
        indent, name, value = len(found[1]), found[2], found[3] or ""
        above = [(depth, path) for depth, path in above if depth < indent]
        path = f"{above[-1][1]}.{name}" if above else name
        if not value:
            above.append((indent, path))
        elif value.startswith("{") and value != "{}":
            values |= {f"{path}.{inner}": text for inner, text in _IN_BRACES.findall(value[1:-1])}
        else:
            values[path] = value
    return values


def chosen(file: Path) -> dict[str, str]:
    """group -> default option, from the defaults list of a primary config: for --help only."""
    choices = {}
    for line in file.read_text(encoding="utf-8").splitlines():
        if line.startswith("  - ") and ":" in line:
            group, _, option = line[4:].partition(":")
            if group.isidentifier():
                choices[group] = option.strip()
    return choices
