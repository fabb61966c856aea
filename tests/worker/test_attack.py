"""Attackers get the state or the note that they deserve; honest operators that look like them pass."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from msprun.worker.serve import answer

HERE = Path(__file__).parent
RULE = {"mask": None}


class Ordeal:
    """All that a parent asks of a case with one candidate, and what came of it; `apart`: one side at a time."""

    def __init__(self, session: Any, apart: bool = False) -> None:
        self.session = session
        self.apart = apart
        self.notes: list[dict[str, Any]] = []
        self.verdict: dict[str, Any] = {}
        self.steps: list[str] = []

    def ask(self, do: str, **words: Any) -> dict[str, Any]:
        told = answer(self.session, {"do": do, "case": 0, **words})
        assert told["ok"], told["failure"]["trace"]
        self.notes += told.get("notes", [])
        return told

    def run(self) -> Ordeal:
        self.ask("load")
        if self.apart:
            self.ask("part")
        digest = None
        for side in ("reference", "candidate"):
            self.ask("construct", side=side)
            digest = self.ask("first", side=side).get("hash") or digest
        words = {"side": "candidate", "rule": None, "hash": digest}
        for do in ("check", "attack", "recheck"):
            if do == "recheck":
                self.times = self.ask("time", blocks=self.blocks)["elapsed_ns"]
                self.operators = self.ask("breakdown", side="candidate")
            self.verdict = self.ask(do, **words)
            self.steps.append(do)
            if self.verdict["state"] != "correct":
                break
        return self

    @property
    def blocks(self) -> list[list[Any]]:
        return [["candidate", 2]] * 5 if self.apart else [["reference", 1], ["candidate", 2]] * 5

    @property
    def state(self) -> str:
        return str(self.verdict["state"])

    @property
    def codes(self) -> set[str]:
        return {note["code"] for note in self.notes}

    def figures(self, code: str) -> dict[str, Any]:
        found: dict[str, Any] = next(note["figures"] for note in self.notes if note["code"] == code)
        return found


@pytest.fixture
def attack(bench: Any) -> Callable[..., Ordeal]:
    def run(name: str, reference: str = "softmax", **rule: Any) -> Ordeal:
        (bench.operator / "model.py").write_text((HERE / "attacks" / f"{reference}.py").read_text())
        (bench.operator / "model_new_ascendc.py").write_text((HERE / "attacks" / f"{name}.py").read_text())
        return Ordeal(bench.session(rule={**RULE, **rule})).run()

    return run


@pytest.fixture
def honest(bench: Any) -> Callable[..., Ordeal]:
    def run(name: str, **rule: Any) -> Ordeal:
        for file in ("model.py", "model_new_ascendc.py"):
            (bench.operator / file).write_text((HERE / "honest" / f"{name}.py").read_text())
        return Ordeal(bench.session(rule={**RULE, **rule})).run()

    return run


def test_the_honest_reference_passes_all(attack: Any, bench: Any) -> None:
    model = (HERE / "attacks" / "softmax.py").read_text()
    bench.write(
        candidate="class ModelNew(nn.Module):\n    def forward(self, x):\n        return torch.softmax(x, -1)\n"
    )
    (bench.operator / "model.py").write_text(model)
    done = Ordeal(bench.session()).run()
    assert (done.state, done.steps, done.notes) == ("correct", ["check", "attack", "recheck"], [])
    assert done.operators["kernels_vary"] is False and done.operators["fresh_us"] > 0


@pytest.mark.parametrize("name", ["returns_uninitialised_memory", "recycles_the_reference_output"])
def test_memory_that_the_reference_left_holds_nan(attack: Any, name: str) -> None:
    """ScalingIntelligence/KernelBench#82: output memory recycled from the reference."""
    assert attack(name).state in ("non_finite", "incorrect")


def test_zeroed_inputs_are_seen(attack: Any) -> None:
    """ScalingIntelligence/KernelBench#82: the custom kernel zeroes its inputs."""
    assert attack("zeroes_its_inputs").state == "input_changed"


def test_inputs_are_looked_at_after_every_call(attack: Any) -> None:
    """ScalingIntelligence/KernelBench#82, from the second call on."""
    done = attack("zeroes_its_inputs_later")
    assert (done.steps[-1], done.state) == ("attack", "input_changed")
    assert done.verdict["figures"]["input_changed"] == ["inputs[0]"]


def test_an_output_that_is_not_there_yet_is_incorrect(attack: Any) -> None:
    """ScalingIntelligence/KernelBench#82: work on a side stream; here a thread."""
    assert attack("works_on_in_a_thread").state == "incorrect"


def test_an_output_that_is_written_after_the_call_is_incorrect(attack: Any) -> None:
    """ScalingIntelligence/KernelBench#82, from the second call on."""
    done = attack("works_on_in_a_thread_later")
    assert (done.state, done.verdict["figures"]["on"]) == ("incorrect", "late_write")


@pytest.mark.parametrize("key", ["id", "data_ptr", "shape"])
def test_an_old_output_for_new_contents_is_incorrect(attack: Any, key: str) -> None:
    """tensara/tensara#238, gpu-mode/kernelbot#501, flashinfer-ai/flashinfer-bench-starter-kit#21: replayed results."""
    done = attack(f"caches_by_{key}")
    assert (done.steps[-1], done.state) == ("attack", "incorrect")
    assert done.verdict["figures"]["on"] == "changed_contents" and done.verdict["figures"]["old_output"] is True


