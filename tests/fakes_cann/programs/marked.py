"""Five calls on the emulated device, each in a marker's range and with a note of its own, for the fake msprof."""

import ctypes
import os

import torch
import torch_npu

lib = ctypes.CDLL(os.path.join(os.environ["ASCEND_HOME_PATH"], "lib64", "libms_tools_ext.so"))
lib.mstxDomainCreateA.restype, lib.mstxDomainCreateA.argtypes = ctypes.c_void_p, [ctypes.c_char_p]
lib.mstxDomainRangeStartA.restype = ctypes.c_uint64
lib.mstxDomainRangeStartA.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
lib.mstxDomainRangeEnd.argtypes = [ctypes.c_void_p, ctypes.c_uint64]
domain = lib.mstxDomainCreateA(b"msprun")
x = torch.ones(64, 1000).npu()
torch.npu.synchronize()
for call in range(5):
    mark = lib.mstxDomainRangeStartA(domain, b"c1|new|%d" % call, torch.npu.current_stream().npu_stream)
    torch_npu.fake_note(f"call {call}")
    y = torch.softmax(x, 1)
    for _ in range(call):
        y = y + 1
    torch.npu.synchronize()
    lib.mstxDomainRangeEnd(domain, mark)
print("marks answered" if mark else "nobody listens")
