"""Elements that an operator's own mask leaves out of the comparison."""

from __future__ import annotations

from typing import Any

import pytest

MODEL = """
class Model(nn.Module):
    def forward(self, x):
        return OUTPUT
def get_inputs():
    return [torch.arange(1.0, 5.0)]
def mask(inputs, outputs):
    return MASK
"""


def check(bench: Any, output: str, other: str, mask: str) -> dict[str, Any]:
    model = MODEL.replace("OUTPUT", output).replace("MASK", mask)
    new = "class ModelNew(nn.Module):\n    def forward(self, x):\n        return " + other
    found: dict[str, Any] = bench.check(model, new, {"mask": "model.py:mask"})
    return found


WRONG_AT_2 = "x + torch.tensor([0.0, 0.0, 9.0, 0.0])"


@pytest.mark.parametrize(
    ("output", "other"),
    [
        ("x", WRONG_AT_2),
        ("x.half()", f"({WRONG_AT_2}).half()"),
        ("x.to(torch.float8_e4m3fn)", f"({WRONG_AT_2}).to(torch.float8_e4m3fn)"),
        ("x.int()", f"({WRONG_AT_2}).int()"),
        ("x > 2", "torch.tensor([False, False, False, True])"),
        ("torch.complex(x, x)", f"torch.complex(x, {WRONG_AT_2})"),
        ("x", "torch.where(x == 3, float('nan'), x)"),
    ],
)
def test_masked_elements_are_not_compared_and_the_others_are(bench: Any, output: str, other: str) -> None:
    found = check(bench, output, other, "inputs[0] != 3")
    assert (found["state"], found["figures"]["masked"]) == ("correct", 1)


def test_elements_beside_the_mask_count_alone(bench: Any) -> None:
    found = check(bench, "x", "x * 1.5", "[inputs[0] > 2]")
    assert found["state"] == "incorrect" and found["figures"]["mere"] == pytest.approx(0.5)
    assert (found["figures"]["mismatched"], found["figures"]["masked"]) == (2, 2)


def test_each_output_has_a_mask_or_none(bench: Any) -> None:
    assert check(bench, "(x, x)", f"(x, {WRONG_AT_2})", "[None, outputs[1] != 3]")["state"] == "correct"
    assert check(bench, "(x, x)", f"({WRONG_AT_2}, x)", "[None, outputs[1] != 3]")["state"] == "incorrect"
    assert check(bench, "{'b': x, 'a': x}", f"{{'b': {WRONG_AT_2}, 'a': x}}", "{'a': None, 'b': inputs[0] != 3}")


def test_a_mask_is_stretched_to_the_output(bench: Any) -> None:
    both = "torch.stack([%s, %s])"
    assert check(bench, both % ("x", "x"), both % ("x", WRONG_AT_2), "inputs[0] != 3")["figures"]["masked"] == 2


@pytest.mark.parametrize(
    ("mask", "words"),
    [
        ("torch.ones(3)", "model.py:mask gives a mask of shape [3] for output of shape [4]"),
        ("[None, None]", "model.py:mask gives 2 masks for 1 outputs"),
        ("3", "model.py:mask must return a mask, a list of masks or None"),
    ],
)
def test_a_mask_that_does_not_fit_is_refused(bench: Any, refused: Any, mask: str, words: str) -> None:
    assert str(refused(check, bench, "x", "x", mask).error) == words


def test_structure_is_compared_before_the_mask_matters(bench: Any) -> None:
    assert check(bench, "x", "(x, x)", "inputs[0] != 3")["state"] == "structure_differs"
    assert check(bench, "x", "x.double()", "inputs[0] != 3")["state"] == "dtype_differs"


def test_a_masked_output_is_judged_by_the_double_benchmark_too(bench: Any) -> None:
    one, other = (f"torch.linspace({ends}, 4096).sin().reshape(64, 64)" for ends in ("-1, 1", "2, 9"))
    found = check(
        bench,
        f"(x[:1] * {one}) @ {other}",
        f"torch.where(torch.eye(64) > 0, 99.0, ((x[:1] * {one}).double() @ {other}.double()).float())",
        "torch.eye(64) == 0",
    )
    assert (found["state"], found["figures"]["masked"]) == ("correct", 64)
