"""GELU and layer normalisation as two fused calls."""

import torch
from torch import nn
from torch.nn import functional


class ModelNew(nn.Module):
    """The candidate."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return functional.layer_norm(functional.gelu(x, approximate="tanh"), x.shape[-1:])
