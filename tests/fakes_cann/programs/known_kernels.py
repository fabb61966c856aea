"""Launches kernels of known duration, and prints the nanoseconds that the host waited for the first sixteen."""

import time

import torch
import torch_npu

x = torch.ones(1024, device="npu")
torch.npu.synchronize()
start = time.perf_counter_ns()
for name, us in (("first", 300.0), ("second", 70.0)):
    for _ in range(8):
        torch_npu.launch(name, lambda t: t + 1, x, duration_us=us)
torch.npu.synchronize()
print(time.perf_counter_ns() - start)
for _ in range(4):
    time.sleep(0.02)
    torch_npu.launch("first", lambda t: t + 1, x, duration_us=300.0)
torch.npu.synchronize()
