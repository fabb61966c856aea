"""One input descriptor of a cases file: JSON in, a checked model value out."""

from __future__ import annotations

import difflib
from typing import Any

from msprun.model.case import CaseInput, TensorListInput
from msprun.source.faults import Place, word
from msprun.source.scalar import scalar_input
from msprun.source.tensor import tensor_input

_TYPES = ("tensor", "tensor_list", "attr", "scalar")
_NAME_LIMIT = 200


def parse_inputs(place: Place, descriptors: list[Any]) -> tuple[CaseInput, ...]:
    """The inputs of one case. Raises ConfigError that names file, case and input."""
    for position, entry in enumerate(descriptors):
        if not isinstance(entry, dict):
            raise place.error(f"input {position} is {word(entry)}, not an object", 'write {"name": ..., "type": ...}')
    names = _names(place, descriptors)
    return tuple(_input(place.input(name), name, entry) for name, entry in zip(names, descriptors, strict=True))


def _names(place: Place, descriptors: list[dict[str, Any]]) -> list[str]:
    """Declared names, and `#<position>`, which is no keyword, for inputs without one."""
    names: list[str] = []
    for position, entry in enumerate(descriptors):
        name = entry.get("name")
        if name is None or name == "":
            name = f"#{position}"
        elif not isinstance(name, str) or len(name) > _NAME_LIMIT or not name.isprintable():
            raise place.error(f"input {position} has the name {word(name)}", "a name is a short printable text")
        if name in names:
            raise place.error(f"two inputs are called {name!r}", "give each input a name of its own")
        names.append(name)
    return names


def _input(place: Place, name: str, entry: dict[str, Any]) -> CaseInput:
    kind = entry.get("type", "tensor")
    if kind == "tensor":
        return tensor_input(place, name, entry)
    if kind == "tensor_list":
        return _tensor_list(place, name, entry)
    if not isinstance(kind, str):
        raise place.error(f"type is {word(kind)}", _types_hint())
    close = difflib.get_close_matches(kind, _TYPES, n=1, cutoff=0.8)
    if close and kind not in _TYPES:
        raise place.error(f"unknown type {word(kind)}", f"did you mean {close[0]}?")
    return scalar_input(place, name, entry, null_is_none=kind in _TYPES)


def _tensor_list(place: Place, name: str, entry: dict[str, Any]) -> TensorListInput:
    items = entry.get("value")
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise place.error(
            "a tensor_list needs a list of objects as its value",
            'write "value": [{"shape": [2, 3], "dtype": "float16"}]',
        )
    dtype = entry.get("dtype")
    filled = [{**item, "dtype": item.get("dtype") or dtype} for item in items]
    tensors = [tensor_input(place.item(n), f"{name}[{n}]", item) for n, item in enumerate(filled)]
    return TensorListInput(name=name, items=tuple(tensors))


def _types_hint() -> str:
    return f"types are {', '.join(_TYPES)}"
