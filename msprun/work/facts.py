"""What an expression may know of the arguments of a call: shapes, dtypes and plain numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from msprun.model.case import Case, CaseInput, ScalarInput, TensorInput, TensorListInput

ITEM_BYTES = {
    "float16": 2, "bfloat16": 2, "float32": 4, "float64": 8, "float8_e4m3fn": 1, "float8_e5m2": 1,
    "int8": 1, "int16": 2, "int32": 4, "int64": 8, "uint8": 1, "uint16": 2, "uint32": 4, "uint64": 8,
    "bool": 1, "complex64": 8, "complex128": 16,
}  # fmt: skip
OUT = "out"


class Tensor(Struct, frozen=True, kw_only=True):
    """A tensor argument; `dtype` is torch's word without `torch.`."""

    shape: tuple[int, ...]
    dtype: str

    @property
    def numel(self) -> int:
        """Elements."""
        return math.prod(self.shape)

    @property
    def itemsize(self) -> int | None:
        """Bytes of an element, None for a dtype that we do not know."""
        return ITEM_BYTES.get(self.dtype)


class Outputs(Struct, frozen=True, kw_only=True):
    """All outputs of a call together."""

    nbytes: int


class Other(Struct, frozen=True, kw_only=True):
    """An argument that is no number: `kind` says what it is."""

    kind: str


Fact = Tensor | Outputs | Other | int | float | tuple["Fact", ...] | None
Facts = Mapping[str, Fact]


def of_case(case: Case) -> dict[str, Fact] | None:
    """The arguments of a case by name and as `arg0`, `arg1`, ...; None where no cases file describes them."""
    if case.inputs is None:
        return None
    return _named([(entry.name, _fact(entry)) for entry in case.inputs])


def of_worker(told: Sequence[tuple[str | None, Any]], case: Case) -> dict[str, Fact]:
    """The arguments that a worker has in hand, each (name or None, description), in the order of the call.

    What a provider makes is named by the cases file, if that describes as many arguments. A description is
    `{"shape": [...], "dtype": "float16"}`, a number, None, a list of these, or `{"kind": "str"}` for what is none of
    them.
    """
    declared = [entry.name for entry in case.inputs or ()]
    names: Sequence[str | None] = declared if len(declared) == len(told) else [None] * len(told)
    return _named(
        [(told_name or name, _described(entry)) for name, (told_name, entry) in zip(names, told, strict=True)]
    )


def with_outputs(facts: Facts, nbytes: int | None) -> Facts:
    """The same facts, and as `out` the bytes of all outputs if they are known; an input of that name goes before."""
    return facts if nbytes is None or OUT in facts else {**facts, OUT: Outputs(nbytes=nbytes)}


def _named(found: Sequence[tuple[str | None, Fact]]) -> dict[str, Fact]:
    """By position and by name; an input that is called `arg0` itself wins."""
    numbered = {f"arg{position}": fact for position, (_, fact) in enumerate(found)}
    return {**numbered, **{name: fact for name, fact in found if name is not None}}


def _fact(entry: CaseInput) -> Fact:
    if isinstance(entry, TensorInput):
        return None if entry.shape is None else Tensor(shape=entry.shape, dtype=entry.dtype)
    if isinstance(entry, TensorListInput):
        return tuple(_fact(item) for item in entry.items)
    return _scalar(entry)


def _scalar(entry: ScalarInput) -> Fact:
    if entry.kind == "none":
        return None
    if entry.kind in ("bool", "int", "float", "list"):
        return _described(entry.value)
    return Other(kind=entry.kind)


def _described(value: Any) -> Fact:
    if isinstance(value, Mapping) and "kind" in value:
        return Other(kind=str(value["kind"]))
    if isinstance(value, Mapping):
        return Tensor(shape=tuple(int(size) for size in value["shape"]), dtype=str(value["dtype"]))
    if isinstance(value, list | tuple):
        return tuple(_described(entry) for entry in value)
    if isinstance(value, bool):
        return int(value)
    if value is None or isinstance(value, int | float):
        return value
    return Other(kind="str")
