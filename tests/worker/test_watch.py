"""Settings and functions of the whole process: what a side changes is told and taken back before the other runs."""

from __future__ import annotations

import gc
from typing import Any

import pytest
import torch
from torch import library as registry

from msprun.worker import flags
from msprun.worker.harness import Harness, Reference
from msprun.worker.serve import answer

MODEL = """
class Model(nn.Module):
    def forward(self, x):
        return x + 1
def get_inputs():
    return [torch.ones(4)]
"""
NEW = MODEL.split("def get_inputs")[0].replace("Model", "ModelNew")


def notes(bench: Any, candidate: str) -> list[dict[str, Any]]:
    """The notes of a candidate that is imported, built and called once."""
    bench.write(MODEL, candidate)
    session = bench.session()
    found = []
    for do in ("load", "construct", "first"):
        told = answer(session, {"do": do, "case": 0, "side": "candidate"})
        assert told["ok"], told["failure"]["trace"]
        found += told.get("notes", [])
    assert flags.restore(session.watch.settings, []) == {}
    return found


@pytest.mark.parametrize(
    ("line", "name", "before", "after"),
    [
        ("torch.set_num_threads(2)", "threads", 1, 2),
        ("torch.set_default_dtype(torch.float16)", "default_dtype", "float32", "float16"),
        ("torch.set_default_device('meta')", "default_device", "cpu", "meta"),
        ("torch.set_float32_matmul_precision('high')", "float32_matmul_precision", "highest", "high"),
        ("torch.backends.cuda.matmul.allow_tf32 = True", "cuda_tf32", False, True),
        ("torch.backends.cudnn.allow_tf32 = False", "cudnn_tf32", True, False),
        ("torch.backends.cudnn.benchmark = True", "cudnn_benchmark", False, True),
        ("torch.backends.cudnn.enabled = False", "cudnn", True, False),
        ("torch.use_deterministic_algorithms(True, warn_only=True)", "deterministic", 0, 1),
        ("torch.set_grad_enabled(False)", "grad_mode", True, False),
        ("torch.set_autocast_enabled('cpu', True)", "autocast_cpu", False, True),
        ("torch.set_flush_denormal(True)", "flush_denormal", False, True),
        ("torch._C._set_mkldnn_enabled(False)", "mkldnn", True, False),
        ("import gc; gc.disable()", "garbage_collection", True, False),
        ("import sys; sys.setprofile(print)", "profile_function", None, "builtin_function_or_method"),
    ],
)
def test_a_setting_that_an_import_changes_is_told_and_taken_back(
    bench: Any, line: str, name: str, before: Any, after: Any
) -> None:
    """BytedTsinghua-SIA/CUDA-Agent#16: TF32 on one side is a seven times speed-up for free."""
    told = next(note for note in notes(bench, line + "\n" + NEW) if note["code"] == "globals_changed")
    assert told["figures"]["side"] == "candidate" and told["figures"]["what"][name] == [before, after]
    assert torch.get_num_threads() == 1 and torch.is_grad_enabled() and gc.isenabled()
    assert torch.ones(1).device.type == "cpu" and not torch.is_inference_mode_enabled()


def test_inference_mode_is_left_for_as_long_as_the_session_lives(bench: Any) -> None:
    bench.write(MODEL, "guard = torch.inference_mode()\nguard.__enter__()\n" + NEW)
    session = bench.session()
    session.load(0)
    session.construct(0, "candidate")
    inside = torch.is_inference_mode_enabled()
    told = session.watch.notes()
    while session.watch.guards:
        session.watch.guards.pop()
    session.folders.of("candidate").module(session.job.files["candidate"], "candidate").guard.__exit__(None, None, None)
    assert told[0]["figures"]["what"]["inference_mode"] == [False, True] and not inside
    assert not torch.is_inference_mode_enabled()


def test_a_replaced_default_generator_is_put_back(bench: Any) -> None:
    own = torch.default_generator
    told = notes(bench, "torch.default_generator = torch.Generator()\n" + NEW)
    assert next(note for note in told if note["code"] == "globals_changed")["figures"]["what"].keys() == {
        "default_generator"
    }
    assert torch.default_generator is own


@pytest.mark.parametrize("place", ["__init__", "prepare", "forward"])
def test_settings_are_looked_at_after_every_step(bench: Any, place: str) -> None:
    change = "torch.set_num_threads(2)"
    text = NEW.replace("def forward", f"def __init__(self):\n        super().__init__(); {change}\n    def forward")
    if place == "forward":
        text = NEW.replace("return", f"{change}; return")
    elif place == "prepare":
        text = NEW.replace("def forward", f"def prepare(self, x):\n        {change}\n    def forward")
    assert [note["code"] for note in notes(bench, text)] == ["globals_changed"]


def test_the_other_side_does_not_inherit_a_setting_that_is_changed_while_timing(bench: Any) -> None:
    seen = "seen = []\n" + MODEL.replace("return x + 1", "seen.append(torch.get_num_threads()); return x + 1")
    bench.write(seen, NEW.replace("return", "torch.set_num_threads(2); return"))
    session = bench.session()
    session.load(0)
    for side in ("reference", "candidate"):
        session.construct(0, side)
        session.first(0, side)
    session.time(0, [["candidate", 2], ["reference", 1], ["candidate", 1], ["reference", 2]])
    assert set(session.folders.of("reference").module(session.job.files["reference"], "reference").seen) == {1}


def test_an_operator_that_changes_nothing_has_no_notes(bench: Any) -> None:
    assert notes(bench, NEW) == []


def test_kernels_registered_over_torch_own_are_told() -> None:
    harness = Harness()
    library = registry.Library("aten", "IMPL")
    try:
        library.impl("sinc", lambda x: x, "CPU")
        assert harness.touched() == ["aten/sinc/CPU"] and harness.touched() == []
    finally:
        library._destroy()


def test_wrappers_of_torch_itself_are_no_attack(monkeypatch: pytest.MonkeyPatch) -> None:
    harness = Harness()
    monkeypatch.setattr(torch, "hypot", torch.nn.functional.relu)
    assert harness.touched() == ["torch.hypot"]
    wrapper = torch.no_grad()(torch.relu)  # a function whose code lies in torch's folder
    monkeypatch.setattr(torch, "relu", wrapper)
    assert wrapper.__code__.co_filename.endswith("_contextlib.py") and harness.touched() == []


def test_a_new_method_of_tensors_that_hides_none_is_no_attack() -> None:
    harness = Harness()
    try:
        torch.Tensor.as_my_kernel_wants = lambda self: self
        assert harness.touched() == []
    finally:
        del torch.Tensor.as_my_kernel_wants


def test_hooks_on_the_reference_model_are_taken_away() -> None:
    guard, model = Reference(), torch.nn.Linear(2, 2)
    guard.models[0] = model
    model.register_forward_hook(lambda *args: None)
    before = guard.look()
    model.register_forward_hook(lambda *args: torch.zeros(1))
    assert guard.touched(before) == ["the model of the reference"]
    assert model(torch.ones(1, 2)).shape == (1, 2) and guard.touched(before) == []
