"""A case whose sides do not fit into memory together: what all of them hold is let go before one is made again."""

import gc

import torch

from .construct import weights_of
from .watch import REFERENCE


def let_go(case, host):
    """Have no side of a case in memory, but keep what its first call told.

    The reference's weights, as they are the first time, stay on the host, for every other side gets them. On the
    processor they stay where they are.
    """
    for name, side in case.sides.items():
        if name == REFERENCE and side.model is not None and case.weights is None:
            case.weights = on_host(weights_of(side.model))
        side.empty()
    case.rotation = None
    gc.collect()
    host.give_back()


def on_host(weights):
    """Weights whose tensors lie on the CPU."""
    if weights is None:
        return None
    return {key: value.cpu() if isinstance(value, torch.Tensor) else value for key, value in weights.items()}
