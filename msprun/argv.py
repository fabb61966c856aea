"""The words of the command line, put in the form that Hydra reads."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from msprun.errors import ConfigError
from msprun.suggest import did_you_mean

_PLAIN_FLAGS = ("-m", "--multirun", "--resolve", "--hydra-help", "-sc", "--shell-completion")
_VALUE_FLAGS = ("-c", "--cfg", "-p", "--package")
_FOLDER_FLAGS = ("-cd", "--config-dir")
_INFO_FLAGS = ("-i", "--info")
_FLAGS = (*_PLAIN_FLAGS, *_VALUE_FLAGS, *_FOLDER_FLAGS, *_INFO_FLAGS)
_GROUP = re.compile(r"(\+{0,2})(mode|op|device|profiler|check|report|experiment)=(.*)", re.DOTALL)
# A path with letters that Hydra's grammar wants quoted, not quoted and no list.
_PATH = re.compile(
    r"(\+{0,2}(?:out|python|against|op\.dir|op\.cases_file|op\.\w+\.file))=(?=[^,]*[~\s()={}\\])([^'\"$,]+)"
)
_NO_STRING = re.compile(r"null|true|false|[-+\d.e]+", re.IGNORECASE)
_SWITCHED_OFF = re.compile(r"(off|false|no)", re.IGNORECASE)
_CALL = re.compile(r"[a-z_]+\(.*\)", re.DOTALL)


class Words(NamedTuple):
    """Overrides and flags apart; `op_folders` are the absolute folders that stand in `op=`."""

    overrides: tuple[str, ...]
    flags: tuple[str, ...]
    op_folders: tuple[str, ...]

    @property
    def is_sweep(self) -> bool:
        """The user asked for a sweep in so many words."""
        return "-m" in self.flags or "--multirun" in self.flags


def read(argv: Sequence[str], cwd: Path) -> Words:
    """Sort and rewrite the arguments; flags may stand anywhere. Raises ConfigError for a word that is neither."""
    words, flags = _sorted(argv)
    folders: list[str] = []
    overrides = [_rewritten(word, cwd, folders) for word in words]
    return Words(tuple(overrides), tuple(flags), tuple(dict.fromkeys(folders)))


def wants_json(argv: Sequence[str]) -> bool:
    """Whether stdout belongs to a program; the last `print=` counts."""
    said = [word for word in argv if word.lstrip("+").startswith("print=")]
    return bool(said) and said[-1].endswith("=json")


def quoted(text: str) -> str:
    """A quoted value in Hydra's grammar, where backslashes only count before a quote."""
    escaped = re.sub(r"(\\*)('|$)", lambda m: m[1] * 2 + ("\\'" if m[2] else ""), text)
    return f"'{escaped}'"


