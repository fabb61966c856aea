"""As much of pyACL as programs beside torch_npu ask; functions answer ACL codes, 0 being well."""

import os

if "no_acl" in os.environ.get("FAKE_CANN_FAULT", "").split(","):
    raise ImportError("No module named 'acl'")

from . import rt

__all__ = ["rt"]


def init(path=None):
    return 0


def finalize():
    return 0


def get_soc_name():
    from torch_npu import npu

    return npu.get_device_name()
