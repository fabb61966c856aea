"""A workspace and tables that are made in the first call and used in all."""

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return torch.softmax(x, -1)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.spaces = {}

    def forward(self, x):
        space = self.spaces.setdefault(x.shape, torch.empty(x.shape))
        torch.sub(x, x.amax(-1, keepdim=True), out=space)
        space.exp_()
        return space / space.sum(-1, keepdim=True)


def get_inputs():
    return [torch.randn(64, 100)]
