"""JSON numbers and lists as values that can travel."""

from __future__ import annotations

from typing import Any

from msprun.source.faults import Place, word

_DEPTH_LIMIT = 64


def number(place: Place, value: int | float) -> float:
    """A JSON number as float. Raises ConfigError where it is too large for one."""
    try:
        return float(value)
    except OverflowError:
        raise place.error(f"{word(value)} is too large", "write a smaller number") from None


def frozen(place: Place, value: Any, depth: int = 0) -> Any:
    """Lists as tuples, at every level. Raises ConfigError where an object is among them or levels are too many."""
    if depth > _DEPTH_LIMIT:
        raise place.error("value is nested too deeply", f"at most {_DEPTH_LIMIT} levels are possible")
    if isinstance(value, dict):
        raise place.error("value holds an object", "a list holds numbers, texts, true, false, null and lists")
    return tuple(frozen(place, inner, depth + 1) for inner in value) if isinstance(value, list) else value
