"""One case of an operator: the arguments of one call."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct


class TensorInput(Struct, frozen=True, kw_only=True, tag="tensor"):
    """A tensor to be made by the worker; `shape` None stands for an argument that is None.

    `low` and `high` (both included for integers) bound `uniform`, and `offsets` where given; `mean` and `std` are those
    of `normal` where given. `value` holds nested tuples of exactly that shape, or one number for all elements.
    `stride` are elements, one of each dimension, or `format` names the memory format of torch; numbers are drawn as if
    the tensor was contiguous.
    """

    name: str
    dtype: str
    shape: tuple[int, ...] | None
    fill: Literal["normal", "uniform", "offsets", "value"] = "normal"
    low: float | None = None
    high: float | None = None
    mean: float | None = None
    std: float | None = None
    value: Any = None
    stride: tuple[int, ...] | None = None
    format: Literal["channels_last", "channels_last_3d"] | None = None


class TensorListInput(Struct, frozen=True, kw_only=True, tag="tensor_list"):
    """A Python list of tensors."""

    name: str
    items: tuple[TensorInput, ...]


class ScalarInput(Struct, frozen=True, kw_only=True, tag="scalar"):
    """A plain value; `kind` says how the worker makes it of its JSON value.

    `dtype` values are names of torch dtypes, `complex` values are pairs (real, imaginary).
    """

    name: str
    kind: Literal["none", "bool", "int", "float", "complex", "str", "list", "dtype"]
    value: Any = None


CaseInput = TensorInput | TensorListInput | ScalarInput


class Case(Struct, frozen=True, kw_only=True):
    """The arguments of one call, and the words by which reports call it.

    `inputs` is None when no cases file describes them: the provider in model.py then makes them.
    """

    index: int
    name: str
    shape_label: str
    dtype_label: str
    inputs: tuple[CaseInput, ...] | None = None

    @property
    def is_empty(self) -> bool:
        """A declared tensor holds no element, so there is nothing to measure."""
        return any(isinstance(i, TensorInput) and i.shape is not None and 0 in i.shape for i in self.inputs or ())
