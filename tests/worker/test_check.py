"""The state of a case, from operators that are right or wrong in one known way."""

from __future__ import annotations

from typing import Any

import pytest
import torch

ADD = """
class Model(nn.Module):
    def forward(self, x, y):
        return x + y
def get_inputs():
    return [torch.ones(4), torch.arange(4.0)]
"""


def new(body: str) -> str:
    lines = "\n".join("        " + line for line in body.splitlines())
    return f"class ModelNew(nn.Module):\n    def forward(self, x, y):\n{lines}\n"


@pytest.mark.parametrize(
    ("body", "state"),
    [
        ("return y + x", "correct"),
        ("return x - y", "incorrect"),
        ("return (x + y).half()", "dtype_differs"),
        ("return (x + y).reshape(2, 2)", "shape_differs"),
        ("return (x + y,)", "structure_differs"),
        ("return (x + y) / 0", "non_finite"),
        ("return x.add_(y)", "input_changed"),
        ("return y.mul_(0)", "incorrect"),
    ],
)
def test_states(bench: Any, body: str, state: str) -> None:
    assert bench.check(ADD, new(body))["state"] == state


def test_changed_inputs_are_named_also_where_the_numbers_are_wrong(bench: Any) -> None:
    assert bench.check(ADD, new("return y.mul_(0)"))["figures"]["input_changed"] == ["inputs[1]"]


def test_both_sides_see_the_same_inputs_although_the_candidate_writes_into_them(bench: Any) -> None:
    bench.write(ADD, new("return x.add_(y)"))
    session = bench.session()
    session.load(0)
    for side in ("candidate", "reference"):
        session.construct(0, side)
        digest = session.first(0, side).get("hash")
    assert session.check(0, "candidate", None, digest)["state"] == "input_changed"
    assert session.cases[0].tensors[0][1].tolist() == [1, 1, 1, 1]


IN_PLACE = ADD.replace("return x + y", "return x.add_(y)")


def test_an_in_place_reference_wants_the_same_change_of_the_candidate(bench: Any) -> None:
    """flagos-ai/FlagGems#1227: in-place operators are compared by what they leave in their inputs."""
    assert bench.check(IN_PLACE, new("return x.add_(y)"))["state"] == "correct"


def test_a_candidate_that_leaves_an_in_place_input_alone_is_incorrect(bench: Any) -> None:
    found = bench.check(IN_PLACE, new("return x + y"))
    assert found["state"] == "incorrect"
    assert (found["figures"]["leaf"], found["figures"]["max_abs_error"]) == ("inputs[0]", 3)


def test_an_in_place_operator_without_output(bench: Any) -> None:
    nothing = IN_PLACE.replace("return x.add_(y)", "x.add_(y)")
    assert bench.check(nothing, new("x.add_(y)"))["state"] == "correct"


def test_an_in_place_input_is_judged_by_the_double_benchmark_too(bench: Any) -> None:
    model = MATMUL.replace("return x @ y", "x.copy_(x @ y)").replace("(64, 512)", "(512, 512)")
    found = bench.check(model, new("x.copy_(x[:, :256] @ y[:256] + x[:, 256:] @ y[256:])"))
    assert found["state"] == "correct" and found["rule"] == "double L0" and found["figures"]["leaf"] == "inputs[0]"


def test_a_tampered_reference_output_is_found(bench: Any) -> None:
    body = f"""import glob
for path in glob.glob({str(bench.folder)!r} + "/outputs/*"):
    with open(path, "r+b") as file:
        file.seek(-1, 2)
        file.write(b"A")
return x + y"""
    found = bench.check(ADD, new(body))
    assert found["state"] == "incorrect" and found["figures"] == {"reference_tampered": True}


def test_a_removed_reference_output_is_found(bench: Any) -> None:
    body = f"import shutil\nshutil.rmtree({str(bench.folder / 'outputs')!r})\nreturn x + y"
    assert bench.check(ADD, new(body))["figures"]["reference_tampered"] is True


