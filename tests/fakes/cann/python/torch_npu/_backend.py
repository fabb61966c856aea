"""How torch learns of device npu. All of it is private to torch 2.13; other versions may lack it."""

import torch
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

from . import _dispatch
from ._runtime import RUNTIME


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
    return hooks, _dispatch.register()
