"""A linear layer followed by GELU in its tanh form, with an optional 0-d output scale in between."""

import json
import math
from pathlib import Path

import torch
from torch import nn


class Model(nn.Module):
    """The reference: GELU written out in float32 at least, as the first GPT codes did."""

    def __init__(self, in_features: int, out_features: int, dtype: torch.dtype) -> None:
        super().__init__()
        self.linear = nn.Linear(in_features, out_features, dtype=dtype)

    def forward(self, x: torch.Tensor, scale: "torch.Tensor | None" = None) -> torch.Tensor:
        y = self.linear(x)
        y = y if scale is None else y * scale
        wide = y.to(torch.promote_types(y.dtype, torch.float32))
        inner = math.sqrt(2 / math.pi) * (wide + 0.044715 * wide.pow(3))
        return (0.5 * wide * (1 + torch.tanh(inner))).to(x.dtype)


def get_init_inputs() -> list:
    """The constructor's arguments, one dict a case: the layer fits the case's x and doubles its width."""
    lines = Path(__file__).with_name("matmul_gelu_perf_cases.jsonl").read_text(encoding="utf-8").splitlines()
    inputs = [json.loads(line)["inputs"][0] for line in lines if line]
    return [
        {"in_features": x["shape"][-1], "out_features": 2 * x["shape"][-1], "dtype": getattr(torch, x["dtype"])}
        for x in inputs
    ]
