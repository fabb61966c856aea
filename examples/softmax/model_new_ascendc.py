"""Softmax as one fused call."""

from pathlib import Path

import torch
from torch import nn

# A compiled kernel in kernel/build (msprun puts that folder on the import path) takes the place of the torch version.
if any((Path(__file__).parent / "kernel" / "build").glob("softmax_ext*.so")):
    from softmax_ext import softmax
else:

    def softmax(x: torch.Tensor, dim: int) -> torch.Tensor:
        return torch.softmax(x, dim)


class ModelNew(nn.Module):
    """The candidate: maximum, exponentials and sum without temporaries."""

    def forward(self, x: torch.Tensor, dim: int = -1) -> torch.Tensor:
        return softmax(x, dim)
