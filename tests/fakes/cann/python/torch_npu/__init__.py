"""An emulation of torch_npu for tests: torch.npu on any processor, with a device clock whose truth is known."""

import os
import time

if "no_cann" in os.environ.get("FAKE_CANN_FAULT", "").replace(":", ",").replace("@", ",").split(","):
    raise ImportError("libhccl.so: cannot open shared object file: No such file or directory")

from . import npu, profiler
from ._backend import enter
from ._model import Kernel, described
from ._runtime import RUNTIME

__version__ = "2.13.0"
KEPT = enter(npu)
__all__ = ["fake_note", "launch", "npu", "profiler"]


def _autoload():
    """What torch calls when it is imported; importing this package was all."""


def launch(name, compute, *tensors, kind="AI_VECTOR_CORE", duration_us=10.0, block_num=8):
    """A custom kernel of known duration: `compute` gets the host's tensors and answers a tensor, or changes them."""
    from ._arguments import Arguments, tensors_of

    host_ns = time.time_ns()
    taken = Arguments(tensors, {})
    device = RUNTIME.device(taken.index)
    device.check()
    answer = compute(*taken.args)
    given = taken.given(answer, device.pool, npu.torch_device(device.logic))
    inputs, outputs = taken.inputs, tensors_of(given)
    if device.falls_back(name, inputs, outputs, host_ns):
        return given
    mixed = 2 * block_num if kind.startswith("MIX") else 0
    shapes = described(inputs), described(outputs)
    device.operator(name, Kernel(name, name, kind, duration_us, block_num, mixed, *shapes), host_ns)
    return given


def fake_note(text):
    """Tell the truth log something, without any marker."""
    RUNTIME.journal.note(text)
