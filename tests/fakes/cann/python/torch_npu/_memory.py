"""Tensors of device npu over memory of the host: real strides, offsets and addresses, and a count of what is in use."""

import torch

from . import _errors
from ._seeds import SEEDS

CPU = torch.device("cpu")
HOST_KERNELS = torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)
ATEN = torch.ops.aten
STRIDE_BYTES = 512  # the allocator's unit


class Pool:
    """What one device's tensors take, in bytes; raises torch.OutOfMemoryError at the limit."""

    def __init__(self, limit):
        self.limit = limit
        self.used = 0
        self.peak = 0

    def take(self, size):
        """Count `size` bytes; what the allocator hands out is larger."""
        size = -(-size // STRIDE_BYTES) * STRIDE_BYTES
        if self.used + size > self.limit:
            raise torch.OutOfMemoryError(_errors.out_of_memory(size, self.limit, self.used))
        self.used += size
        self.peak = max(self.peak, self.used)
        return size


class Block:
    """Keeps the host's storage alive for as long as the device's; hung on the latter."""

    def __init__(self, pool, host):
        self.pool = pool
        self.host = host
        self.seen = None
        self.size = pool.take(host.nbytes())

    def __del__(self):
        if hasattr(self, "size"):
            self.pool.used -= self.size


def is_npu(value):
    return isinstance(value, torch.Tensor) and value.device.type == "npu"


def on_device(host, device, pool):
    """A tensor of device npu that shares the memory of a strided tensor of the host."""
    held = host.untyped_storage()
    block = Block(pool, held)
    storage = torch._C._construct_storage_from_data_pointer(held.data_ptr(), device, held.nbytes())
    storage._block = block
    if torch.is_inference_mode_enabled():  # an inference tensor could be no weight later
        with torch.inference_mode(False):
            return over(host, storage)
    return over(host, storage)


def over(host, storage):
    """A tensor over a storage, laid out like the host's."""
    if storage.device.index == 0:
        made = torch._C._acc.create_empty_tensor((0,), host.dtype)
    else:
        made = view_of(SEEDS.take(storage.device.index, host.dtype), 0, (0,), (1,))
    place = host.storage_offset(), tuple(host.shape), tuple(host.stride())
    ATEN.set_.source_Storage_storage_offset.redispatch(HOST_KERNELS, made, storage, *place)
    return made


def view_of(tensor, offset, shape, stride):
    """A tensor over the same memory, by the host's own kernel, which looks at no element."""
    return ATEN.as_strided.default.redispatch(HOST_KERNELS, tensor, shape, stride, offset)


def on_host(tensor):
    """The host's tensor over the memory of one of device npu."""
    storage = tensor.untyped_storage()
    block = getattr(storage, "_block", None)
    seed = torch.empty(0, dtype=tensor.dtype, device=CPU)
    if block is None:
        return seed.reshape(tuple(tensor.shape))
    return seed.set_(block.host, tensor.storage_offset(), tuple(tensor.shape), tuple(tensor.stride()))


def rebind(tensor, host):
    """Give a tensor of device npu the storage, shape and strides that its host tensor has now."""
    fresh = on_device(host, tensor.device, tensor.untyped_storage()._block.pool)
    place = host.storage_offset(), tuple(host.shape), tuple(host.stride())
    ATEN.set_.source_Storage_storage_offset.redispatch(HOST_KERNELS, tensor, fresh.untyped_storage(), *place)


def same_memory(one, other):
    """Both lie in one storage of the host."""
    return one.untyped_storage().data_ptr() == other.untyped_storage().data_ptr() != 0
