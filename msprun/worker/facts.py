"""What the parent is told of the arguments, so that it can count bytes and operations: no values of tensors."""

import torch

from .inputs import label

LONGEST = 64
DEEPEST = 3
LARGEST = 1e30


def facts(arguments):
    """[name or None, description] of each argument, those by position before those by keyword."""
    names = arguments.names or [None] * len(arguments.positional)
    found = list(zip(names, arguments.positional)) + list(arguments.keywords.items())
    return [[name if isinstance(name, str) else None, described(value)] for name, value in found]


def described(value, depth=0):
    """A tensor's shape and dtype, a number, None, a list of these; of anything else only its kind."""
    if isinstance(value, torch.Tensor):
        return {"shape": list(value.shape), "dtype": label(value.dtype)}
    if isinstance(value, (list, tuple)) and len(value) <= LONGEST and depth < DEEPEST:
        return [described(entry, depth + 1) for entry in value]
    if value is None or (isinstance(value, (bool, int, float)) and abs(value) < LARGEST):
        return value
    return {"kind": type(value).__name__}
