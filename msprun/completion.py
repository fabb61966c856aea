"""What may follow on a command line, for bash, zsh and fish; standard library only, since it must be there at once."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from msprun import search
from msprun.errors import ConfigError, MsprunError
from msprun.keywords import KEYWORDS, SWITCHES
from msprun.resources import data_folder

FLAGS = ("-sc", "--shell-completion")
SHELLS = ("bash", "zsh", "fish")
_OFFERED = {
    "-m": "a sweep: every combination of the values",
    "--multirun": "the same as -m",
    "--help": "groups, options and keys on one screen",
    "--version": "msprun's version",
    "--cfg": "show the config and do not run",
    "--info": "show where the config comes from",
    "--resolve": "with --cfg: interpolations resolved",
    "--package": "with --cfg: a part of the config",
    "--config-dir": "one more folder of configs",
    "--hydra-help": "Hydra's own help",
    "--shell-completion": "print the script that completes in a shell",
}
_FLAG_VALUES: dict[str, tuple[str, ...]] = {
    "--cfg": ("job", "hydra", "all"),
    "-c": ("job", "hydra", "all"),
    "--info": ("all", "config", "defaults", "defaults-tree", "plugins", "searchpath"),
    "-i": ("all", "config", "defaults", "defaults-tree", "plugins", "searchpath"),
    "--shell-completion": tuple(f"{order}={shell}" for order in ("install", "uninstall") for shell in SHELLS),
    "-sc": tuple(f"{order}={shell}" for order in ("install", "uninstall") for shell in SHELLS),
}
_FOLDER_FLAGS = ("--config-dir", "-cd")
_FOLDER_KEYS = ("out", "op.dir", "against", "resume", "rerun")
_FILE_KEYS = ("python", "op.cases_file")
# Groups whose files set keys of the whole config or of a node that has another name.
_GLOBAL_GROUPS = ("mode", "experiment", "report")
_UNSAFE = re.compile(r"([^\w@%+=:,./~\[\]-])")
_UNSAFE_IN_DOUBLE_QUOTES = re.compile(r'([\\"$`!])')
_OPEN = ("=", ".", "/", ",")


class Found(NamedTuple):
    """A whole word that may stand here, unquoted, and what it is in a few words."""

    word: str
    about: str = ""


class Shelf(NamedTuple):
    """What there is to choose from: group -> option -> file, the user's options first, and key -> default."""

    options: dict[str, dict[str, Path]]
    keys: dict[str, str]


def answer(words: Sequence[str], env: Mapping[str, str]) -> bytes:
    """What `-sc install=SHELL`, `uninstall=` and `query=` print. Raises ConfigError for another order.

    A query takes the line from COMP_LINE, up to COMP_POINT (characters), and never fails. Each line of the answer is a
    word; for zsh and fish unquoted, with a tab and its description; for bash as readline puts it in, where COMP_WORD
    (bash's own idea of the word, as far as it will be replaced) is set, else whole and unquoted.
    """
    order, _, shell = next((word for word in words if "=" in word and not word.startswith("-")), "").partition("=")
    if order not in ("install", "uninstall", "query") or shell not in SHELLS:
        raise ConfigError(
            "-sc takes install=SHELL or uninstall=SHELL; SHELL is bash, zsh or fish",
            'for this shell: eval "$(msprun -sc install=bash)"',
        )
    if order != "query":
        script = (data_folder("templates") / f"completion.{shell}").read_text(encoding="utf-8")
        install, uninstall = script.split("# uninstall\n")
        return (install if order == "install" else uninstall).encode()
    try:
        return os.fsencode("".join(f"{line}\n" for line in _query(shell, env)))
    except Exception:  # a complaint would land in the middle of what the user is typing
        return b""


def candidates(words: Sequence[str], word: str, cwd: Path, env: Mapping[str, str]) -> list[Found]:
    """The words that may stand where `word` was begun, behind the complete `words`."""
    if "--" in words:
        return []
    last = words[-1] if words else ""
    if last in _FOLDER_FLAGS:
        return [found for found in _paths(word, cwd, with_files=False) if found.word.startswith(word)]
    if last in _FLAG_VALUES:
        return [Found(value) for value in _FLAG_VALUES[last] if value.startswith(word)]
    if word.startswith("-"):
        return [Found(flag, about) for flag, about in _OFFERED.items() if flag.startswith(word)]
    shelf = _shelf(cwd, env)
    return _values(word, shelf, cwd) if "=" in word else _keys(words, word, shelf)


