"""Where a tensor's elements lie: copies that keep the strides, memory that two tensors share."""

import torch


def is_plain(tensor):
    """Strided memory that can be read and written element by element."""
    return tensor.layout == torch.strided and not tensor.is_quantized and not tensor.is_nested


def extent(tensor):
    """Elements from the first to the last in memory, gaps included."""
    if tensor.numel() == 0:
        return 0
    return 1 + sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride()))


def span(tensor):
    """Addresses [first, last) of a tensor's memory, None where it has none that can be told."""
    if not is_plain(tensor) or tensor.numel() == 0:
        return None
    start = tensor.data_ptr()
    return start, start + extent(tensor) * tensor.element_size()


def overlaps(one, other):
    """Both reach into one stretch of memory."""
    here, there = span(one), span(other)
    if here is None or there is None or one.device != other.device:
        return False
    return here[0] < there[1] and there[0] < here[1]


def once(tensor):
    """A view in which the elements of an expanded tensor stand once, so that it can be written."""
    for place, (size, stride) in enumerate(zip(tensor.shape, tensor.stride())):
        if size > 1 and stride == 0:
            tensor = tensor.narrow(place, 0, 1)
    return tensor


def write(target, values):
    """Copy values of the same shape into a tensor, outside of autograd."""
    with torch.no_grad():
        if is_plain(target) and is_plain(values) and 0 in target.stride():
            values = narrowed(values, target)
            target = once(target)
        target.copy_(values)


def narrowed(values, target):
    """The values that belong to `once(target)`."""
    for place, (size, stride) in enumerate(zip(target.shape, target.stride())):
        if size > 1 and stride == 0:
            values = values.narrow(place, 0, 1)
    return values


def laid(values, strides):
    """Values in new memory with those strides; gaps hold zeros, a stride of 0 keeps the first of its elements."""
    reach = 1 + sum((size - 1) * stride for size, stride in zip(values.shape, strides)) if values.numel() else 0
    memory = torch.zeros(reach, dtype=values.dtype, device=values.device)
    target = memory.as_strided(tuple(values.shape), tuple(strides))
    if values.numel():
        write(target, values)
    return target


def twin(tensor):
    """A copy in memory of its own with the same strides."""
    tensor = tensor.detach()
    if not is_plain(tensor):
        return tensor.clone()
    copy = tensor.clone()
    return copy if copy.stride() == tensor.stride() else laid(tensor, tensor.stride())
