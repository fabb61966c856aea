"""A static output buffer: honest, though two outputs cannot be held at a time."""

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return torch.softmax(x, -1)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.out = torch.empty(64, 100)

    def forward(self, x):
        return self.out.copy_(torch.softmax(x, -1))


def get_inputs():
    return [torch.randn(64, 100)]
