"""Sides that do not fit into memory together: one is there at a time, and what is found out is the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from msprun.worker import golden, poison
from msprun.worker.serve import answer
from tests.worker.test_attack import HERE, RULE, Ordeal

# Nobody has room for two models: whoever is called beside another one runs out of memory.
MODEL = """
import gc, weakref
ALIVE = weakref.WeakSet()
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        ALIVE.add(self)
        self.weight = nn.Parameter(torch.rand(512, 512))
    def forward(self, x):
        if len(ALIVE) > 1:
            raise MemoryError("%d models" % len(ALIVE))
        return x @ self.weight
def get_inputs():
    return [torch.randn(64, 512)]
"""
NEW = """
from model import ALIVE
class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        ALIVE.add(self)
        self.weight = nn.Parameter(torch.zeros(512, 512))
    def forward(self, x):
        if len(ALIVE) > 1:
            raise MemoryError("%d models" % len(ALIVE))
        return x[:, :256] @ self.weight[:256] + x[:, 256:] @ self.weight[256:]
"""
CANDIDATE = {"case": 0, "side": "candidate", "rule": None}


def begun(bench: Any) -> tuple[Any, str]:
    """A session whose candidate did not fit beside the reference and was called without it; the stored hash."""
    bench.write(MODEL, NEW)
    session = bench.session()
    session.load(0)
    session.construct(0, "reference")
    digest = session.first(0, "reference")["hash"]
    session.construct(0, "candidate")
    told = answer(session, {"do": "first", "case": 0, "side": "candidate"})
    assert (told["failure"]["kind"], told["failure"]["side"]) == ("out_of_memory", "candidate")
    assert answer(session, {"do": "part", "case": 0}) == {"ok": True}
    assert answer(session, {"do": "first", "case": 0, "side": "candidate"})["first_us"] > 0
    return session, digest


def test_a_side_that_does_not_fit_beside_the_other_is_called_without_it(bench: Any) -> None:
    session, _ = begun(bench)
    sides = session.cases[0].sides
    assert sides["reference"].model is None and sides["reference"].first_us > 0
    assert torch.equal(sides["candidate"].model.weight, session.cases[0].weights["weight"])


def test_what_takes_both_sides_brings_them_one_after_the_other(bench: Any) -> None:
    session, digest = begun(bench)
    found = session.check(0, "candidate", None, digest)
    assert (found["state"], found["rule"], found["figures"]["golden"]) == ("correct", "double L0", "float64")
    assert session.attack(0, "candidate", None, digest)["state"] == "correct"
    for side in ("reference", "candidate", "reference"):
        assert len(session.time(0, [[side, 2], [side, 1]])["elapsed_ns"]) == 2
        assert session.breakdown(0, side)["kernels_vary"] is False
    assert session.recheck(0, "candidate", None, digest)["state"] == "correct"


def test_the_reference_that_is_made_again_is_the_one_whose_outputs_were_stored(bench: Any) -> None:
    bench.write(MODEL.replace("torch.rand(512, 512)", "torch.rand(512, 512) + len(ALIVE) + len(MADE)"), NEW)
    text = (bench.operator / "model.py").read_text().replace("ALIVE.add(self)", "ALIVE.add(self); MADE.append(1)")
    (bench.operator / "model.py").write_text(text.replace("ALIVE = ", "MADE = []\nALIVE = "))
    session = bench.session()
    session.load(0)
    session.construct(0, "reference")
    digest = session.first(0, "reference")["hash"]
    session.part(0)
    session.construct(0, "candidate")
    session.first(0, "candidate")
    for do in ("check", "attack", "recheck"):
        assert answer(session, {"do": do, "hash": digest, **CANDIDATE})["state"] == "correct"


def test_what_was_let_go_is_gone_and_the_device_asked_to_have_it_back(bench: Any) -> None:
    bench.write(MODEL, NEW)
    session = bench.session(cache="rotate", cache_bytes=1 << 20)
    asked: list[int] = []
    session.host.give_back = lambda: asked.append(len(session.module("reference").ALIVE))
    session.load(0)
    session.construct(0, "reference")
    session.first(0, "reference")
    session.time(0, [["reference", 2]])
    assert session.cases[0].rotation is not None
    session.part(0)
    assert session.cases[0].rotation is None and asked == [0]
    session.release(0)
    assert session.cases == {} and session.watch.reference.models == {}


@pytest.fixture
def apart(bench: Any) -> Callable[..., Ordeal]:
    def run(kind: str, name: str, reference: str, **rule: Any) -> Ordeal:
        (bench.operator / "model.py").write_text((HERE / kind / f"{reference}.py").read_text())
        (bench.operator / "model_new_ascendc.py").write_text((HERE / kind / f"{name}.py").read_text())
        return Ordeal(bench.session(rule={**RULE, **rule}), apart=True).run()

    return run


@pytest.mark.parametrize(
    "name",
    [
        "works_in_place",
        "drops_at_random",
        "is_more_exact",
        "keeps_a_workspace",
        "writes_into_one_buffer",
        "plans_ahead",
    ],
)
def test_an_honest_operator_passes_apart(apart: Any, name: str) -> None:
    done = apart("honest", name, name)
    assert (done.state, done.steps[-1], done.notes) == ("correct", "recheck", [])


@pytest.mark.parametrize(
    ("name", "step", "state", "on"),
    [
        ("caches_by_id", "attack", "incorrect", "changed_contents"),
        ("caches_by_data_ptr", "attack", "incorrect", "changed_contents"),
        ("caches_by_shape", "attack", "incorrect", "changed_contents"),
        ("zeroes_its_inputs", "check", "input_changed", None),
        ("works_on_in_a_thread_later", "attack", "incorrect", "late_write"),
    ],
)
def test_an_attack_is_seen_apart(apart: Any, name: str, step: str, state: str, on: str | None) -> None:
    done = apart("attacks", name, "softmax")
    assert (done.steps[-1], done.state, done.verdict["figures"].get("on")) == (step, state, on)


@pytest.mark.parametrize(
    ("name", "code"), [("computes_in_prepare", "prepared_contents"), ("returns_an_input", "output_is_input")]
)
def test_what_is_remarked_side_by_side_is_remarked_apart(apart: Any, name: str, code: str) -> None:
    done = apart("attacks", name, name if name == "returns_an_input" else "softmax")
    assert (done.state, done.codes) == ("correct", {code})


def test_memory_that_cannot_be_poisoned_is_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(poison, "free_bytes", lambda: 1 << 70)
    poison.poison([1 << 60], torch.device("cpu"))
    with pytest.raises(RuntimeError, match="nowhere"):
        poison.poison([8], torch.device("nowhere"))


def test_the_golden_model_never_has_two_copies_on_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    """A device whose tensors cannot be copied there and fetched afterwards."""
    model = torch.nn.Linear(2, 3, device="meta")
    fetched: list[torch.Tensor] = []

    def moved(tensor: torch.Tensor) -> torch.Tensor:
        fetched.append(tensor)
        return torch.nn.Parameter(torch.ones(tensor.shape))

    monkeypatch.setattr(golden, "moved", moved)
    made = golden.on_cpu(model)
    assert {id(one) for one in fetched} == {id(model.weight), id(model.bias)}
    assert torch.equal(made(torch.ones(2)), torch.full((3,), 3.0))
