"""What a call does to its inputs, and how to undo it."""

import torch

from .leaves import same_bits


class Snapshot:
    """Copies of the input tensors of one case; `tensors` are pairs (path, tensor)."""

    def __init__(self, tensors):
        self.tensors = tensors
        self.copies = [tensor.detach().clone() for _, tensor in tensors]

    def changed(self):
        """The positions of the inputs that are no longer what they were, bit for bit."""
        return [place for place, (_, tensor) in enumerate(self.tensors) if not same_bits(tensor, self.copies[place])]

    def restore(self, places):
        """Give those inputs their first contents, and shape, again."""
        with torch.no_grad():
            for place in places:
                tensor, copy = self.tensors[place][1], self.copies[place]
                if tensor.shape != copy.shape:
                    tensor.resize_(copy.shape)
                tensor.copy_(copy)
