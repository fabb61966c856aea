"""Returns the memory of its input where the reference makes an output of its own."""

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return x.clone()


class ModelNew(nn.Module):
    def forward(self, x):
        return x.view(x.shape)


def get_inputs():
    return [torch.randn(8, 8)]
