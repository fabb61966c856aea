"""A sum in float64, against a reference whose float32 sum rounds at every step."""

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return x.cumsum(-1)[:, -1].clone()


class ModelNew(nn.Module):
    def forward(self, x):
        return x.double().sum(-1).float()


def get_inputs():
    return [torch.randn(8, 4096)]
