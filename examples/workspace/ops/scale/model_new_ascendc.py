"""Every row times its factor, plus a shift, in one pass over memory."""

import torch
from torch import nn


class ModelNew(nn.Module):
    """The candidate: one fused call."""

    def forward(self, x: torch.Tensor, factor: torch.Tensor, shift: torch.Tensor) -> torch.Tensor:
        return torch.addcmul(shift, x, factor)
