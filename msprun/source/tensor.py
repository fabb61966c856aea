"""Tensor descriptors: shape, dtype and what fills it."""

from __future__ import annotations

import math
from typing import Any

from msgspec.structs import replace

from msprun.model.case import TensorInput
from msprun.source.dtypes import TENSOR_DTYPES, integer_range
from msprun.source.faults import Place, guess, word
from msprun.source.layout import layout
from msprun.source.values import frozen, number

_ELEMENT_LIMIT = 2**40
_DIMENSION_LIMIT = 64
_DEFAULT_DTYPE = "float16"
_OFFSETS_NAMES = frozenset(
    "offs offsets group_list group_offsets cumsum cu_seqlens cu_seqlens_q cu_seqlens_k seqlens seq_lens".split()
)


def tensor_input(place: Place, name: str, entry: dict[str, Any]) -> TensorInput:
    """A tensor descriptor: without shape 0-d, with a null shape an argument that is None, without dtype float16.

    An explicit `value` wins: nested lists have exactly the tensor's shape, a number fills it. `range_values` is
    [low, high] for uniform numbers, a number for a constant, {"mean", "std"} for a normal distribution; `range` is
    another word for it. Integer tensors by the names of offsets are running sums (fill `offsets`). `stride` or `format`
    say how the elements lie in memory.
    """
    tensor = _drawn(place, name, entry)
    return replace(tensor, **layout(place, entry, tensor.shape))


def _drawn(place: Place, name: str, entry: dict[str, Any]) -> TensorInput:
    """The tensor as if it was contiguous."""
    dtype = tensor_dtype(place, entry.get("dtype"))
    shape = _shape(place, entry)
    value = entry.get("value")
    if value is not None:
        return _explicit(place, TensorInput(name=name, dtype=dtype, shape=shape), value, "shape" in entry)
    if shape is None:
        return TensorInput(name=name, dtype=dtype, shape=None)
    fill = _fill(place, dtype, _range(place, entry))
    if name.lower() in _OFFSETS_NAMES and integer_range(dtype) and fill.get("fill") != "value":
        fill = {**fill, "fill": "offsets"}
    return TensorInput(name=name, dtype=dtype, shape=shape, **fill)


def tensor_dtype(place: Place, given: Any) -> str:
    """The torch name of a dtype word; float16 without one."""
    if given is None:
        return _DEFAULT_DTYPE
    if not isinstance(given, str) or given not in TENSOR_DTYPES:
        names = sorted(set(TENSOR_DTYPES.values()))
        raise place.error(
            f"unknown dtype {word(given)}", guess(str(given)[:200], TENSOR_DTYPES, f"dtypes are {', '.join(names)}")
        )
    return TENSOR_DTYPES[given]


def _shape(place: Place, entry: dict[str, Any]) -> tuple[int, ...] | None:
    shape = entry.get("shape", [])
    if shape is None:
        return None
    if not isinstance(shape, list):
        raise place.error(f"shape is {word(shape)}, not a list", 'write "shape": [2, 3], or null for an argument None')
    for size in shape:
        if not isinstance(size, int) or isinstance(size, bool) or size < 0:
            raise place.error(f"shape holds {word(size)}", "sizes are whole numbers from 0")
    if len(shape) > _DIMENSION_LIMIT:
        raise place.error(f"shape has {len(shape)} dimensions", f"at most {_DIMENSION_LIMIT} are possible")
    if math.prod(size for size in shape if size) > _ELEMENT_LIMIT:
        raise place.error("shape holds more than 2**40 elements", "choose a smaller shape")
    return tuple(shape)


def _explicit(place: Place, tensor: TensorInput, value: Any, is_declared: bool) -> TensorInput:
    """The tensor of exactly that value."""
    found = _nesting(place, value)
    limits = integer_range(tensor.dtype)
    for element in _elements(value):
        _check_element(place, element, limits)
    declared = tensor.shape if is_declared else None
    if isinstance(value, list) and declared not in (None, found):
        raise place.error(f"value has shape {list(found)}, not {list(declared or ())}", "make shape and value agree")
    shape = found if declared is None else declared
    return TensorInput(name=tensor.name, dtype=tensor.dtype, shape=shape, fill="value", value=frozen(place, value))


def _nesting(place: Place, value: Any) -> tuple[int, ...]:
    """The shape of nested lists; an error where lists of one level differ in length."""
    level, shape = [value], []
    while level and isinstance(level[0], list):
        length = len(level[0])
        if not all(isinstance(entry, list) and len(entry) == length for entry in level):
            raise place.error("value is an uneven list", "all lists of one level must have one length")
        shape.append(length)
        if len(shape) > _DIMENSION_LIMIT:
            raise place.error("value is nested too deeply", f"at most {_DIMENSION_LIMIT} dimensions are possible")
        level = [inner for entry in level for inner in entry]
    return tuple(shape)


def _elements(value: Any) -> list[Any]:
    level = [value]
    while level and isinstance(level[0], list):
        level = [inner for entry in level for inner in entry]
    return level


def _check_element(place: Place, element: Any, limits: tuple[int, int] | None) -> None:
    if not isinstance(element, (int, float)):
        raise place.error(f"value holds {word(element)}", "a tensor's values are numbers, true or false")
    if limits and not limits[0] <= element <= limits[1]:
        raise place.error(f"value holds {word(element)}", f"the dtype holds {limits[0]} to {limits[1]}")
    if not limits:
        number(place, element)


def _range(place: Place, entry: dict[str, Any]) -> Any:
    """`range_values`, or `range`."""
    old, new = entry.get("range_values"), entry.get("range")
    if old is not None and new is not None and old != new:
        raise place.error("range and range_values differ", "write one of them")
    return new if old is None else old


def _fill(place: Place, dtype: str, given: Any) -> dict[str, Any]:
    """The fields of TensorInput that a `range_values` stands for."""
    if given is None:
        return {}
    if isinstance(given, dict):
        return {"mean": _moment(place, given, "mean"), "std": _moment(place, given, "std")}
    numbers = given if isinstance(given, list) else [given]
    if len(numbers) not in (1, 2) or not all(isinstance(n, (int, float)) for n in numbers):
        raise place.error(
            "range_values is neither a number nor a pair of numbers",
            'write [low, high], a number, or {"mean": 0, "std": 1}',
        )
    for element in numbers:
        _check_element(place, element, integer_range(dtype))
    if len(numbers) == 1:
        return {"fill": "value", "value": numbers[0]}
    low, high = (float(n) for n in numbers)
    if low > high:
        raise place.error(f"range_values begins at {low:g} and ends at {high:g}", "write the lower number first")
    if integer_range(dtype) and math.ceil(low) > math.floor(high):
        raise place.error(f"no whole number lies in range_values {low:g} to {high:g}", "widen the range")
    return {"fill": "uniform", "low": low, "high": high}


def _moment(place: Place, given: dict[str, Any], key: str) -> float:
    """Mean or standard deviation; of a list (cases files of test generators hold ranges there) the first entry."""
    value = given.get(key, 0.0 if key == "mean" else 1.0)
    if isinstance(value, list) and value:
        value = value[0]
    if not isinstance(value, (int, float)) or isinstance(value, bool) or (key == "std" and value < 0):
        raise place.error(f"range_values has the {key} {word(value)}", 'write {"mean": 0, "std": 1}')
    return number(place, value)
