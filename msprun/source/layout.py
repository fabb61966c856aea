"""How a tensor's elements lie in memory: explicit strides, or one of torch's memory formats."""

from __future__ import annotations

from typing import Any

from msprun.source.faults import Place, guess, word

_ELEMENT_LIMIT = 2**40
_DIMENSIONS = {"channels_last": 4, "channels_last_3d": 5}
# Words for the order of a shape's dimensions, which other tools' files hold, say nothing about memory.
_PLAIN = ("nd", "contiguous", "contiguous_format", "ncl", "nchw", "nhwc", "ncdhw", "ndhwc")
_FORMATS = (*_DIMENSIONS, *_PLAIN)


def layout(place: Place, entry: dict[str, Any], shape: tuple[int, ...] | None) -> dict[str, Any]:
    """The fields `stride` and `format` of TensorInput; neither for a contiguous tensor.

    A stride is counted in elements; 0 repeats one element along its dimension. Raises ConfigError for strides by which
    elements would share memory otherwise, and for a format that torch has not for that many dimensions.
    """
    stride, name = entry.get("stride"), entry.get("format")
    if stride is None and name is None:
        return {}
    if shape is None:
        raise place.error("stride and format need a shape", "leave them out for an argument that is None")
    if stride is not None and name is not None:
        raise place.error("stride and format exclude each other", "write one of them")
    return _strides(place, stride, shape) if stride is not None else _format(place, name, shape)


def _strides(place: Place, stride: Any, shape: tuple[int, ...]) -> dict[str, Any]:
    contiguous = _contiguous(shape)
    hint = f'write "stride": {list(contiguous)}, or leave it out, for a contiguous tensor'
    if not isinstance(stride, list):
        raise place.error(f"stride is {word(stride)}, not a list", hint)
    for step in stride:
        if not isinstance(step, int) or isinstance(step, bool) or step < 0:
            raise place.error(f"stride holds {word(step)}", "strides are whole numbers of elements from 0")
    if len(stride) != len(shape):
        raise place.error(f"stride has {len(stride)} entries for {len(shape)} dimensions", hint)
    reach = 1
    for step, size in sorted(zip(stride, shape, strict=True)):
        if size > 1 and 0 < step < reach:
            raise place.error("stride lets elements share memory", "only a stride of 0 may repeat elements")
        reach += (size - 1) * step if size > 1 else 0
    if reach > _ELEMENT_LIMIT:
        raise place.error("stride reaches over more than 2**40 elements", "choose smaller strides")
    return {} if tuple(stride) == contiguous else {"stride": tuple(stride)}


def _contiguous(shape: tuple[int, ...]) -> tuple[int, ...]:
    steps = [1]
    for size in shape[:0:-1]:
        steps.append(steps[-1] * max(size, 1))
    return tuple(steps[::-1])[: len(shape)]


def _format(place: Place, name: Any, shape: tuple[int, ...]) -> dict[str, Any]:
    if not isinstance(name, str) or name.lower() not in _FORMATS:
        hint = guess(str(name), _FORMATS, f"formats are {', '.join(_FORMATS[:3])}")
        raise place.error(f"unknown format {word(name)}", hint)
    wanted = _DIMENSIONS.get(name.lower())
    if wanted is None:
        return {}
    if len(shape) != wanted:
        raise place.error(f"format {name.lower()} needs {wanted} dimensions, not {len(shape)}", 'write "format": "nd"')
    return {"format": name.lower()}
