"""Operators that allocate, copy or have no kernel on the host: each by hand."""

import time

import torch

from ._memory import CPU, is_npu, on_device, on_host, rebind
from ._model import VECTOR, Kernel, described
from ._runtime import RUNTIME


def device_of(device):
    """(Device, torch.device) for what a factory was given, None meaning the current one."""
    index = RUNTIME.index if device is None or device.index is None else device.index
    return RUNTIME.device(index), torch.device("npu", index)


def empty(size, dtype=None, layout=None, device=None, pin_memory=None, memory_format=None):
    """aten::empty.memory_format"""
    emulated, where = device_of(device)
    made = torch.empty(size, dtype=dtype or torch.get_default_dtype(), device=CPU)
    if memory_format is not None and memory_format != torch.preserve_format:
        made = made.contiguous(memory_format=memory_format)
    return on_device(made, where, emulated.pool)


def empty_strided(size, stride, dtype=None, layout=None, device=None, pin_memory=None):
    """aten::empty_strided"""
    emulated, where = device_of(device)
    made = torch.empty_strided(size, stride, dtype=dtype or torch.get_default_dtype(), device=CPU)
    return on_device(made, where, emulated.pool)


def resize(tensor, size, memory_format=None):
    """aten::resize_"""
    host = on_host(tensor)
    before = host.untyped_storage().data_ptr()
    host.resize_(size)
    if host.untyped_storage().data_ptr() != before or host.shape != tensor.shape:
        rebind(tensor, host)
    return tensor


def copy_from(source, target, non_blocking=False):
    """aten::_copy_from: between host and device, or on the device."""
    host_ns = time.time_ns()
    from_npu, to_npu = is_npu(source), is_npu(target)
    device = RUNTIME.device((source if from_npu else target).device.index)
    device.check()
    (on_host(target) if to_npu else target).copy_(resolved(source) if from_npu else source)
    size = source.numel() * source.element_size()
    if not size:
        return target
    if from_npu and to_npu:
        on_the_device(device, source, target, host_ns)
        return target
    if from_npu and not non_blocking:
        device.synchronize()
    device.time.copy(device.stream, "D2H" if from_npu else "H2D", size, host_ns)
    if not non_blocking:
        device.synchronize()
    return target


def resolved(tensor):
    """A tensor's values on the host where conjugation and sign may be put off until somebody reads them."""
    host = on_host(tensor)
    host = host.conj() if tensor.is_conj() else host
    return torch._neg_view(host) if tensor.is_neg() else host


def on_the_device(device, source, target, host_ns):
    """A plain copy where both lie alike, else a kernel."""
    alike = source.dtype == target.dtype and source.shape == target.shape and source.stride() == target.stride()
    if alike and source.is_contiguous():
        device.time.copy(device.stream, "D2D", source.numel() * source.element_size(), host_ns)
        return
    word = "Cast" if source.dtype != target.dtype else "ViewCopy"
    size = source.numel() * source.element_size() + target.numel() * target.element_size()
    us = 2.0 + size / device.model.chip.bandwidth
    blocks = device.model.blocks(VECTOR, target.numel())
    name = "aclnnInplaceCopy_%sAiCore_%s" % (word, word)
    kernel = Kernel(name, word, VECTOR, us, blocks[0], blocks[1], described([source]), described([target]))
    device.operator(word, kernel, host_ns)


def copy_from_and_resize(source, target):
    """aten::_copy_from_and_resize"""
    target.resize_(source.shape)
    return copy_from(source, target)


def local_scalar(tensor):
    """aten::_local_scalar_dense: what `.item()` reads."""
    host_ns = time.time_ns()
    device = RUNTIME.device(tensor.device.index)
    device.synchronize()
    device.time.copy(device.stream, "D2H", tensor.element_size(), host_ns)
    device.synchronize()
    return on_host(tensor).item()


def convolution(*args, **kwargs):
    """aten::convolution_overrideable"""
    from ._dispatch import operator

    return operator(torch.ops.aten.convolution.default)(*args, **kwargs)


def convolution_backward(grad, inputs, weight, stride, padding, *rest):
    """aten::convolution_backward_overrideable"""
    from ._dispatch import operator

    return operator(torch.ops.aten.convolution_backward.default)(grad, inputs, weight, [0], stride, padding, *rest)


def attention(*args, **kwargs):
    """aten::scaled_dot_product_attention: one fused kernel."""
    from ._dispatch import operator

    return operator(torch.ops.aten.scaled_dot_product_attention.default)(*args, **kwargs)


def attention_with_gradients(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, **more):
    """The same where gradients may be wanted: then the definition, step by step."""
    if torch.is_grad_enabled() and any(tensor.requires_grad for tensor in (query, key, value)):
        step_by_step = torch.ops.aten._scaled_dot_product_attention_math
        return step_by_step(query, key, value, attn_mask, dropout_p, is_causal, **more)[0]
    with torch._C._AutoDispatchBelowAutograd():
        return attention(query, key, value, attn_mask, dropout_p, is_causal, **more)


DIRECT = {
    "empty.memory_format": empty,
    "empty_strided": empty_strided,
    "resize_": resize,
    "_copy_from": copy_from,
    "_copy_from_and_resize": copy_from_and_resize,
    "_local_scalar_dense": local_scalar,
    "convolution_overrideable": convolution,
    "convolution_backward_overrideable": convolution_backward,
    "scaled_dot_product_attention": attention,
}
