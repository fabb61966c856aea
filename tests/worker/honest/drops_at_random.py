"""Random numbers, drawn alike by both sides."""

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return nn.functional.dropout(x, 0.5, training=True)


class ModelNew(nn.Module):
    def forward(self, x):
        return nn.functional.dropout(x, 0.5, training=True).clone()


def get_inputs():
    return [torch.randn(64, 64)]
