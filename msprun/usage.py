"""The page of --help, made from the conf folders; standard library only, since it must be there at once."""

from __future__ import annotations

import os
import textwrap
from pathlib import Path

from msprun import search
from msprun.errors import MsprunError
from msprun.resources import data_folder

WIDTH = 80
HEIGHT = 40
_ORDER = ("mode", "op", "device", "profiler", "check", "report", "experiment")
_DULL = ("report", "check", "experiment", "op")
_HEAD = """\
msprun checks and times accelerator operators against their PyTorch reference.

  msprun mode=quick op=add warmup=5      words are key=value, in any order
  msprun op=./my_op print=json           a folder of your own; JSON on stdout
  msprun -m op=add,softmax repeats=6,12  a sweep: every combination
  msprun +experiment=smoke               words kept in a file
"""
_TAIL = """\
flags: -m (sweep), --cfg job (show config), -sc install=bash, --info, --version
exits: 0 done, 1 a case failed or was wrong, 2 bad request, 130 interrupted
"""


def page() -> str:
    """At most 40 lines of 80 columns: groups with their options, keys with their defaults, examples, flags."""
    cwd = Path.cwd()
    conf = data_folder("conf")
    try:
        folders, defaults = search.folders(cwd, os.environ), search.defaults_files(cwd, os.environ)
    except MsprunError:
        folders, defaults = (conf,), ()
    said: dict[str, str] = {}
    for file in defaults:
        said |= search.plain_values(file)
    chosen = search.chosen(conf / search.PRIMARY) | said
    values = {key: said.get(key, value) for key, value in search.plain_values(conf / search.PRIMARY).items()}
    keys = textwrap.wrap("  ".join(f"{k}={v}" for k, v in values.items()), WIDTH - 2, break_on_hyphens=False)
    rest = ["", "keys:", *("  " + line for line in keys), *_TAIL.splitlines()]
    head = [*_HEAD.splitlines(), ""]
    groups = _groups(search.options(folders), chosen, HEIGHT - len(head) - len(rest))
    return "\n".join([*head, *groups, *rest]) + "\n"


def _groups(options: dict[str, dict[str, Path]], chosen: dict[str, str], room: int) -> list[str]:
    """One line an option; where the room is short, groups become lists of names: the dullest that suffices, or the
    largest.
    """
    names = sorted(options, key=lambda group: (_ORDER.index(group) if group in _ORDER else len(_ORDER), group))
    blocks = {group: _described(group, options[group], chosen.get(group, "")) for group in names}
    listed = {group: _listed(group, options[group], chosen.get(group, "")) for group in names}
    whole = sorted(names, key=lambda group: (_DULL.index(group) if group in _DULL else len(_DULL), group))
    while whole and (over := sum(map(len, blocks.values())) - room) > 0:
        saved = {group: len(blocks[group]) - len(listed[group]) for group in whole}
        group = next((group for group in whole if saved[group] >= over), max(whole, key=lambda group: saved[group]))
        blocks[group] = listed[group]
        whole.remove(group)
    return [line for block in blocks.values() for line in block]


def _described(group: str, options: dict[str, Path], chosen: str) -> list[str]:
    lines = []
    for index, (option, file) in enumerate(options.items()):
        star = "*" if _is_chosen(option, chosen) else " "
        label = f"{group if index == 0 else '':<11}{star}{option:<12} "
        lines.append((label + _cut(search.description(file), WIDTH - len(label))).rstrip())
    return lines


def _is_chosen(option: str, chosen: str) -> bool:
    return option in chosen.strip("[]").replace(" ", "").split(",")


def _listed(group: str, options: dict[str, Path], chosen: str) -> list[str]:
    names = ", ".join(f"*{option}" if _is_chosen(option, chosen) else option for option in options)
    wrapped = textwrap.wrap(names, WIDTH - 12, max_lines=2, placeholder=" ...", break_on_hyphens=False)
    return [f"{group if index == 0 else '':<11} {line}" for index, line in enumerate(wrapped)]


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 3].rpartition(" ")[0].rstrip(" ,;:") + "..."