def test_a_cache_by_fingerprint_shows_in_the_operators_of_its_calls(attack: Any) -> None:
    """gpu-mode/kernelbot#501: the key is a fingerprint of the contents."""
    done = attack("caches_by_sum")
    assert done.state == "correct" and done.operators["kernels_vary"] is True
    assert "aten::softmax" not in {row["name"] for row in done.operators["operators"]}


def test_right_when_checked_and_wrong_when_timed_is_incorrect(attack: Any) -> None:
    """gpu-mode/pygpubench#7: it notices the warm-up."""
    done = attack("counts_its_calls")
    assert (done.steps[-1], done.state) == ("recheck", "incorrect")
    assert done.verdict["figures"]["on"] == "later_call"


def test_nan_everywhere_is_no_wildcard(attack: Any) -> None:
    """gpu-mode/pygpubench#7: tensors found through the garbage collector are filled with NaN."""
    done = attack("spoils_what_it_finds")
    assert done.state == "non_finite"
    first = done.session.cases[0].tensors[0][1]
    torch.manual_seed(0)
    assert torch.equal(first, torch.randn(64, 100))


def test_expected_outputs_are_not_found_through_the_garbage_collector(attack: Any) -> None:
    """gpu-mode/pygpubench#7: tensors found through the garbage collector are copied."""
    assert attack("copies_what_it_finds").state == "incorrect"


def test_a_stored_answer_that_was_read_is_an_old_one(attack: Any) -> None:
    """gpu-mode/pygpubench#7, by way of the file."""
    done = attack("reads_the_stored_answer")
    assert (done.steps[-1], done.state) == ("attack", "incorrect")


@pytest.mark.parametrize("name", ["spoils_the_reference", "spoils_the_reference_model"])
def test_a_reference_that_was_made_slow_is_put_right(attack: Any, name: str) -> None:
    done = attack(name)
    assert done.state == "correct" and "harness_touched" in done.codes
    assert done.figures("harness_touched")["side"] == "candidate"
    assert min(done.times[::2]) < 50e6


def test_replaced_torch_functions_are_put_back_and_told(attack: Any) -> None:
    done = attack("replaces_torch_functions")
    assert done.state == "incorrect"
    assert set(done.figures("harness_touched")["what"]) == {"torch.equal", "torch.softmax", "torch.Tensor.copy_"}
    assert "_TensorBase" in torch.Tensor.copy_.__qualname__ or "TensorBase" in torch.Tensor.copy_.__qualname__


def test_a_stopped_clock_runs_on(attack: Any) -> None:
    done = attack("replaces_the_clock")
    assert done.figures("harness_touched")["what"] == ["time.perf_counter_ns", "time.perf_counter"] or set(
        done.figures("harness_touched")["what"]
    ) == {"time.perf_counter", "time.perf_counter_ns"}
    assert min(done.times) > 0


def test_a_replaced_judge_is_put_back(attack: Any) -> None:
    done = attack("replaces_the_judge")
    assert done.state == "incorrect" and "harness_touched" in done.codes


def test_threads_that_a_side_takes_are_told_and_taken_back(attack: Any) -> None:
    done = attack("takes_more_threads")
    figures = done.figures("globals_changed")
    assert figures == {"side": "candidate", "what": {"threads": [1, 2]}, "timed_with": "before"}
    assert torch.get_num_threads() == 1 and done.state == "correct"


def test_a_result_made_before_the_clock_runs_is_told(attack: Any) -> None:
    """flashinfer-ai/flashinfer-bench#127: preparation outside of the time, and its limit."""
    done = attack("computes_in_prepare")
    assert done.state == "correct" and "prepared_contents" in done.codes


def test_an_input_handed_out_as_output_is_told(attack: Any) -> None:
    done = attack("returns_an_input", "returns_an_input")
    assert done.state == "correct"
    assert done.figures("output_is_input") == {"inputs": ["inputs[0]"], "side": "candidate"}


@pytest.mark.parametrize(
    "name",
    ["works_in_place", "drops_at_random", "is_more_exact", "returns_views", "joins_its_threads", "keeps_a_workspace"],
)
def test_an_honest_operator_passes_without_a_note(honest: Any, name: str) -> None:
    done = honest(name)
    assert (done.state, done.steps[-1], done.notes) == ("correct", "recheck", [])
    assert done.operators["kernels_vary"] is False


def test_a_static_output_buffer_is_a_remark_only(honest: Any) -> None:
    done = honest("writes_into_one_buffer")
    assert done.state == "correct"
    assert done.figures("outputs_share_memory") == {"outputs": ["output"], "content_changed": True, "side": "candidate"}


def test_ties_are_left_out_by_a_mask(honest: Any) -> None:
    done = honest("breaks_ties_otherwise", mask="model.py:mask")
    assert (done.state, done.notes) == ("correct", []) and done.verdict["figures"]["masked"] > 0


def test_ties_without_a_mask_are_incorrect(honest: Any) -> None:
    assert honest("breaks_ties_otherwise").state == "incorrect"


def test_a_plan_made_of_integers_stays_valid(honest: Any) -> None:
    """flashinfer-ai/flashinfer-bench#127: a plan step has a time of its own."""
    done = honest("plans_ahead")
    assert (done.state, done.notes) == ("correct", [])
