"""Top-k of numbers with ties: other indices, the same values. The mask leaves indices of ties out."""

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        values, indices = torch.sort(x, dim=-1, descending=True, stable=True)
        return values[:, :8].clone(), indices[:, :8].clone()


class ModelNew(nn.Module):
    def forward(self, x):
        values, indices = torch.sort(x.flip(-1), dim=-1, descending=True, stable=True)
        return values[:, :8].clone(), (x.shape[-1] - 1 - indices[:, :8]).clone()


def get_inputs():
    return [torch.randint(0, 9, (16, 64)).float() / 8]


def mask(inputs, outputs):
    values = outputs[0]
    return [None, (inputs[0].unsqueeze(1) == values.unsqueeze(-1)).sum(-1) == 1]