def test_a_reference_that_differs_from_itself_is_nondeterministic(bench: Any) -> None:
    model = ADD.replace("return x + y", "return x + torch.rand(4)")
    found = bench.check(model, new("return x + y"))
    assert found["state"] == "nondeterministic" and found["figures"]["candidate"]["mismatched"] > 0


def test_random_numbers_drawn_alike_are_correct(bench: Any) -> None:
    model = ADD.replace("return x + y", "return x + torch.rand(4)")
    assert bench.check(model, new("return torch.rand(4) + x"))["state"] == "correct"


MATMUL = """
class Model(nn.Module):
    def forward(self, x, y):
        return x @ y
def get_inputs():
    return [torch.randn(64, 512), torch.randn(512, 512)]
"""
SPLIT_K = "r = x[:, :256] @ y[:256] + x[:, 256:] @ y[256:]\n"


def test_a_split_k_matmul_is_accepted_by_the_double_benchmark(bench: Any) -> None:
    found = bench.check(MATMUL, new(SPLIT_K + "return r"))
    assert found["state"] == "correct" and found["rule"] == "double L0"
    figures = found["figures"]
    assert figures["golden"] == "float64" and figures["mismatched"] > 0
    torch.manual_seed(0)
    x, y = torch.randn(64, 512), torch.randn(512, 512)
    exact = x.double() @ y.double()
    split = x[:, :256] @ y[:256] + x[:, 256:] @ y[256:]
    ours, theirs = ((one.double() - exact).square().mean().sqrt() for one in (split, x @ y))
    assert figures["rmse_ratio"] == pytest.approx((ours / theirs).item(), rel=0.3)


def test_one_element_off_by_a_thousandth_is_refused_by_the_double_benchmark(bench: Any) -> None:
    body = SPLIT_K + "r.view(-1)[r.abs().argmax()] *= 1.001\nreturn r"
    found = bench.check(MATMUL, new(body))
    assert found["state"] == "incorrect" and found["rule"] == "double L0"
    assert found["figures"]["rmse_ratio"] > 2 and found["figures"]["mere_ratio"] < 2


@pytest.mark.parametrize("cast", ["x.bfloat16() @ y.bfloat16()", "x.half() @ y.half()"])
def test_a_matmul_in_lower_precision_is_refused(bench: Any, cast: str) -> None:
    found = bench.check(MATMUL, new(f"return ({cast}).float()"))
    assert found["state"] == "incorrect" and found["figures"]["mere_ratio"] > 100


def test_the_level_decides(bench: Any) -> None:
    noisy = "e = (x.double() @ y.double())\nr = (x @ y).double()\nreturn (e + 1.4 * (r - e)).float()"
    assert bench.check(MATMUL, new(noisy))["state"] == "correct"
    strict = bench.check(MATMUL, new(noisy), {"level": "L2"})
    assert strict["state"] == "incorrect" and strict["rule"] == "double L2"


@pytest.mark.parametrize(
    ("model", "rule", "reason"),
    [
        (MATMUL, {"budget_s": 0}, "budget"),
        (MATMUL.replace("return x @ y", "return x @ y.float()"), {}, "does not run in float64"),
        (MATMUL.replace("return x @ y", "return x.float() @ y.float()"), {}, "no wider type"),
        (MATMUL.replace("(nn.Module)", "").replace("forward", "__call__"), {}, "no torch.nn.Module"),
    ],
)
def test_without_golden_outputs_the_single_benchmark_stands(
    bench: Any, model: str, rule: dict[str, Any], reason: str
) -> None:
    found = bench.check(model, new(SPLIT_K + "return r"), rule)
    assert found["state"] == "incorrect" and found["rule"] == "standard"
    assert found["figures"]["golden"] == "unavailable" and reason in found["figures"]["golden_reason"]


def test_an_exact_reference_does_not_condemn_one_rounding(bench: Any) -> None:
    small = MATMUL.replace("return x @ y", "return (x * 2**-16)").replace("randn(64, 512)", "rand(64, 512) + 1")
    found = bench.check(small, new("r = x * 2**-16\nreturn torch.nextafter(r, r * 2)"))
    assert found["state"] == "correct"


