"""Walks over nested arguments and outputs."""

import torch


def tensors_in(value, path):
    """Pairs (path, tensor) of all tensors in lists, tuples and dicts, in order."""
    if isinstance(value, torch.Tensor):
        return [(path, value)]
    if isinstance(value, dict):
        return [pair for key, item in value.items() for pair in tensors_in(item, "%s[%r]" % (path, key))]
    if isinstance(value, (list, tuple)):
        return [pair for place, item in enumerate(value) for pair in tensors_in(item, "%s[%d]" % (path, place))]
    return []


def replace(value, change):
    """A copy of nested lists, tuples and dicts with `change` applied to everything else."""
    if isinstance(value, dict):
        return {key: replace(item, change) for key, item in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*[replace(item, change) for item in value])
    if isinstance(value, (list, tuple)) and type(value) in (list, tuple):
        return type(value)(replace(item, change) for item in value)
    return change(value)


def to_device(value, device):
    """Nested arguments with their tensors on a device; those that are there already stay the same objects."""
    return replace(value, lambda leaf: leaf.to(device) if isinstance(leaf, torch.Tensor) else leaf)


def bytes_of(value):
    """Bytes of all tensors, each counted as if it were dense."""
    return sum(tensor.numel() * tensor.element_size() for _, tensor in tensors_in(value, ""))
