"""Calls that are forward and backward."""

from __future__ import annotations

import sys
from typing import Any

import pytest
import torch

from msprun.worker.seeding import generator

MODEL = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 3)
    def forward(self, x, index):
        return torch.tanh(self.linear(x)) * index
def get_inputs():
    return [torch.randn(5, 4), torch.tensor([1, 2, 3])]
"""
NEW = MODEL.split("def get_inputs")[0].replace("Model", "ModelNew")


def ready(bench: Any, new: str = NEW, model: str = MODEL, **more: Any) -> tuple[Any, Any]:
    bench.write(model, new)
    session = bench.session(grad=True, **more)
    session.load(0)
    digest = None
    for side in ("reference", "candidate"):
        session.construct(0, side)
        digest = session.first(0, side).get("hash") or digest
    return session, digest


def test_outputs_and_gradients_of_inputs_and_parameters_are_compared_by_name(bench: Any) -> None:
    session, digest = ready(bench)
    leaves = {leaf.path: leaf.tensor for leaf in session.cases[0].sides["candidate"].outputs}
    assert list(leaves) == [
        "output", "gradient of inputs[0]", "gradient of linear.weight", "gradient of linear.bias",
    ]  # fmt: skip
    model = session.cases[0].sides["reference"].model
    x = session.cases[0].tensors[0][1].detach().clone().requires_grad_()
    cotangent = torch.randn((5, 3), generator=generator(0, 0, "cotangent/0"))
    (torch.tanh(model.linear(x)) * torch.tensor([1, 2, 3]) * cotangent).sum().backward()
    assert torch.allclose(leaves["gradient of inputs[0]"], x.grad)
    assert torch.allclose(leaves["gradient of linear.weight"], model.linear.weight.grad)
    for do in (session.check, session.attack, session.recheck):
        assert do(0, "candidate", None, digest)["state"] == "correct"


def test_a_wrong_backward_is_incorrect_although_the_forward_is_right(bench: Any) -> None:
    wrong = NEW.replace("self.linear(x)", "self.linear(x * 2 - x.detach())")
    session, digest = ready(bench, wrong)
    found = session.check(0, "candidate", None, digest)
    assert found["state"] == "incorrect" and found["figures"]["leaf"] == "gradient of inputs[0]"


def test_an_output_cut_off_from_its_inputs_has_no_gradients(bench: Any) -> None:
    session, digest = ready(bench, NEW.replace("* index", "* index + 0").replace("return", "x = x.detach(); return"))
    found = session.check(0, "candidate", None, digest)
    assert (found["state"], found["figures"]["leaf"]) == ("structure_differs", "gradient of inputs[0]")


def test_the_clock_covers_forward_and_backward(bench: Any) -> None:
    slow = (
        NEW.replace("return torch.tanh", "return Slow.apply(self.linear(x)) + 0 * torch.tanh")
        + """
class Slow(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1
    @staticmethod
    def backward(ctx, grad):
        import time
        time.sleep(0.02)
        return grad
"""
    )
    session, _ = ready(bench, slow)
    assert session.time(0, [["candidate", 2]])["elapsed_ns"][0] >= 40e6
    names = {row["name"] for row in session.breakdown(0, "reference")["operators"]}
    assert any("Backward" in name for name in names)


def test_the_golden_run_has_gradients_too(bench: Any) -> None:
    model = """
class Model(nn.Module):
    def forward(self, x, y):
        return x @ y
def get_inputs():
    return [torch.randn(64, 512), torch.randn(512, 64)]
"""
    new = model.split("def get_inputs")[0].replace("Model", "ModelNew")
    split = "x[:, :256] @ y[:256] + x[:, 256:] @ y[256:]"
    session, digest = ready(bench, new.replace("x @ y", split), model)
    found = session.check(0, "candidate", None, digest)
    assert (found["state"], found["rule"]) == ("correct", "double L0")


def test_rotated_copies_have_gradients_of_their_own(bench: Any) -> None:
    noisy = "seen = []\n" + NEW.replace("return", "seen.append((x.data_ptr(), x.requires_grad, x.is_leaf)); return")
    session, _ = ready(bench, noisy, cache="rotate")
    session.time(0, [["candidate", 3]])
    assert len(set(sys.modules["model_new_ascendc"].seen[-3:])) == 3
    assert all(asks and leaf for _, asks, leaf in sys.modules["model_new_ascendc"].seen)


def test_an_operator_without_floating_numbers_has_no_gradient(bench: Any, refused: Any) -> None:
    model = "class Model(nn.Module):\n    def forward(self, x):\n        return x\n"
    bench.write(model + "def get_inputs():\n    return [torch.ones(3, dtype=torch.int64)]\n", "")
    session = bench.session(grad=True)
    session.load(0)
    assert "no gradient" in str(refused(session.construct, 0, "reference").error)


@pytest.mark.parametrize("grad", [True, False])
def test_only_gradients_that_were_asked_for(bench: Any, grad: bool) -> None:
    bench.write(MODEL, NEW.replace("return", "self.mode = torch.is_grad_enabled(); return"))
    session = bench.session(grad=grad)
    session.load(0)
    session.construct(0, "candidate")
    session.first(0, "candidate")
    assert session.cases[0].sides["candidate"].model.mode is grad
    assert session.cases[0].tensors[0][1].requires_grad is grad
