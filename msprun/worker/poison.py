"""Memory that a call gets is full of NaN, so that nobody returns what somebody else left in it."""

import torch

from .failures import kind
from .leaves import as_bytes
from .provider import free_bytes

SLACK = 128  # an aligned allocation wants so much more than its size, so a block of just that size holds only less
LARGE, SMALL = (SLACK, 0, 0), (SLACK, 0) * 16  # how much less each of the buffers of one size holds
FEW_BYTES = 1 << 22
SAFE_BYTES = 1 << 26
NAN_BYTE = 255  # a byte of ones: NaN in every float, -1 in every integer


def poison(sizes, device):
    """Allocate and free buffers of these sizes in bytes, several of each; not where they would need much memory.

    A device that has no room for them is no fault of the call's.
    """
    copies = SMALL if len(SMALL) * sum(sizes) <= FEW_BYTES else LARGE
    total = len(copies) * sum(sizes)
    if total > SAFE_BYTES and total > free_bytes() / 4:
        return
    lengths = [max(1, size - less) for less in copies for size in sizes]
    try:
        scrub([torch.empty(length, dtype=torch.uint8, device=device) for length in lengths])
    except (RuntimeError, MemoryError) as error:
        if kind(error) != "out_of_memory":
            raise


def scrub(tensors):
    """Overwrite contiguous tensors that nobody needs any more."""
    for tensor in tensors:
        as_bytes(tensor).fill_(NAN_BYTE)
