"""Threads of its own that are done when the call returns, and a pool that lives on."""

from concurrent.futures import ThreadPoolExecutor

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return torch.softmax(x, -1)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.pool = ThreadPoolExecutor(2)

    def forward(self, x):
        return torch.cat(list(self.pool.map(lambda part: torch.softmax(part, -1), x.chunk(2))))


def get_inputs():
    return [torch.randn(64, 100)]
