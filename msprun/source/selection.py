"""Which cases a request asks for."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence

from msprun.errors import ConfigError
from msprun.model.case import Case

_INDEX = re.compile(r"[-+]?[0-9]{1,18}")


def select(cases: Sequence[Case], wanted: object, max_cases: int | None) -> tuple[int, ...]:
    """Indices of the wanted cases in the order asked, each once, cut to the first `max_cases`.

    `wanted` is None for all, an index, a name, or a list of these. Raises ConfigError for what is unknown, negative or
    nothing at all.
    """
    if max_cases is not None and (isinstance(max_cases, bool) or max_cases < 1):
        raise ConfigError(f"max_cases={max_cases}: it is a count from 1", "type max_cases=1 or more, or leave it out")
    if wanted is None:
        chosen = tuple(range(len(cases)))
    else:
        many = isinstance(wanted, Sequence) and not isinstance(wanted, (str, bytes))
        asked = list(wanted) if many and isinstance(wanted, Sequence) else [wanted]
        chosen = tuple(dict.fromkeys(_index(cases, entry) for entry in asked))
    if not chosen:
        raise ConfigError("cases: the selection is empty", _known(cases))
    return chosen[:max_cases]


def _index(cases: Sequence[Case], entry: object) -> int:
    names = {case.name: position for position, case in enumerate(cases)}
    if isinstance(entry, str) and entry in names:
        return names[entry]
    if isinstance(entry, str) and _INDEX.fullmatch(entry):
        entry = int(entry)
    if isinstance(entry, int) and not isinstance(entry, bool) and 0 <= entry < len(cases):
        return entry
    raise ConfigError(f"cases: there is no case {_shown(entry)}", _next_step(cases, entry, names))


def _shown(entry: object) -> str:
    text = str(entry) if isinstance(entry, str) and entry.isprintable() else repr(entry)
    return text if len(text) <= 80 else text[:80] + "..."


def _next_step(cases: Sequence[Case], entry: object, names: dict[str, int]) -> str:
    if isinstance(entry, str) and "," in entry:
        return f"type cases=[{entry[:80]}]"
    near = difflib.get_close_matches(entry[:200], names, n=3) if isinstance(entry, str) else []
    return f"did you mean {' or '.join(near)}? " + _known(cases) if near else _known(cases)


def _known(cases: Sequence[Case]) -> str:
    if not cases:
        return "the operator has no cases; add a cases file or get_inputs in model.py"
    return f"indices run from 0 to {len(cases) - 1}, names from {cases[0].name} to {cases[-1].name}"
