"""GELU and layer normalisation, step by step: sixteen torch operators a call."""

import torch
from torch import nn


class Model(nn.Module):
    """The reference."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        inner = 0.7978845608028654 * (x + 0.044715 * x * x * x)
        y = 0.5 * x * (1 + torch.tanh(inner))
        centred = y - y.mean(-1, keepdim=True)
        variance = (centred * centred).mean(-1, keepdim=True)
        return centred / torch.sqrt(variance + 1e-5)
