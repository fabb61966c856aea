"""What was probably meant, and other programs' errors in one line."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from msprun.errors import ConfigError, MsprunError

_KINDS = {
    "Integer": "a whole number",
    "Float": "a number",
    "bool": "true or false",
    "Union[int, str]": "auto or a whole number",
}
_LISTS = ("cases", "report")


def closest(word: str, known: Iterable[str]) -> str | None:
    """The known word that is most like `word`, or None."""
    lower = {name.lower(): name for name in known}
    found = difflib.get_close_matches(word.lower(), lower, 1, 0.6 if len(word) > 3 else 0.7)
    return lower[found[0]] if found else None


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`; did you mean X?`, or nothing."""
    found = closest(word, known)
    return f"; did you mean {found}?" if found else ""


def unknown_key(key: str, keys: Sequence[str], where: str = "") -> ConfigError:
    """The error for a key that the schema has not; `where` names the file that holds it."""
    last = key.rpartition(".")[2]
    same_end = [known for known in keys if known.rpartition(".")[2] == last]
    meant = f"; did you mean {same_end[0]}?" if len(same_end) == 1 else did_you_mean(key, keys)
    return ConfigError(f"{where}there is no key {key}{meant}", "msprun --help lists the keys")


def option_error(group: str, option: str, options: Sequence[str]) -> ConfigError:
    """The error for an option that a group has not."""
    message = f"there is no {group}={option}{did_you_mean(option, options)}"
    hint = f"{group} is one of: {', '.join(options)}" if options else "msprun --help lists the options"
    if group == "op":
        hint += "; or a folder, with a slash: op=./folder"
    return ConfigError(message, hint)


def several(word: str) -> ConfigError:
    """The error for a key that got several values outside a sweep."""
    key, _, value = word.lstrip("+").partition("=")
    if key in _LISTS:
        return ConfigError(f"{word} is no list", f"write {key}=[{value}], in quotes", word)
    return ConfigError(f"{word} has several values", "to run each of them: msprun -m ...", word)


def translated(
    error: BaseException, keys: Sequence[str], options: Mapping[str, Sequence[str]] = MappingProxyType({})
) -> ConfigError:
    """An error of Hydra, omegaconf, yaml or the system as ours: one line, one hint.

    `keys` are the schema's dotted keys, `options` those of every group.
    """
    if isinstance(error, MsprunError):
        return ConfigError(error.message, error.hint, error.word)
    mark = getattr(error, "problem_mark", None)
    if mark is not None:
        problem = getattr(error, "problem", None) or "not YAML"
        return ConfigError(f"{mark.name}, line {mark.line + 1}: {problem}", "correct the file and run again")
    if override := getattr(error, "override", None):
        return ConfigError(f"cannot read {override}", "quote words with brackets, blanks or quotes in them", override)
    text = "\n".join(str(part) for part in (error, error.__cause__) if part is not None)
    return _known(text, keys, options) or ConfigError(_first_lines(error), "msprun --help lists keys and options")


def lines(error: MsprunError, job: int | None = None) -> str:
    """What a person reads on stderr."""
    where = "" if job is None else f"job {job}: "
    hint = f"\n  {error.hint}" if error.hint else ""
    return f"msprun: {where}{error.message}{hint}"


def as_json(error: MsprunError) -> str:
    """What a program reads on stdout under print=json."""
    return json.dumps({"exit": 2, "error": error.message, "next": error.hint}, ensure_ascii=False)


def _known(text: str, keys: Sequence[str], options: Mapping[str, Sequence[str]]) -> ConfigError | None:
    """The errors that users see most, by their texts in Hydra 1.3 and omegaconf 2.3."""
    if found := re.search(r"Ambiguous value for argument '(.*)'|Sweep parameters '(.*)' requires", text):
        return several(found[1] or found[2])
    if found := re.search(r"Could not (?:find|load) '([^/']+)/(.*?)'", text):
        listed = re.search(r"Available options in '.*?':\n((?:\t.*\n?)*)", text)
        known = [line.strip() for line in listed[1].splitlines()] if listed else options.get(found[1], ())
        return option_error(found[1], found[2], known)
    if found := re.search(r"An item is already at '(.*?)'", text):
        return ConfigError(f"{found[1]} has a value already", f"without the plus: {found[1]}=...")
    if found := re.search(r"Multiple values for ([\w/]+)\.", text):
        return ConfigError(f"{found[1]} is chosen already", f"without the plus: {found[1]}=...")
    if found := re.search(r"Interpolation key '(.*?)' not found|Unsupported interpolation type (\w+)", text):
        name = f"${{{found[1] or found[2] + ':'}"
        place = re.search(r"full_key: (?!hydra\.)(\S+)", text)
        message = f"{name}...}} stands for nothing that msprun knows" if found[2] else f"{name}}} stands for no key"
        hint = f"for the text itself write \\{name}{'...' if found[2] else ''}}}"
        return ConfigError(f"{place[1]}: {message}" if place else message, hint, name)
    return _of_a_key(text, keys)


def _of_a_key(text: str, keys: Sequence[str]) -> ConfigError | None:
    full_key = re.search(r"full_key: (\S+)", text)
    if not full_key:
        return None
    key = full_key[1]
    file = re.search(r"^In '(.*?)': ", text)
    where = f"{file[1]}.yaml: " if file else ""
    if "is not in struct" in text:
        return ConfigError(f"{where}there is no key {key} yet", f"to add it: +{key}=...")
    if re.search(r"Key '.*' not in '", text):
        return unknown_key(key, keys, where)
    if "is not Optional" in text:
        return ConfigError(f"{where}{key} cannot be null", "msprun --help shows its default")
    if found := re.search(r"Value '(.*?)' .*(?:converted to|type hint|a valid) '?(\w+(?:\[.*?\])?)", text):
        kind = _KINDS.get(found[2], found[2])
        return ConfigError(f"{where}{key}={found[1]} is not {kind}", "msprun --help shows its default")
    return None


def _first_lines(error: BaseException) -> str:
    parts = [str(part).strip() for part in (error, error.__cause__) if part is not None]
    text = ": ".join(line for part in parts if (line := part.split("\n", 1)[0].strip().rstrip(".:")))
    return text or type(error).__name__
