"""Runs operators that faults name, and asks for more memory than there is."""

import torch
import torch_npu

x = torch.ones(1024, device="npu")
for _ in range(4):
    x * 2
assert torch.allclose(torch.exp(x).cpu(), torch.exp(torch.ones(1024)))
for _ in range(4):
    torch_npu.launch("known", torch.neg, x, duration_us=10.0)
torch.npu.synchronize()
try:
    torch.empty(250 << 20, dtype=torch.uint8, device="npu")
except torch.OutOfMemoryError as error:
    print(error)
