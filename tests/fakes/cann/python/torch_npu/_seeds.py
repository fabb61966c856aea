"""Empty tensors of any device npu:N, from which others are made.

torch's own maker of such tensors knows npu:0 alone; DLPack, whose type of an unknown device torch takes for ours, knows
all.
"""

import ctypes

import torch

KEPT = []  # what torch never gives back
UNKNOWN_DEVICE = 12  # kDLExtDev
BYTES = 16  # of one element of the largest dtype


class Device(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int32), ("index", ctypes.c_int32)]


class Dtype(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class Content(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", Device),
        ("ndim", ctypes.c_int32),
        ("dtype", Dtype),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class Managed(ctypes.Structure):
    _fields_ = [("content", Content), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


def bytes_on(index):
    """A tensor of sixteen bytes that claims to lie on npu:index."""
    memory, shape, strides = (ctypes.c_uint8 * BYTES)(), (ctypes.c_int64 * 1)(BYTES), (ctypes.c_int64 * 1)(1)
    content = Content(ctypes.addressof(memory), Device(UNKNOWN_DEVICE, index), 1, Dtype(1, 8, 1), shape, strides, 0)
    managed = Managed(content, None, None)
    KEPT.append((memory, shape, strides, managed))
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return torch.utils.dlpack.from_dlpack(new(ctypes.addressof(managed), b"dltensor", None))


class Seeds:
    """One tensor a device and dtype."""

    def __init__(self):
        self.known = {}

    def take(self, index, dtype):
        """The seed; it is for making views of it alone."""
        key = index, dtype
        if key not in self.known:
            self.known[key] = bytes_on(index).view(dtype)
        return self.known[key]


SEEDS = Seeds()
