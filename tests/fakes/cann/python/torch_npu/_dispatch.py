"""Every operator of torch on device npu: computed by the host's kernel at once, timed on the device's own clock."""

import functools
import time

import torch
from torch import library

from ._arguments import Arguments, tensors_of
from ._copies import DIRECT, attention_with_gradients
from ._memory import CPU, HOST_KERNELS
from ._runtime import RUNTIME

NO_KERNELS = {
    "empty", "empty_strided", "new_empty_strided", "resize_", "record_stream", "is_pinned", "pin_memory",
    "_pin_memory", "_has_compatible_shallow_copy_type", "size", "is_set_to",
}  # fmt: skip
TAKE_HOST_INDICES = {"index", "index_put_", "index_put", "_index_put_impl_", "_unsafe_index", "_unsafe_index_put"}
REDISPATCHED = ("as_strided", "view", "_reshape_alias", "_unsafe_view", "unfold", "set_")
LARGE = 1 << 27  # multiplications
GENERATOR = torch.Generator(device="cpu")


class Operator:
    """What must be known of one overload."""

    def __init__(self, op):
        schema = op._schema
        self.op = op
        self.full = schema.name
        self.word = schema.name.partition("::")[2]
        self.is_random = any(argument.name == "generator" for argument in schema.arguments)
        self.is_mutable = schema.is_mutable
        self.answers = [str(value.type) for value in schema.returns]
        self.has_kernel = self.word not in NO_KERNELS

    def __call__(self, *args, **kwargs):
        """Compute on the host, put the kernel on the device, answer tensors of the device."""
        host_ns = time.time_ns()
        taken = Arguments(args, kwargs)
        device = RUNTIME.device(taken.index)
        device.check()
        if self.word not in TAKE_HOST_INDICES:
            taken.refuse_mixed()
        if self.is_random and taken.kwargs.get("generator") is None:
            taken.kwargs["generator"] = GENERATOR
        answer = spared(self.word, taken.inputs, taken.args)
        if answer is None:
            answer = self.op(*taken.args, **taken.kwargs)
        taken.resized()
        given = taken.given(answer, device.pool, torch.device("npu", device.logic))
        if self.has_kernel and self.computes(taken, answer):
            self.launch(device, taken, tensors_of(given), host_ns)
        return given

    def computes(self, taken, answer):
        """Whether the operator did more than look at shapes."""
        found = tensors_of(answer)
        if self.is_mutable:
            found = found or [host for _, host, _ in taken.pairs]
            return any(tensor.numel() for tensor in found)
        if not found:
            return any(host.numel() for _, host, _ in taken.pairs)
        return any(tensor.numel() and taken.is_new(tensor) for tensor in found)

    def launch(self, device, taken, outputs, host_ns):
        """The kernel, or what a fault makes of it; an answer that is no tensor is waited for."""
        inputs = taken.inputs
        if device.falls_back(self.word, inputs, outputs, host_ns):
            return
        kernel = device.model.of_operator(self.word, inputs, outputs)
        device.operator(self.word, kernel, host_ns)
        if self.answers and not outputs:
            device.time.copy(device.stream, "D2H", 8, time.time_ns())
            device.synchronize()


def spared(word, tensors, hosts):
    """The product of two large matrices of one number each, which hosts take minutes for; None for all else."""
    if word != "mm" or hosts[0].numel() * hosts[1].shape[1] < LARGE:
        return None
    values = [the_one_number(*pair) for pair in zip(tensors, hosts)]
    if None in values:
        return None
    number = values[0] * values[1] * hosts[0].shape[1]
    return torch.full((hosts[0].shape[0], hosts[1].shape[1]), number, dtype=hosts[0].dtype, device=CPU)


def the_one_number(tensor, host):
    """What all elements are, None where they differ; looked at once for contents that stay."""
    block, now = tensor.untyped_storage()._block, (tensor._version, host.storage_offset(), tuple(host.shape))
    if block.seen is None or block.seen[0] != now:
        low, high = (float(value) for value in host.aminmax())
        block.seen = now, low if low == high else None
    return block.seen[1]


@functools.lru_cache(maxsize=None)
def operator(op):
    """The Operator of an overload."""
    return Operator(op)


def fallback(op, *args, **kwargs):
    """What the dispatcher calls for every overload that has no kernel of its own."""
    return operator(op)(*args, **kwargs)


def structural(op):
    """The host's own kernel on the device's tensor: it makes a view and looks at no element."""

    def run(*args, **kwargs):
        return op.redispatch(HOST_KERNELS, *args, **kwargs)

    return run


def overload(name):
    """The overload of a name such as `aten::add.out`."""
    space, _, rest = name.partition("::")
    packet, _, variant = rest.partition(".")
    return getattr(getattr(getattr(torch.ops, space), packet), variant or "default")


def register():
    """Register with the dispatcher; the libraries live as long as somebody keeps them.

    Operators that torch would take apart for a device without a kernel, but that have one on the host, are one kernel
    on the device too.
    """
    everything, aten = library.Library("_", "IMPL"), library.Library("aten", "IMPL")
    everything.fallback(fallback, "PrivateUse1")
    done = set(DIRECT)
    for name, function in DIRECT.items():
        aten.impl(name, function, "PrivateUse1")
    for key in ("Conjugate", "Negative"):  # else torch resolves by a copy, and so for ever
        aten.impl("_copy_from", library.fallthrough_kernel, key)
    aten.impl("scaled_dot_product_attention", attention_with_gradients, "AutogradPrivateUse1")
    has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key
    for name in torch._C._dispatch_get_all_op_names():
        if not name.startswith("aten::") or name[6:] in done or not has_kernel(name, "CPU"):
            continue
        if name[6:].partition(".")[0] in REDISPATCHED and has_kernel(name, "CPU"):
            aten.impl(name[6:], structural(overload(name)), "PrivateUse1")
        elif torch._C._dispatch_has_computed_kernel_for_dispatch_key(name, "PrivateUse1"):
            aten.impl(name[6:], operator(overload(name)), "PrivateUse1")
    return everything, aten