def unquoted(value: str) -> str:
    """The text of a quoted value of Hydra's grammar; any other value as it stands."""
    if len(value) < 2 or value[0] != value[-1] or value[0] not in "'\"":
        return value
    quote = value[0]
    return re.sub(rf"(\\*)(\\{quote}|$)", lambda m: m[1][: len(m[1]) // 2] + (quote if m[2] else ""), value[1:-1])


def _sorted(argv: Sequence[str]) -> tuple[list[str], list[str]]:
    """Overrides and flags. Hydra's argparse only takes overrides that stand in one block, so flags go behind them."""
    overrides: list[str] = []
    flags: list[str] = []
    rest = list(argv)
    while rest:
        word = rest.pop(0)
        name, has_value, value = word.partition("=")
        if not word.startswith("-"):
            overrides.append(_checked(word))
        elif name in _FOLDER_FLAGS:
            overrides.append(_search_path(value if has_value else _next(word, rest)))
        elif name in _VALUE_FLAGS:
            flags += [word] if has_value else [word, _next(word, rest)]
        elif name in _INFO_FLAGS and rest and not has_value and rest[0].replace("-", "").isalpha():
            flags += [word, rest.pop(0)]
        elif name in _FLAGS:
            flags.append(word)
        else:
            raise _unknown_flag(word)
    return overrides, flags


def _next(flag: str, rest: list[str]) -> str:
    if not rest:
        raise ConfigError(f"{flag} needs a value", "msprun --help lists the flags")
    return rest.pop(0)


def _search_path(folder: str) -> str:
    """`--config-dir` as an override, which has the same effect and also works without Hydra's main."""
    if not os.path.isdir(folder):
        raise ConfigError(f"--config-dir {folder} is no folder", "name a folder of configs, with op/ in it")
    return f"hydra.searchpath=[{quoted('file://' + os.path.abspath(folder))}]"


def _checked(word: str) -> str:
    if word.startswith("="):
        raise ConfigError(f"cannot read {word!r}: no key before the =", "write key=value; see msprun --help")
    if "=" not in word and not word.startswith("~"):
        raise ConfigError(f"cannot read {word!r}: no = in it", "write key=value; see msprun --help", word)
    return word


def _unknown_flag(word: str) -> ConfigError:
    if word == "--":
        return ConfigError("no mode takes a program after --", "drop -- and what follows it")
    known = ("--help", "--version", *_FLAGS)
    key = word.lstrip("-").partition("=")
    hint = f"keys have no dashes: {key[0]}={key[2]}" if key[1] else "msprun --help lists flags and keys"
    return ConfigError(f"there is no flag {word}{did_you_mean(word, known)}", hint)


def _rewritten(word: str, cwd: Path, folders: list[str]) -> str:
    match = _GROUP.fullmatch(word)
    if not match:
        path = _PATH.fullmatch(word)
        return f"{path[1]}={quoted(path[2])}" if path else word
    plus, group, value = match.groups()
    if group == "experiment":
        plus = "+"
    if group == "op":
        value = _operators(value, cwd, folders)
    if group == "check":
        value = ",".join("none" if _SWITCHED_OFF.fullmatch(option) else option for option in value.split(","))
    # Hydra takes an option called 3 or null for a number or nothing, and then speaks of neither group nor word.
    return f"{plus}{group}={quoted(value) if _NO_STRING.fullmatch(value) else value}"


def _operators(value: str, cwd: Path, folders: list[str]) -> str:
    """The value of `op=` with every folder made absolute and quoted, and noted in `folders`."""
    if value.startswith("["):
        names = ",".join(part.strip() for part in value.strip("[]").split(","))
        hint = f"to run each of them: msprun -m op={names}"
        raise ConfigError(f"op={value} names several operators", hint, f"op={value}")
    whole = cwd / os.path.expanduser(value)
    parts = [value] if "," in value and _is_path(value) and whole.is_dir() else list(_parts(value))
    return ",".join(_operator(part, cwd, folders) for part in parts)


def _operator(word: str, cwd: Path, folders: list[str]) -> str:
    is_quoted = len(word) > 1 and word[0] == word[-1] and word[0] in "'\""
    text = word[1:-1].replace("\\" + word[0], word[0]) if is_quoted else word
    if _CALL.fullmatch(word) or not (_is_path(text) or (is_quoted and (cwd / text).is_dir())):
        return word
    folder = os.path.abspath(cwd / os.path.expanduser(text))
    folders.append(folder)
    return quoted(folder)


def _is_path(text: str) -> bool:
    return "/" in text or "\\" in text or text.startswith((".", "~"))


def _parts(value: str) -> Iterator[str]:
    """Split at the commas outside quotes and parentheses."""
    start = depth = 0
    quote = ""
    for index, letter in enumerate(value):
        if quote:
            quote = "" if letter == quote and value[index - 1] != "\\" else quote
        elif letter in "'\"":
            quote = letter
        elif letter in "([{":
            depth += 1
        elif letter in ")]}":
            depth -= 1
        elif letter == "," and depth == 0:
            yield value[start:index]
            start = index + 1
    yield value[start:]
