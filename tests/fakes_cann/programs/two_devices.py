"""Works on the second of two devices that a mask leaves."""

import torch

assert torch.npu.device_count() == 2
torch.npu.set_device(1)
x = torch.ones(4, device="npu")
layer = torch.nn.Linear(4, 4).to("npu:1")
with torch.no_grad():
    y = layer(x + torch.ones(4).to("npu:1"))
assert {t.device.index for t in (x, y, x.clone(), y.t(), torch.empty_like(y))} == {1}
z = torch.ones(4, device="npu:0")
assert z.to("npu:1").cpu().tolist() == [1.0] * 4
try:
    x + z
    raise SystemExit("tensors of two devices were added")
except RuntimeError as error:
    print(error)
