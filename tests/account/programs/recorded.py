"""Three cases on the emulated NPU, recorded as a worker records them; the second argument gets the record.

The candidate of the last case is a view, which runs nothing. Notes in the device's log say where each call begins and
ends, without any marker or clock of msprun's.
"""

import json
import sys
from types import SimpleNamespace

import torch
import torch_npu

from msprun.worker.borders import Recorded
from msprun.worker.device import Npu
from msprun.worker.marks import Marks

WITH_MARKS, PLACE = sys.argv[1] == "markers", sys.argv[2]


def noted(function):
    def run(x):
        torch_npu.fake_note("begin")
        function(x)
        torch_npu.fake_note("end")

    return run


def view(x):
    x.view(-1)


def softmax(x):
    torch.softmax(x, -1) + 1


device = Npu(SimpleNamespace(device_id=0, op_timeout_s=None))
marks = Marks(device.stream)
if not WITH_MARKS:
    marks.why = "not wanted"
borders, told = Recorded(device, marks), []
for case, size in enumerate((8, 64, 256)):
    x = torch.ones(size, 1024, device="npu")
    sides = {"reference": softmax, "candidate": view if case == 2 else torch.nn.functional.gelu}
    for function in sides.values():
        function(x)
    borders.begin((case, None, "boost"))
    borders.between("boost", device.boost)
    for side in ("reference", "candidate") * 2 + ("reference", "candidate", "candidate", "reference") * 3:
        borders.begin((case, side, "call"))
        borders.block((noted(sides[side]), (x,), {}), 1)
    told += borders.take()
with open(PLACE, "w") as file:
    json.dump(told, file)
