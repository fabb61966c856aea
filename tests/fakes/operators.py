"""Operator folders written by hand, as a user would."""

from __future__ import annotations

import json
from pathlib import Path

ADD = """
import torch


class Model(torch.nn.Module):
    def forward(self, x, y):
        return x + y
"""

SOUND = """
import torch


class ModelNew(torch.nn.Module):
    def forward(self, x, y):
        return torch.add(x, y)
"""

WRONG = """
import torch


class ModelNew(torch.nn.Module):
    def forward(self, x, y):
        return x + y + 1
"""

# The first element of x, which is the number of the case, says what to do.
DEADLY = """
import ctypes
import os
import signal
import sys
import time

import torch


class ModelNew(torch.nn.Module):
    def forward(self, x, y):
        fate = int(x.reshape(-1)[0])
        if fate == 1:
            ctypes.string_at(0)
        if fate == 2:
            os.abort()
        if fate == 3:
            while True:
                time.sleep(0.01)
        if fate == 4:
            sys.exit("enough")
        if fate == 5:
            os.kill(os.getpid(), signal.SIGKILL)
        if fate == 6:
            raise ValueError("no kernel for this shape")
        if fate == 7:
            os._exit(0)
        return torch.add(x, y)
"""

# Memory for one model at a time, unless the first element of x is 0; with 2 there, none for the candidate's at all.
NARROW = """
import weakref

import torch

ALIVE = weakref.WeakSet()


def need_room(fate, most):
    if fate and len(ALIVE) > most:
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 8 bytes.")


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        ALIVE.add(self)

    def forward(self, x, y):
        need_room(int(x.reshape(-1)[0]), 1)
        return x + y
"""

NARROW_NEW = """
import torch
from model import ALIVE, need_room


class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        ALIVE.add(self)

    def forward(self, x, y):
        fate = int(x.reshape(-1)[0])
        need_room(fate, 0 if fate == 2 else 1)
        return torch.add(x, y)
"""


def case(value: float, shape: list[int] | None = None, dtype: str = "float32") -> dict[str, object]:
    """A case of two tensors, the first of them filled with `value`."""
    size = [4, 5] if shape is None else shape
    one = {"name": "x", "type": "tensor", "dtype": dtype, "shape": size, "range_values": value}
    two = {"name": "y", "type": "tensor", "dtype": dtype, "shape": size}
    return {"inputs": [one, two]}


def write(folder: Path, candidate: str, cases: list[dict[str, object]] | None, reference: str = ADD) -> Path:
    """An operator folder; `cases` None leaves out the cases file."""
    folder.mkdir(parents=True)
    (folder / "model.py").write_text(reference)
    (folder / "model_new_ascendc.py").write_text(candidate)
    if cases is not None:
        lines = "".join(json.dumps(c) + "\n" for c in cases)
        (folder / f"{folder.name}_perf_cases.jsonl").write_text(lines)
    return folder
