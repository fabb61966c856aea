"""Scalar and attribute descriptors: plain values with the type that JSON or a dtype gives them."""

from __future__ import annotations

from typing import Any

from msprun.model.case import ScalarInput
from msprun.source.dtypes import DTYPE_OBJECTS, SCALAR_WORDS, TENSOR_DTYPES, integer_range
from msprun.source.faults import Place, guess, word
from msprun.source.values import frozen, number

_TRUTH = {"true": True, "false": False}
_WORD_LIMIT = 40


def scalar_input(place: Place, name: str, entry: dict[str, Any], *, null_is_none: bool) -> ScalarInput:
    """A scalar: `value`, else the first number of `range_values`, else 1 of the dtype.

    Without dtype a value keeps its JSON type. Complex values are pairs (real, imaginary); a text of dtype `str` that
    names a torch dtype is that dtype. An explicit null is None where `null_is_none`.
    """
    dtype = _dtype(place, entry)
    if "value" in entry and entry["value"] is None and null_is_none:
        return ScalarInput(name=name, kind="none")
    value = _raw(place, entry, dtype)
    if isinstance(value, dict):
        raise place.error("value is an object", "a scalar is a number, a text, true, false, null or a list")
    return _typed(place, name, value, dtype)


def _dtype(place: Place, entry: dict[str, Any]) -> str | None:
    given = entry.get("dtype")
    if given is None:
        return None
    if isinstance(given, str) and (given in SCALAR_WORDS or _says_list(given, entry.get("value"))):
        return given
    words = sorted(set(TENSOR_DTYPES.values()) | {"str", "list", "complex"})
    raise place.error(
        f"unknown dtype {word(given)}", guess(str(given)[:200], SCALAR_WORDS, f"dtypes are {', '.join(words)}")
    )


def _says_list(dtype: str, value: Any) -> bool:
    """Words such as `list_int` or `tuple[int]` beside a list: generators have many, and the list says it all."""
    is_word = len(dtype) <= _WORD_LIMIT and dtype.isprintable()
    return is_word and isinstance(value, list) and ("list" in dtype or "tuple" in dtype)


def _raw(place: Place, entry: dict[str, Any], dtype: str | None) -> Any:
    for value in (entry.get("value"), _first(entry.get("range_values"))):
        if value is not None:
            return value
    if dtype in ("str", "string", "list"):
        raise place.error(f"dtype is {dtype} and there is no value", 'add "value"')
    return 1.0 if dtype is None else 1


def _first(given: Any) -> Any:
    if isinstance(given, dict):
        given = given.get("mean")
    if isinstance(given, list):
        given = given[0] if given else None
    return given if isinstance(given, (int, float)) else None


def _typed(place: Place, name: str, value: Any, dtype: str | None) -> ScalarInput:
    if dtype and dtype.startswith("complex"):
        return ScalarInput(name=name, kind="complex", value=_complex(place, value))
    if isinstance(value, list):
        return ScalarInput(name=name, kind="list", value=frozen(place, value))
    if dtype in ("str", "string"):
        text = str(value)
        return ScalarInput(name=name, kind="dtype" if text in DTYPE_OBJECTS else "str", value=text)
    if dtype is None:
        return _as_json(place, name, value)
    return _cast(place, name, value, TENSOR_DTYPES.get(dtype, dtype))


def _as_json(place: Place, name: str, value: Any) -> ScalarInput:
    if isinstance(value, bool):
        return ScalarInput(name=name, kind="bool", value=value)
    if isinstance(value, int):
        return ScalarInput(name=name, kind="int", value=_integer(place, value, "int64"))
    return ScalarInput(name=name, kind="str" if isinstance(value, str) else "float", value=value)


def _cast(place: Place, name: str, value: Any, dtype: str) -> ScalarInput:
    if dtype == "list":
        return ScalarInput(name=name, kind="list", value=(value,))
    if dtype == "bool":
        return ScalarInput(name=name, kind="bool", value=_truth(place, value))
    plain = _parsed(place, value) if isinstance(value, str) else value
    if integer_range(dtype):
        return ScalarInput(name=name, kind="int", value=_integer(place, plain, dtype))
    return ScalarInput(name=name, kind="float", value=number(place, plain))


def _parsed(place: Place, text: str) -> int | float:
    """The number that a text holds; non-finite ones are refused, since a job travels as strict JSON."""
    for parse in (int, float):
        try:
            found = parse(text[:400])
        except ValueError:
            continue
        if abs(found) < float("inf"):
            return found
    raise place.error(f"value {word(text)} is no finite number", "write a number without quotes, or dtype str")


def _truth(place: Place, value: Any) -> bool:
    truth = _TRUTH.get(value.strip().lower()) if isinstance(value, str) else bool(value)
    if truth is None:
        raise place.error(f"value {word(value)} is neither true nor false", "write true or false without quotes")
    return truth


def _integer(place: Place, value: int | float, dtype: str) -> int:
    low, high = integer_range(dtype) or (0, 0)
    whole = int(value)
    if not low <= whole <= high:
        raise place.error(f"value {word(value)} does not fit {dtype}", f"{dtype} holds {low} to {high}")
    return whole


def _complex(place: Place, value: Any) -> tuple[float, float]:
    pair = value if isinstance(value, list) else [value, 0]
    if len(pair) != 2 or not all(isinstance(part, (int, float)) for part in pair):
        raise place.error("value is no complex number", 'write "value": [real, imaginary]')
    return number(place, pair[0]), number(place, pair[1])
