"""torch.npu: devices, streams, events, memory."""

import os

import torch

from .._runtime import RUNTIME
from .mstx import mstx
from .streams import Event, Stream, current_stream, default_stream, set_stream, stream

__all__ = ["Event", "Stream", "current_stream", "default_stream", "set_stream", "stream"]
if os.environ.get("FAKE_CANN_MSTX_API") == "none":
    del mstx
else:
    __all__ += ["mstx"]


def torch_device(index):
    """The torch.device of a device."""
    return torch.device("npu", index)


def number(device):
    """The index that a user means: None, 1, "npu:1" or a torch.device."""
    if device is None:
        return RUNTIME.index
    if isinstance(device, int):
        return device
    index = torch.device(device).index
    return RUNTIME.index if index is None else index


def is_available():
    return RUNTIME.count() > 0


def is_initialized():
    return bool(RUNTIME.devices)


def init():
    RUNTIME.device()


def _is_in_bad_fork():
    return False


def device_count():
    return RUNTIME.count()


def current_device():
    RUNTIME.device()
    return RUNTIME.index


def set_device(device):
    """Raises RuntimeError for a device that is not there."""
    index = number(device)
    RUNTIME.device(index)
    RUNTIME.index = index


class device:
    """Context manager that changes the current device."""

    def __init__(self, device):
        self.index = number(device)

    def __enter__(self):
        self.before = RUNTIME.index
        set_device(self.index)

    def __exit__(self, *_):
        RUNTIME.index = self.before


def synchronize(device=None):
    RUNTIME.device(number(device)).synchronize()


def get_device_name(device=None):
    RUNTIME.device(number(device))
    return RUNTIME.settings.chip.name


class Properties:
    """What get_device_properties answers."""

    def __init__(self, chip, total):
        self.name = chip.name
        self.total_memory = total
        self.cube_core_num = chip.cube_cores
        self.vector_core_num = chip.vector_cores
        self.L2_cache_size = 192 << 20


def get_device_properties(device=None):
    pool = RUNTIME.device(number(device)).pool
    return Properties(RUNTIME.settings.chip, pool.limit)


def mem_get_info(device=None):
    """(free, total) bytes."""
    emulated = RUNTIME.device(number(device))
    return emulated.pool.limit - emulated.pool.used, RUNTIME.settings.hbm_bytes


def memory_allocated(device=None):
    return RUNTIME.device(number(device)).pool.used


memory_reserved = memory_allocated


def max_memory_allocated(device=None):
    return RUNTIME.device(number(device)).pool.peak


def reset_peak_memory_stats(device=None):
    pool = RUNTIME.device(number(device)).pool
    pool.peak = pool.used


def empty_cache():
    """Nothing is kept, so there is nothing to give back."""


def manual_seed(seed):
    from .._dispatch import GENERATOR

    GENERATOR.manual_seed(seed)


manual_seed_all = manual_seed


def set_op_timeout_ms(timeout):
    """The longest that an operator may run."""
    RUNTIME.timeout_ns = int(timeout) * 1_000_000


def get_amp_supported_dtype():
    return [torch.float16, torch.bfloat16, torch.float32]
