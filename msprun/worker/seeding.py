"""Random numbers that neither imports nor the other side can shift."""

import hashlib
import random
import sys

import torch


def seed_everything(seed):
    """Seed torch with its devices, `random`, and numpy where it is loaded."""
    torch.manual_seed(seed)
    random.seed(seed)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(seed % 2**32)


def generator(seed, case, name):
    """The generator of one argument of one case."""
    digest = hashlib.blake2b(("%s/%s/%s" % (seed, case, name)).encode(), digest_size=8).digest()
    return torch.Generator().manual_seed(int.from_bytes(digest, "big") >> 1)
