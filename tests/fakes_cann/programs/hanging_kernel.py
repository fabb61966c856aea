"""Sets a time limit for operators, waits for one that hangs, and tries another afterwards."""

import time

import acl
import torch

x = torch.ones(8, 8, device="npu")
print("acl", acl.rt.set_op_execute_time_out(1))
torch.softmax(x, -1)
torch.npu.synchronize()
start = time.perf_counter()
torch.softmax(x, -1)
try:
    torch.npu.synchronize()
except RuntimeError as error:
    print(time.perf_counter() - start)
    print(error)
try:
    x + 1
except RuntimeError:
    print("add failed too")
