"""Reference outputs in a file: one line of JSON that says the structure, then the bytes of the tensors.

The hash covers the whole file and is kept by the parent only, so a candidate that changes the file is found out.
"""

import hashlib
import json

import torch

from .inputs import label, torch_dtype
from .leaves import Leaf, memory

PART = 1 << 24


def store(leaves, path):
    """Write leaves (dense, on the CPU) and answer the file's blake2b hash."""
    path.parent.mkdir(exist_ok=True)
    digest = hashlib.blake2b(digest_size=32)
    header = [[leaf.path, leaf.kind, leaf.dtype, leaf.text, leaf.shape, stored_dtype(leaf)] for leaf in leaves]
    with path.open("wb") as file:
        for part in [json.dumps(header).encode() + b"\n"] + [memory(leaf.tensor) for leaf in leaves if has_bytes(leaf)]:
            digest.update(part)
            file.write(part)
    return digest.hexdigest()


def restore(path):
    """The leaves of a file and its hash as it is now. Raises OSError or ValueError when it cannot be read."""
    digest = hashlib.blake2b(digest_size=32)
    with path.open("rb") as file:
        line = file.readline()
        digest.update(line)
        leaves = [read_leaf(file, entry, digest) for entry in json.loads(line.decode())]
        while True:
            rest = file.read(PART)
            if not rest:
                return leaves, digest.hexdigest()
            digest.update(rest)


def stored_dtype(leaf):
    return None if leaf.tensor is None else label(leaf.tensor.dtype)


def has_bytes(leaf):
    return leaf.tensor is not None and leaf.tensor.numel() > 0


def read_leaf(file, entry, digest):
    path, kind, dtype, text, shape, stored = entry
    if shape is None:
        return Leaf(path, kind, dtype, text)
    tensor = torch.empty(shape, dtype=torch_dtype(stored))
    if tensor.numel():
        target = memory(tensor)
        if file.readinto(target) != len(target):
            raise ValueError("%s ends too early" % file.name)
        digest.update(target)
    return Leaf(path, kind, dtype, text, tensor)
