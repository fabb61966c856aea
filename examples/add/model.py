"""Scaled addition, x + alpha * y."""

import torch
from torch import nn


class Model(nn.Module):
    """The reference: two steps, the second reads back what the first wrote."""

    def forward(self, x: torch.Tensor, y: torch.Tensor, alpha: float = 1.0) -> torch.Tensor:
        return x + alpha * y