def honoured(mode: str) -> frozenset[str] | None:
    """The keys that a mode honours, read from its source: to import it takes longer than a completion may."""
    file = Path(__file__).parent / "mode" / f"{mode}.py"
    if not mode.isidentifier() or not file.is_file():
        return None
    said = re.search(r"^KEYS = frozenset\(\{(.*?)\}\)", file.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    return frozenset(re.findall(r'"(\w+)"', said[1])) if said else None


def _query(shell: str, env: Mapping[str, str]) -> Iterator[str]:
    line = env.get("COMP_LINE", "")
    point = env.get("COMP_POINT", "")
    (*before, (raw, word)), _ = _split(line[: int(point)] if point.isdigit() else line)
    words = [meant for _, meant in before[1:]]
    found = [each for each in candidates(words, word, Path.cwd(), env) if "\n" not in each.word]
    if shell != "bash":
        yield from (f"{each.word}\t{each.about}" for each in found)
    elif "COMP_WORD" not in env:
        yield from (each.word for each in found)
    else:
        is_sweep = not {"-m", "--multirun"}.isdisjoint(words)
        (*_, (_, kept)), quote = _split(raw.removesuffix(env["COMP_WORD"]))
        for each in found:
            if each.word.startswith(kept):
                ends = not (quote or is_sweep or "[" in each.word or each.word.endswith(_OPEN))
                yield _quoted(each.word[len(kept) :], quote) + " " * ends


def _split(line: str) -> tuple[list[tuple[str, str]], str]:
    """The words of an unfinished line, each as typed and as meant, the last one perhaps empty; and the open quote."""
    found: list[tuple[str, str]] = []
    raw = meant = quote = ""
    letters = iter(line)
    for letter in letters:
        if letter.isspace() and not quote:
            found += [(raw, meant)] if raw else []
            raw = meant = ""
            continue
        raw += letter
        if letter == quote:
            quote = ""
        elif not quote and letter in "'\"":
            quote = letter
        elif letter == "\\" and quote != "'":
            following = next(letters, "")
            raw += following
            meant += following if not quote or following in '\\"$`' else letter + following
        else:
            meant += letter
    return [*found, (raw, meant)], quote


def _quoted(text: str, quote: str) -> str:
    """Text as bash reads it, within an open quote or outside."""
    if quote == "'":
        return text.replace("'", "'\\''")
    return (_UNSAFE_IN_DOUBLE_QUOTES if quote else _UNSAFE).sub(r"\\\1", text)


def _shelf(cwd: Path, env: Mapping[str, str]) -> Shelf:
    conf = data_folder("conf")
    users: tuple[Path, ...] = ()
    with suppress(MsprunError):
        users = search.user_folders(cwd, env)
    groups = {*search.chosen(conf / search.PRIMARY), "experiment"}
    options = {
        group: dict(sorted(files.items(), key=lambda item: conf in item[1].parents))
        for group, files in search.options((*users, conf)).items()
        if group in groups
    }
    keys = {key: value for key, value in search.nested_values(conf / search.PRIMARY).items() if "hydra." not in key}
    for group in sorted(groups - {*_GLOBAL_GROUPS}):
        for file in sorted((conf / group).glob("*.yaml")):
            # An option's value is no default of the key: that depends on the option.
            keys = {f"{group}.{key}": "" for key in search.nested_values(file) if key != "kind"} | keys
    return Shelf(options, keys)


def _keys(words: Sequence[str], word: str, shelf: Shelf) -> list[Found]:
    """Keys with their `=`, one dotted level at a time; those that stand on the line already are left out."""
    if word.startswith("+"):
        return [Found("+experiment=", "words kept in a file")] if "+experiment=".startswith(word) else []
    modes = [each.partition("=")[2] for each in words if each.startswith("mode=")]
    known = honoured(modes[-1]) if modes else None
    given = {each.partition("=")[0].lstrip("+") for each in words}
    level = word.rpartition(".")[0] + "." if "." in word else ""
    found: dict[str, str] = {}
    for key, about in _all_keys(shelf):
        top = {"report": "pages"}.get(key, key.partition(".")[0])
        if known is not None and top not in known and top not in ("mode", "experiment"):
            continue
        name, dot, _ = key.removeprefix(level).partition(".")
        whole = f"{level}{name}{dot or '='}"
        if key.startswith(level) and whole.startswith(word) and whole.rstrip("=") not in given:
            found.setdefault(whole, "" if dot else about)
    return [Found(whole, about) for whole, about in found.items()]


def _all_keys(shelf: Shelf) -> Iterator[tuple[str, str]]:
    yield from ((group, f"one of {len(files)}") for group, files in shelf.options.items())
    yield from ((key, f"default {value}" if value else "") for key, value in shelf.keys.items())


def _values(word: str, shelf: Shelf, cwd: Path) -> list[Found]:
    """Values of the key in `word`, behind the last comma or bracket of what stands there."""
    key, _, value = word.partition("=")
    name = key.lstrip("+")
    head = re.match(r".*[,\[]|", value, re.DOTALL)
    start = head[0] if head else ""
    begun = value[len(start) :]
    found = [Found(option, search.description(file)) for option, file in shelf.options.get(name, {}).items()]
    found += [Found(each) for each in _keywords(name, shelf.keys.get(name, ""))]
    if (name == "op" and ("/" in begun or begun.startswith((".", "~")))) or name in (*_FOLDER_KEYS, *_FILE_KEYS):
        found += _paths(begun, cwd, with_files=name in _FILE_KEYS)
    taken = re.split(r"[,\[]", start)
    return [
        Found(f"{key}={start}{each}", about)
        for each, about in found
        if each.startswith(begun) and each not in taken and (each != begun or not each.endswith("/"))
    ]


def _keywords(name: str, default: str) -> tuple[str, ...]:
    if known := KEYWORDS.get(name) or SWITCHES.get(name):
        return known
    if default in ("true", "false"):
        return ("true", "false")
    return ("auto",) if default == "auto" else ()


def _paths(begun: str, cwd: Path, *, with_files: bool) -> list[Found]:
    """Folders, with a slash unless they hold an operator, and files where they may stand; hidden ones on request."""
    place, _, start = begun.rpartition("/")
    prefix = begun[: len(begun) - len(start)]
    if begun in (".", "..", "~"):
        return [Found(f"{begun}/")]
    found = []
    with suppress(OSError):
        for entry in sorted(os.scandir(cwd / os.path.expanduser(prefix)), key=lambda entry: entry.name):
            if not entry.name.startswith(start) or (entry.name.startswith(".") and not start.startswith(".")):
                continue
            if entry.is_dir():
                is_operator = not with_files and os.path.exists(os.path.join(entry.path, "model.py"))
                found.append(
                    Found(prefix + entry.name + ("" if is_operator else "/"), "operator" if is_operator else "")
                )
            elif with_files:
                found.append(Found(prefix + entry.name))
    return found
