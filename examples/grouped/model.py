"""Grouped matrix product: consecutive groups of rows, each times a weight of its own.

`group_list` holds the row at which each group ends, so it never falls and its last entry is the number of rows.
"""

import json
from pathlib import Path

import torch
from torch import nn


class Model(nn.Module):
    """The reference: one product a group, joined, then bias and scale."""

    def forward(self, x, weights, group_list, bias=None, scale=1.0, output_dtype=None):
        bounds = [0, *group_list.tolist()]
        parts = [x[bounds[n] : bounds[n + 1]] @ weight for n, weight in enumerate(weights)]
        out = torch.cat(parts) * scale
        if bias is not None:
            out = out + bias
        return out if output_dtype is None else out.to(output_dtype)


def get_input_groups() -> list:
    """The arguments of each case. The cases file says shapes; only here is it known that the groups must cover x."""
    lines = Path(__file__).with_name("grouped_perf_cases.jsonl").read_text(encoding="utf-8").splitlines()
    return [_arguments({entry["name"]: entry for entry in json.loads(line)["inputs"]}) for line in lines if line]


def _arguments(case: dict) -> list:
    x = _tensor(case["x"])
    weights = [_tensor(entry) for entry in case["weights"]["value"]]
    cuts = torch.randint(0, x.shape[0] + 1, (len(weights) - 1,)).sort().values
    group_list = torch.cat([cuts, torch.tensor([x.shape[0]])])
    output_dtype = case["output_dtype"]["value"]
    return [
        x,
        weights,
        group_list,
        _tensor(case["bias"]),
        case["scale"]["value"],
        output_dtype and getattr(torch, output_dtype),
    ]


def _tensor(entry: dict) -> "torch.Tensor | None":
    return None if entry["shape"] is None else torch.randn(entry["shape"]).to(getattr(torch, entry["dtype"]))
