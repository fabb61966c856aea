"""The words by which reports call a case, from its descriptors."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

_GENERATED = re.compile(r"case\d+|[-+]?\d+")
_NAME_LIMIT = 80


def case_labels(descriptors: Sequence[dict[str, Any]]) -> tuple[str, str]:
    """Shape and dtype of the first input of type tensor, else of the first input; `?` where there is none."""
    tensors = [entry for entry in descriptors if entry.get("type") == "tensor"]
    chosen = (tensors or list(descriptors) or [{}])[0]
    dtype = chosen.get("dtype")
    return _shape_label(chosen), dtype if isinstance(dtype, str) else "?"


def _shape_label(descriptor: dict[str, Any]) -> str:
    shape = descriptor.get("shape", "?")
    if shape is None:
        return "None"
    is_shape = isinstance(shape, list) and all(isinstance(entry, int) for entry in shape)
    return str(shape) if is_shape else "?"


def case_names(cases: Sequence[dict[str, Any]]) -> list[str]:
    """A distinct name for each case: its key `name` where that is a word of its own, else `case<index>`.

    Old cases files hold the operator's name there, the same in each case, so a repeated name is none.
    """
    declared = [case.get("name") for case in cases]
    counts = Counter(name for name in declared if isinstance(name, str))
    return [
        name if isinstance(name, str) and counts[name] == 1 and _is_usable(name) else f"case{index}"
        for index, name in enumerate(declared)
    ]


def _is_usable(name: str) -> bool:
    return (
        name.strip() == name != ""
        and len(name) <= _NAME_LIMIT
        and name.isprintable()
        and not _GENERATED.fullmatch(name)
    )
