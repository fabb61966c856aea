"""Which operators a call is made of, as a profiler of any version tells it."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from msprun.worker.breakdown import outermost, spans, summary, vary

CPU, CUDA = torch.autograd.DeviceType.CPU, torch.autograd.DeviceType.CUDA


class Event:
    """A Kineto event with the attributes of some version of torch."""

    def __init__(self, name: str, start: int, duration: int, device: Any = CPU, **other: Any) -> None:
        told = {"name": name, "start_thread_id": 1, "device_type": device, **other}
        if "us" not in other:
            told.update(start_ns=start, duration_ns=duration)
        else:
            told.update(start_us=start // 1000, duration_us=duration // 1000)
        for attribute, value in told.items():
            setattr(self, attribute, lambda value=value: value)


class Profile:
    """A profile that holds these events."""

    def __init__(self, *events: Event) -> None:
        self.kineto_results = self
        self.events = lambda: list(events)


@pytest.mark.parametrize("version", [{}, {"us": True}, {"is_user_annotation": False}], ids=["now", "old", "both"])
def test_event_objects_of_every_torch_give_the_same(version: dict[str, Any]) -> None:
    """pytorch/pytorch#123247, NVIDIA/Fuser#2139, pyg-team/pytorch_geometric#9616: names changed between versions."""
    events = [Event("aten::add", 5000, 3000, **version), Event("kernel", 5000, 9000, CUDA, **version)]
    assert spans(Profile(*events)) == [(1, 5000, 3000, "aten::add")]


def test_an_operator_inside_another_is_not_counted_twice() -> None:
    """pytorch/pytorch#60783: the time of a wrapper and of what it wraps were added up."""
    inside = [(1, 0, 100, "aten::matmul"), (1, 10, 80, "aten::mm"), (1, 100, 20, "aten::add"), (2, 50, 5, "aten::mul")]
    assert list(outermost(inside)) == [("aten::matmul", 100), ("aten::add", 20), ("aten::mul", 5)]


def test_a_label_of_the_users_is_no_operator() -> None:
    """pytorch/pytorch#130730: annotations were counted as device time."""
    label = Event("my label", 0, 900, is_user_annotation=True)
    found = spans(Profile(label, Event("aten::add", 100, 300, is_user_annotation=False)))
    assert list(outermost(found)) == [("aten::add", 300)]


def test_a_labelled_body_has_the_same_operators_as_a_bare_one(bench: Any) -> None:
    """pytorch/pytorch#130730: the body is inside record_function."""
    body = "return torch.softmax(x @ x, -1)"
    label = "with torch.profiler.record_function('aten::fast'):\n            " + body
    text = "class %s(nn.Module):\n    def forward(self, x):\n        %s\n"
    inputs = "def get_inputs():\n    return [torch.ones(8, 8)]\n"
    bench.write(text % ("Model", body) + inputs, text % ("ModelNew", label))
    session = bench.session()
    session.load(0)
    seen = []
    for side in ("reference", "candidate"):
        session.construct(0, side)
        session.first(0, side)
        seen.append({row["name"]: row["calls"] for row in session.breakdown(0, side)["operators"]})
    assert seen == [{"aten::matmul": 1, "aten::softmax": 1}] * 2


def test_a_call_that_ran_one_operator_less_is_another_call() -> None:
    """meta-pytorch/tritonbench#401, intel/intel-xpu-backend-for-triton#3243: one kernel fewer than launched."""
    whole = [("aten::mm", 9), ("aten::add", 2), ("aten::add", 3)]
    assert vary([whole, whole, whole[:2]]) is True
    assert vary([whole, whole[::-1], [("aten::add", 7), ("aten::add", 1), ("aten::mm", 9)]]) is False


def test_operators_are_summed_by_name_the_longest_first() -> None:
    told = summary([("aten::add", 2000), ("aten::mm", 4000), ("aten::add", 3000)], 12_000)
    assert told["operators"] == [
        {"name": "aten::add", "calls": 2, "duration_us": 5.0}, {"name": "aten::mm", "calls": 1, "duration_us": 4.0},
    ]  # fmt: skip
    assert (told["operators_us"], told["wall_us"]) == (9.0, 12.0)


def test_an_empty_session_before_leaves_the_profiler_alive(bench: Any) -> None:
    """lightseekorg/tokenspeed#1348: after an empty profiler session success was reported, with no event at all."""
    with torch.autograd.profiler.profile(use_kineto=True):
        pass
    bench.write(
        "class Model(nn.Module):\n    def forward(self, x):\n        return x * 2\n"
        "def get_inputs():\n    return [torch.ones(8)]\n"
    )
    session = bench.session(sides=["reference"])
    session.load(0)
    session.construct(0, "reference")
    session.first(0, "reference")
    assert [row["name"] for row in session.breakdown(0, "reference")["operators"]] == ["aten::mul"]


def test_no_profiler_runs_while_calls_are_timed(bench: Any) -> None:
    """pytorch/pytorch#181043: a profiler around the timed loop adds 1-2 us a launch to host times."""
    bench.write(
        "seen = []\nclass Model(nn.Module):\n    def forward(self, x):\n"
        "        seen.append(torch.autograd._profiler_enabled())\n        return x * 2\n"
        "def get_inputs():\n    return [torch.ones(8)]\n"
    )
    session = bench.session(sides=["reference"])
    session.load(0)
    session.construct(0, "reference")
    session.first(0, "reference")
    session.time(0, [["reference", 3]])
    session.breakdown(0, "reference")
    session.time(0, [["reference", 2]])
    assert session.module("reference").seen == [False] * 4 + [True] * 3 + [False] * 2


def test_what_is_made_ready_before_is_in_no_time(bench: Any) -> None:
    """AMD-AGI/GEAK#252: the time of a whole program with a heavy set-up was compared, and a real 1.28 became 1.0."""
    slow = "import time\ntime.sleep(0.1)\nclass %s(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    slow += "        time.sleep(0.1)\n    def forward(self, x):\n        return x * 2\n"
    bench.write(slow % "Model" + "def get_inputs():\n    time.sleep(0.1)\n    return [torch.ones(8)]\n")
    session = bench.session(sides=["reference"])
    session.load(0)
    assert session.construct(0, "reference")["construct_s"] >= 0.1
    assert session.first(0, "reference")["first_us"] < 1e5
    assert max(session.time(0, [["reference", 1]] * 3)["elapsed_ns"]) < 1e8
