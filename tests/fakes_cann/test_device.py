"""The fake NPU does what torch asks of it, and its log says what really happened."""

from __future__ import annotations

import pytest

from tests.cann import Cann

pytestmark = pytest.mark.torch

ORDER = """
import time, torch, torch_npu
x = torch.ones(1024, device="npu")
torch.npu.synchronize()
for name, us in (("first", 300.0), ("second", 70.0), ("first", 300.0)):
    for _ in range(8):
        torch_npu.launch(name, lambda t: t + 1, x, duration_us=us)
torch.npu.synchronize()
"""


def test_kernels_run_in_order_and_take_their_time(tmp_path) -> None:
    cann = Cann(tmp_path, noise=0)
    done = cann.run(ORDER)
    assert done.returncode == 0, done.stderr
    kernels = [k for k in cann.truth("kernel") if k["name"] in ("first", "second")]
    assert [k["name"] for k in kernels] == ["first"] * 8 + ["second"] * 8 + ["first"] * 8
    # The first launches are cold: five, three and one and a half times as slow.
    assert [k["duration_ns"] for k in kernels] == (
        [1_500_000, 900_000, 450_000] + [300_000] * 5 + [350_000, 210_000, 105_000] + [70_000] * 5 + [300_000] * 8
    )
