"""The command line that was probably meant, complete and quoted for a shell."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import Path

from msprun.errors import MsprunError

LISTS = ("cases", "report", "experiment")
_TEXTS = re.compile(r"out|python|op\.(dir|name|build|cases_file|work\.(bytes|flops)|(reference|candidate)\.(file|cls))")
_SWEEP = ("-m", "--multirun")
_CLOSE = {"(": ")", "[": "]", "{": "}"}
_CALL = re.compile(r"(range|choice|interval|glob)\(.*\)", re.DOTALL)
_BRACKETS = "()[]{}"
_QUOTES = re.compile("['\"]")


def retold(error: MsprunError, words: Sequence[str]) -> MsprunError:
    """The error with the line to type as its hint, where the wrong word is known and how to mend it."""
    if not error.word:
        return error
    place = _place(words, error.word)
    if place is None:
        return error
    key = words[place].lstrip("+").partition("=")[0]
    message = error.message.replace(error.word, words[place]) if "=" in error.word else error.message
    message = message if key in message else f"{key}: {message}"
    return type(error)(message, _advice(list(words), place) or error.hint, error.word)


def several(value: str) -> bool:
    """Whether a value is several for Hydra: a comma outside quotes and brackets, or a call that makes a list."""
    return _CALL.fullmatch(value) is not None or len(parts(value)) > 1


def parts(value: str) -> list[str]:
    """The value split at the commas outside quotes and brackets."""
    found, start = [], 0
    for index, letter in enumerate(value):
        if letter == "," and not _still_open(value[start:index]):
            found.append(value[start:index].strip())
            start = index + 1
    return [*found, value[start:].strip()]


def shell(word: str) -> str:
    """A word as a POSIX shell takes it; PowerShell takes it so, too, unless it has both kinds of quotes."""
    if "'" in word and not re.search(r'["$`\\!]', word):
        return f'"{word}"'
    return shlex.quote(word)


def _place(words: Sequence[str], wrong: str) -> int | None:
    """Where the wrong word stands: itself, else the last one of its key, else one that holds it."""
    if wrong in words:
        return list(words).index(wrong)
    key = wrong.lstrip("+").partition("=")[0]
    same = [index for index, word in enumerate(words) if word.lstrip("+").startswith(f"{key}=")]
    holds = [index for index, word in enumerate(words) if wrong in word]
    return next(iter(same[::-1] or holds), None)


def _advice(words: list[str], place: int) -> str | None:
    word = words[place]
    if "=" not in word:
        return _beside(words, place)
    key, _, value = word.partition("=")
    name = key.lstrip("+")
    if re.search(r"(?<!\\)\$\{", value):
        escaped = re.sub(r"(?<!\\)\$\{", r"\\${", value)
        return f"for the text as it stands: {_line(words, place, f'{key}={escaped}')}"
    joined, end = _whole(words, place)
    if joined[-1] in "'\"" and joined != word and end == place:  # a quote or an apostrophe that has no partner
        return _odd_quote(words, place)
    value = joined.partition("=")[2]
    bare = value.strip(_BRACKETS)
    if name in LISTS:
        return _list(words, place, end, f"{key}=[{','.join(parts(bare))}]", key)
    if name == "op" and value.startswith("["):
        return _sweep(words, place, end, f"{key}={','.join(parts(bare))}")
    value = ",".join(part for part in parts(value) if part)
    if several(value):
        swept = _sweep(words, place, end, f"{key}={value}")
        return f"as one text: {_line(words, place, _literal(key, value), end)}; {swept}" if _is_text(name) else swept
    if f"{key}={value}" != word:
        return f"write {_line(words, place, f'{key}={value}', end)}"
    return f"as text: {_line(words, place, _literal(key, value))}" if _is_text(name) else None


def _list(words: list[str], place: int, end: int, listed: str, key: str) -> str:
    """For keys that take lists. Hydra takes the same without brackets for a sweep."""
    said = f"for a list: {_line(words, place, listed, end)}"
    value = listed.partition("=")[2].strip("[]")
    return f"{said}; {_sweep(words, place, end, f'{key}={value}')}" if several(value) and key != "report" else said


def _sweep(words: list[str], place: int, end: int, word: str) -> str:
    return f"to run each of them: {_line(words, place, word, end, sweeps=True)}"


def _odd_quote(words: list[str], place: int) -> str:
    key, _, value = words[place].partition("=")
    if _is_text(key.lstrip("+")):
        return f"as text: {_line(words, place, _literal(key, value))}"
    return f"write {_line(words, place, _QUOTES.sub('', words[place]))}"


def _beside(words: list[str], place: int) -> str | None:
    """A word without `=`: a part of the one before it, or a folder."""
    before = place - 1
    while before > 0 and "=" not in words[before]:
        before -= 1
    if before >= 0 and "=" in words[before]:
        if _still_open(words[before].partition("=")[2]):
            return _advice(words, before)
        joined = " ".join(words[before : place + 1])
        if words[before].endswith(",") or (words[before].startswith("op=") and words[place].isidentifier()):
            return _sweep(words, before, place, ",".join(word.strip(",") for word in words[before : place + 1]))
        if Path(joined.partition("=")[2]).exists():
            return f"one word in quotes: {_line(words, before, joined, place)}"
    if Path(words[place]).is_dir():
        return f"for that folder: {_line(words, place, f'op=./{words[place]}')}"
    if before >= 0 and "=" in words[before]:
        return f"key=value; or, if it belongs to the word before it: {_line(words, before, joined, place)}"
    return None


def _whole(words: list[str], place: int) -> tuple[str, int]:
    """The word with those behind it that the shell cut off, quotes and brackets closed; and the last one's place."""
    for end in range(place, len(words)):
        joined = " ".join(words[place : end + 1])
        if not _still_open(joined.partition("=")[2]):
            return joined, end
    return words[place] + _still_open(words[place].partition("=")[2]), place


def _still_open(text: str) -> str:
    """What closes the quotes and brackets that are open at the end of a text."""
    closers = quote = ""
    escaped = False
    for letter in text:
        if quote:
            quote = "" if letter == quote and not escaped else quote
        elif letter in "'\"":
            quote = letter
        elif letter in _CLOSE:
            closers = _CLOSE[letter] + closers
        elif closers and letter == closers[0]:
            closers = closers[1:]
        escaped = letter == "\\" and not escaped
    return quote + closers


def _is_text(name: str) -> bool:
    return _TEXTS.fullmatch(name) is not None


def _literal(key: str, value: str) -> str:
    """The value as one text in Hydra's quotes."""
    quote = '"' if "'" in value and '"' not in value else "'"
    escaped = value.replace(quote, f"\\{quote}")
    return f"{key}={quote}{escaped}{quote}"


def _line(words: list[str], place: int, word: str, end: int | None = None, sweeps: bool = False) -> str:
    """The whole command with `word` in the place of those from `place` to `end`."""
    said = [*words[:place], word, *words[(place if end is None else end) + 1 :]]
    flag = ["-m"] if sweeps and not set(said) & {*_SWEEP} else []
    return " ".join(["msprun", *flag, *map(shell, said)])
