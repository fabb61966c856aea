"""Contents that no call has seen, time and again: what a side does with them, and with those it knows."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from msprun.model.measurement import FreshCall
from msprun.stat.likeness import FRESH_LOOKS, uneven_by_contents

INPUTS = "\ndef get_inputs():\n    return [torch.randn(128, 128)]\n"
WORK = """
def work(x):
    for _ in range(30):
        x = torch.tanh(x @ x)
    return x
"""
HONEST = """
class Model(nn.Module):
    def forward(self, x):
        return work(x)
"""
# An exact comparison, so that every output is right, and the whole work for every new input.
REPLAYS = """
class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.known = []
    def forward(self, x):
        for seen, made in self.known:
            if torch.equal(seen, x):
                return made
        self.known.append((x.clone(), work(x)))
        return self.known[-1][1]
"""
FORGETS = REPLAYS.replace("self.known.append(", "self.known = [").replace("work(x)))", "work(x))]")
WORKSPACE = """
class ModelNew(nn.Module):
    def forward(self, x):
        if not hasattr(self, "room"):
            self.room = torch.empty_like(x)
        self.room.copy_(x)
        return work(self.room)
"""


def looked(bench: Any, candidate: str) -> dict[str, list[FreshCall]]:
    """What a parent sees that looks at both sides in turn."""
    bench.write(WORK + HONEST + INPUTS, WORK + candidate)
    session = bench.session()
    session.load(0)
    found: dict[str, list[FreshCall]] = {"reference": [], "candidate": []}
    for side in found:
        session.construct(0, side)
        session.first(0, side)
    for _ in range(1 + FRESH_LOOKS):
        for side, looks in found.items():
            told = session.breakdown(0, side)
            looks.append(FreshCall(fresh_us=told["fresh_us"], again_us=told["wall_us"]))
    return found


@pytest.mark.parametrize("candidate", [REPLAYS, FORGETS], ids=["all", "the last"])
def test_replaying_contents_that_were_seen_is_uneven_however_many_are_kept(bench: Any, candidate: str) -> None:
    """gpu-mode/kernelbot#501 and tensara/tensara#238: the cache key is a fingerprint of the contents.

    AMD-AGI/GEAK#208 and #178: host-side caching gave 1.31 times by wall time, with a kernel that was 8.7 times slower.
    """
    seen = looked(bench, candidate)
    remark = uneven_by_contents(seen["candidate"], seen["reference"], "candidate")
    assert remark is not None and remark.figures["fresh_us"] > 2 * remark.figures["again_us"]
    assert uneven_by_contents(seen["reference"], seen["candidate"], "reference") is None


def test_a_workspace_that_is_kept_is_no_result_that_is_kept(bench: Any) -> None:
    seen = looked(bench, WORKSPACE)
    assert uneven_by_contents(seen["candidate"], seen["reference"], "candidate") is None


def test_every_look_has_contents_of_its_own_and_leaves_the_first_ones(bench: Any) -> None:
    bench.write(HONEST.replace("work(x)", "seen.append(x.sum().item()) or x") + "seen = []\n" + INPUTS)
    session = bench.session(sides=["reference"])
    session.load(0)
    session.construct(0, "reference")
    session.first(0, "reference")
    module = session.module("reference")
    module.seen.clear()
    first = session.cases[0].tensors[0][1].clone()
    for _ in range(3):
        session.breakdown(0, "reference")
    total = first.sum().item()
    expected = [total, total, total * 3 / 4, total, total * 4 / 5, total, total, total, total, total * 5 / 6]
    assert module.seen == pytest.approx(expected, rel=1e-3)
    assert torch.equal(session.cases[0].tensors[0][1], first)


def test_contents_that_cannot_change_are_not_called_fresh(bench: Any) -> None:
    bench.write(HONEST.replace("work(x)", "x") + "\ndef get_inputs():\n    return [torch.arange(4)]\n")
    session = bench.session(sides=["reference"])
    session.load(0)
    session.construct(0, "reference")
    session.first(0, "reference")
    assert session.breakdown(0, "reference")["fresh_us"] is None
