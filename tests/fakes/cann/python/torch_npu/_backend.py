"""How torch learns of device npu. All of it is private to torch 2.13; other versions may lack it."""

import torch
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

from . import _dispatch
from ._memory import CPU, on_device
from ._runtime import RUNTIME

FIRST = 5  # before torch's own way to load a storage, which would crash without an allocator


class Hooks(torch._C._acc.PrivateUse1Hooks):
    """What torch asks before it touches a device."""

    def is_available(self):
        return RUNTIME.count() > 0

    def has_primary_context(self, index):
        return index in RUNTIME.devices

    def is_built(self):
        return True


def enter(module):
    """Make `module` torch.npu and register every operator; the answer must be kept."""
    hooks = Hooks()
    _setup_privateuseone_for_python_backend("npu", backend_module=module, hook=hooks)
    torch.serialization.register_package(FIRST, where, loaded)
    torch.UntypedStorage.clone = cloned
    return hooks, _dispatch.register()


def where(storage):
    """The location that a file says of a storage of ours."""
    return "npu:%d" % storage.device.index if storage.device.type == "npu" else None


def loaded(storage, location):
    """A storage of a file on the device that `map_location` names, None for a location that is not ours."""
    if not str(location).startswith("npu"):
        return None
    index = torch.device(location).index or 0
    host = torch.empty(0, dtype=torch.uint8, device=CPU).set_(storage)
    return on_device(host, torch.device("npu", index), RUNTIME.device(index).pool).untyped_storage()


def cloned(storage):
    """What UntypedStorage.clone does; for a storage of ours torch would want an allocator."""
    if storage.device.type != "npu":
        return type(storage)(storage.nbytes(), device=storage.device).copy_(storage)
    pool = RUNTIME.device(storage.device.index).pool
    host = torch.empty(0, dtype=torch.uint8, device=CPU).set_(storage._block.host).clone()
    return on_device(host, storage.device, pool).untyped_storage()