@pytest.mark.parametrize(
    ("function", "state", "figures"),
    [
        ("return True", "correct", {}),
        ("return candidate.sum() < 0", "incorrect", {}),
        ("return {'ok': len(inputs) == 2, 'gap': float('inf')}", "correct", {"gap": float("inf")}),
    ],
)
def test_an_operators_own_compare_function(bench: Any, function: str, state: str, figures: dict[str, Any]) -> None:
    (bench.operator / "rule.py").write_text(f"def compare(reference, candidate, inputs):\n    {function}\n")
    found = bench.check(ADD, new("return x - y + 5"), {"compare": "rule.py:compare"})
    assert found["state"] == state and found["rule"] == "rule.py:compare" and found["figures"] == figures


def test_a_compare_function_that_is_not_there_is_a_failure_of_the_check(bench: Any, refused: Any) -> None:
    (bench.operator / "rule.py").write_text("")
    error = refused(bench.check, ADD, new("return x"), {"compare": "rule.py:compare"})
    assert error.stage == "check" and str(error.error) == "rule.py has no function compare"


def test_the_rule_close_uses_the_tolerances_of_the_request(bench: Any) -> None:
    wrong = new("return x + y + 0.01")
    assert bench.check(ADD, wrong, {"rule": "close"})["state"] == "incorrect"
    assert bench.check(ADD, wrong, {"rule": "close", "atol": 0.1})["state"] == "correct"


def test_weights_come_from_the_reference(bench: Any) -> None:
    model = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
    def forward(self, x):
        return self.linear(x)
def get_inputs():
    return [torch.ones(1, 4)]
"""
    candidate = model.split("def get_inputs")[0].replace("Model", "ModelNew")
    other = candidate.replace("super().__init__()", "super().__init__(); torch.rand(99)")
    assert bench.check(model, other)["state"] == "correct"


def test_inputs_are_restored_after_a_call_that_failed(bench: Any, refused: Any) -> None:
    bench.write(ADD, new("x.zero_()\nraise ValueError('after the write')"))
    session = bench.session()
    session.load(0)
    session.construct(0, "candidate")
    assert refused(session.first, 0, "candidate").stage == "first_call"
    assert session.cases[0].tensors[0][1].tolist() == [1, 1, 1, 1]


def test_an_input_that_was_resized_gets_its_shape_again(bench: Any) -> None:
    found = bench.check(ADD, new("r = x + y\nx.resize_(2)\nreturn r"))
    assert found["state"] == "input_changed"


def test_a_golden_run_that_takes_too_long_is_stopped(bench: Any) -> None:
    wait = "import time\n        x.dtype == torch.float64 and time.sleep(30)\n        "
    slow = MATMUL.replace("return x @ y", wait + "return x @ y")
    found = bench.check(slow, new(SPLIT_K + "return r"), {"budget_s": 0.5})
    assert found["figures"]["golden_reason"] == "float64 took longer than the budget of 0.5 s"


def test_golden_outputs_are_made_once_for_all_checks_of_the_same_outputs(bench: Any) -> None:
    count = "calls.append(1) if x.dtype == torch.float64 else None\n        "
    model = MATMUL.replace("class Model", "calls = []\nclass Model").replace("return x @ y", count + "return x @ y")
    session, digest = bench.ready(model, new(SPLIT_K + "return r"))
    for _ in range(2):
        assert session.check(0, "candidate", None, digest)["rule"] == "double L0"
    assert session.recheck(0, "candidate", None, digest)["rule"] == "double L0"
    assert len(session.module("reference").calls) == 1
    session.golden(0).path.write_bytes(b"[]\n")  # what somebody else wrote is no golden output
    assert session.check(0, "candidate", None, digest)["rule"] == "double L0"
    assert len(session.module("reference").calls) == 2
    session.release(0)
    assert not session.golden(0).path.exists()
