"""What a call does to its inputs, and how to undo it.

Copies are held as bytes, not as tensors: code that looks through the garbage collector's objects for tensors to
overwrite does not find them.
"""

import torch

from .layout import is_plain, write
from .leaves import as_bytes, densify, memory


class Copy:
    """One tensor's contents, shape and place in memory."""

    def __init__(self, tensor):
        self.shape, self.dtype = tensor.shape, tensor.dtype
        self.place = place_of(tensor)
        self.storage = tensor.untyped_storage() if self.place else None
        dense = densify(tensor)
        if self.place is None:
            self.held = tensor.detach().clone()
        else:
            self.held = bytearray(memory(dense)) if dense.numel() else bytearray()

    def is_changed(self, tensor):
        """The tensor is no longer what it was, bit for bit, or lies elsewhere."""
        if tensor.shape != self.shape or tensor.dtype != self.dtype:
            return True
        if self.place is None:
            return not torch.equal(as_bytes(densify(tensor)), as_bytes(densify(self.held)))
        if place_of(tensor) != self.place:
            return True
        dense = densify(tensor)
        return bool(dense.numel()) and self.held != memory(dense)  # a bytearray compares whole blocks of memory

    def restore(self, tensor):
        """Give the tensor its shape, place and contents again."""
        with torch.no_grad():
            if self.place is None:
                tensor.copy_(self.held)
                return
            if place_of(tensor) != self.place:
                tensor.set_(self.storage, self.place[1], self.shape, self.place[2])
        self.put(tensor)

    def put(self, tensor):
        """Write the contents into any tensor of that shape."""
        if self.place is None:
            write(tensor, self.held)
        elif tensor.numel():
            write(tensor, torch.frombuffer(self.held, dtype=torch.uint8).view(self.dtype).view(self.shape))


def place_of(tensor):
    """Address, offset, strides and shape, None for memory of another kind."""
    if not is_plain(tensor):
        return None
    return tensor.data_ptr(), tensor.storage_offset(), tensor.stride(), tensor.shape


class Snapshot:
    """Copies of the input tensors of one case; `tensors` are pairs (path, tensor)."""

    def __init__(self, tensors):
        self.tensors = tensors
        self.copies = [Copy(tensor) for _, tensor in tensors]

    def changed(self):
        """The positions of the inputs that are no longer what they were."""
        return [place for place, (_, tensor) in enumerate(self.tensors) if self.copies[place].is_changed(tensor)]

    def restore(self, places=None):
        """Give those inputs, or all, their first contents again."""
        for place in range(len(self.tensors)) if places is None else places:
            self.copies[place].restore(self.tensors[place][1])
