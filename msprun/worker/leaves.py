"""Outputs as a flat list of leaves, containers included, so that any two can be compared and stored.

Lists, tuples and named tuples count as one kind; dicts are walked in the order of their keys' text, dataclasses as
their fields. Python numbers become 0-d tensors of kind `number`; sparse, quantised and foreign-layout tensors dense.
"""

import ctypes
import dataclasses
import json
from typing import NamedTuple

import torch

SEQUENCES = ("list", "tuple")
NUMBER_TYPES = {bool: torch.bool, int: torch.int64, float: torch.float64, complex: torch.complex128}


class Leaf(NamedTuple):
    """One node: `text` is a container's keys or length, or a text; `dtype` the name before it was made dense."""

    path: str
    kind: str
    dtype: str = None
    text: str = None
    tensor: torch.Tensor = None

    @property
    def shape(self):
        return None if self.tensor is None else list(self.tensor.shape)

    @property
    def structure(self):
        """What must be equal before shapes and numbers are looked at."""
        kind = "sequence" if self.kind in SEQUENCES else self.kind
        return self.path, kind, None if self.kind == "text" else self.text


def flatten(value, path="output"):
    """The leaves of a value, parents first. Raises TypeError for an object that cannot be compared."""
    if isinstance(value, torch.Tensor):
        return tensor_leaves(value, path)
    if value is None:
        return [Leaf(path, "none")]
    if type(value) in NUMBER_TYPES:
        return [number_leaf(value, path)]
    if isinstance(value, (str, bytes, torch.dtype, torch.device)):
        return [Leaf(path, "text", text=str(value))]
    if isinstance(value, dict):
        return keyed_leaves(value, path, "dict")
    if isinstance(value, (list, tuple)):
        return sequence_leaves(value, path)
    if dataclasses.is_dataclass(value):
        fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        return keyed_leaves(fields, path, "dataclass")
    if type(value).__module__ == "numpy":
        return tensor_leaves(torch.as_tensor(value), path)
    raise TypeError("%s is a %s, which cannot be compared" % (path, type(value).__name__))


def keyed_leaves(value, path, kind):
    keys = sorted(value, key=repr)
    names = [key if isinstance(key, (str, int, bool, type(None))) else repr(key) for key in keys]
    leaves = [Leaf(path, kind, text=json.dumps(names))]
    for key in keys:
        leaves.extend(flatten(value[key], "%s[%r]" % (path, key)))
    return leaves


def sequence_leaves(value, path):
    leaves = [Leaf(path, "list" if isinstance(value, list) else "tuple", text=str(len(value)))]
    for place, item in enumerate(value):
        leaves.extend(flatten(item, "%s[%d]" % (path, place)))
    return leaves


def number_leaf(value, path):
    if type(value) is int and not -(2**63) <= value < 2**63:
        return Leaf(path, "text", text=str(value))
    return Leaf(path, "number", type(value).__name__, tensor=torch.tensor(value, dtype=NUMBER_TYPES[type(value)]))


def tensor_leaves(tensor, path):
    if tensor.is_nested:
        return sequence_leaves(list(tensor.unbind()), path)
    return [Leaf(path, "tensor", str(tensor.dtype).replace("torch.", ""), tensor=densify(tensor).clone())]


def densify(tensor):
    """A dense, contiguous tensor of the same numbers on the CPU, outside of autograd."""
    tensor = tensor.detach()
    if tensor.is_quantized:
        tensor = tensor.dequantize()
    if tensor.layout != torch.strided:
        tensor = tensor.to_dense()
    return tensor.resolve_conj().resolve_neg().cpu().contiguous()


def same_bits(one, other):
    """Both tensors have one shape, one dtype and the same bytes (a NaN equals itself)."""
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    one, other = densify(one), densify(other)
    return torch.equal(as_bytes(one), as_bytes(other))


def as_bytes(tensor):
    """A contiguous tensor's memory as uint8."""
    return tensor.reshape(-1).view(torch.uint8) if tensor.numel() else torch.empty(0, dtype=torch.uint8)


def memory(tensor):
    """The memory of a contiguous tensor, not copied (numpy may be missing, so by its address)."""
    size = tensor.numel() * tensor.element_size()
    return memoryview((ctypes.c_char * size).from_address(tensor.data_ptr())).cast("B")


def size_bytes(leaf):
    """Bytes of a leaf's tensor, 0 without one."""
    return 0 if leaf.tensor is None else leaf.tensor.numel() * leaf.tensor.element_size()


def rebuild(leaves):
    """Nested Python values of leaves, for compare functions; named tuples come back as tuples, dataclasses as dicts."""
    return rebuild_next(iter(leaves))


def rebuild_next(leaves):
    leaf = next(leaves)
    if leaf.kind in SEQUENCES:
        items = [rebuild_next(leaves) for _ in range(int(leaf.text))]
        return items if leaf.kind == "list" else tuple(items)
    if leaf.kind in ("dict", "dataclass"):
        return {key: rebuild_next(leaves) for key in json.loads(leaf.text)}
    if leaf.kind == "number":
        return leaf.tensor.item()
    return leaf.tensor if leaf.kind == "tensor" else leaf.text
