"""The arguments of one operator: tensors of device npu become the host's tensors over the same memory, and back."""

import torch

from ._memory import CPU, is_npu, on_device, on_host, rebind, same_memory, view_of

MIXED = "Expected all tensors to be on the same device, but found at least two devices, %s and %s!"


class Arguments:
    """`pairs` are (device's tensor, host's tensor, where the latter lay before the operator ran)."""

    def __init__(self, args, kwargs):
        self.pairs = []
        self.inputs = []  # the device's tensors as often as they were given
        self.strangers = []
        self.index = None  # of the device
        self.args = tuple(self.taken(value) for value in args)
        self.kwargs = {key: self.taken(value) for key, value in kwargs.items()}

    def taken(self, value):
        """A value as the host's operator gets it."""
        if isinstance(value, torch.Tensor):
            return self.tensor(value)
        if isinstance(value, (list, tuple)):
            return type(value)([self.taken(part) for part in value])
        if isinstance(value, torch.device) and value.type == "npu":
            self.index = value.index if self.index is None else self.index
            return CPU
        return value

    def tensor(self, value):
        if not is_npu(value):
            if value.dim() > 0:
                self.strangers.append(value)
            return value
        self.inputs.append(value)
        for device, host, _ in self.pairs:
            if device is value:
                return host
        host = on_host(value)
        self.index = value.device.index
        self.pairs.append((value, host, (host.data_ptr(), host.shape, host.stride())))
        return host

    def refuse_mixed(self):
        """Raise RuntimeError where tensors of the host, or of another device, stand among the device's."""
        others = [tensor for tensor in self.inputs + self.strangers if tensor.device.index != self.index]
        if self.pairs and others:
            raise RuntimeError(MIXED % (self.inputs[-1].device, others[0].device))

    def resized(self):
        """Have the device's tensors follow what the operator resized, such as an `out=`."""
        for device, host, before in self.pairs:
            if (host.data_ptr(), host.shape, host.stride()) != before:
                rebind(device, host)

    def given(self, value, pool, device):
        """What an operator returned, on the device."""
        if isinstance(value, torch.Tensor):
            return self.result(value, pool, device)
        if isinstance(value, (list, tuple)):
            return type(value)(self.given(part, pool, device) for part in value)
        return value

    def result(self, value, pool, device):
        """An argument that comes back, a view of one, or a new tensor."""
        for original, host, _ in self.pairs:
            if host is value:
                return original
        if any(value is stranger for stranger in self.strangers):
            return value
        for original, host, _ in self.pairs:
            if same_memory(host, value) and host.dtype == value.dtype:
                return view_of(original, value.storage_offset(), tuple(value.shape), tuple(value.stride()))
        return on_device(value, device, pool)

    def is_new(self, value):
        """Whether a returned host's tensor is memory that no argument had."""
        return not any(host is value or same_memory(host, value) for _, host, _ in self.pairs)


def tensors_of(value):
    """The tensors of an operator's answer."""
    if isinstance(value, torch.Tensor):
        return [value]
    return [part for parts in value for part in tensors_of(parts)] if isinstance(value, (list, tuple)) else []
