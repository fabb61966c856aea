"""Waits for a kernel that fails, and tries to go on."""

import torch
import torch_npu

x = torch.ones(8, device="npu")
torch_npu.launch("mine", torch.neg, x)
torch.npu.synchronize()
torch_npu.launch("mine", torch.neg, x)
try:
    torch.npu.synchronize()
except RuntimeError as error:
    print(error)
for attempt in (lambda: x + 1, lambda: x.cpu()):
    try:
        attempt()
    except RuntimeError:
        print("poisoned")
