"""Root mean square normalisation with one reduction and one scaling a row."""

from pathlib import Path

import torch
from torch import nn

# A compiled kernel in kernel/build (msprun puts that folder on the import path) takes the place of the torch version.
if any((Path(__file__).parent / "kernel" / "build").glob("rmsnorm_ext*.so")):
    from rmsnorm_ext import rms_norm
else:

    def rms_norm(x: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
        rows = x if x.dim() else x.unsqueeze(0)
        return nn.functional.rms_norm(rows, rows.shape[-1:], weight.reshape(rows.shape[-1:]), eps).reshape(x.shape)


class ModelNew(nn.Module):
    """The candidate: the fused call, which knows no 0-d rows."""

    def forward(self, x: torch.Tensor, weight: torch.Tensor, eps: float = 1e-6) -> torch.Tensor:
        return rms_norm(x, weight, eps)
