"""Scaled addition in one pass over memory."""

from pathlib import Path

import torch
from torch import nn

# A compiled kernel in kernel/build (msprun puts that folder on the import path) takes the place of the torch version.
if any((Path(__file__).parent / "kernel" / "build").glob("add_ext*.so")):
    from add_ext import scaled_add
else:

    def scaled_add(x: torch.Tensor, y: torch.Tensor, alpha: float) -> torch.Tensor:
        return torch.add(x, y, alpha=alpha)


class ModelNew(nn.Module):
    """The candidate: one fused call."""

    def forward(self, x: torch.Tensor, y: torch.Tensor, alpha: float = 1.0) -> torch.Tensor:
        return scaled_add(x, y, alpha)
