"""Errors and verdicts with figures computed by hand."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from msprun.worker import accuracy
from msprun.worker.accuracy import STANDARD, measure, passes, position
from msprun.worker.compare import Verdict, judge
from msprun.worker.leaves import flatten

RULE = {"rule": "standard", "level": "L0", "budget_s": 20, "rtol": None, "atol": None, "threshold": None}
CLOSE = {**RULE, "rule": "close"}


def verdict(reference: Any, candidate: Any, rule: dict[str, Any] = RULE) -> Verdict:
    found: Verdict = judge(flatten(reference), flatten(candidate), rule, None)
    return found


def test_mere_mare_and_small_values_by_hand() -> None:
    golden = torch.tensor([1.0, 2.0, 4.0, 2.0**-15, 2.0**-15], dtype=torch.float64)
    actual = torch.tensor([1.5, 2.0, 3.0, 2.0**-15 + 2.0**-29, 2.0**-15 + 2.0**-31], dtype=torch.float64)
    found = measure(golden, actual, STANDARD["float32"])
    first, third = 0.5 / (1 + 1e-7), 1 / (4 + 1e-7)
    assert found.mere == pytest.approx((first + third) / 3, rel=1e-12)
    assert found.mare == pytest.approx(first, rel=1e-12)
    assert found.max_abs == 1
    assert (found.small, found.small_errors) == (2, 1)
    assert (found.mismatched, found.total, found.worst) == (3, 5, 0)
    assert found.rmse == pytest.approx(((0.25 + 1 + 2**-58 + 2**-62) / 5) ** 0.5, rel=1e-12)


def test_errors_do_not_depend_on_the_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    source = torch.Generator().manual_seed(1)
    golden = torch.randn(1000, generator=source, dtype=torch.float64)
    actual = golden * (1 + 1e-3 * torch.randn(1000, generator=source, dtype=torch.float64))
    whole = measure(golden, actual, STANDARD["float32"])
    monkeypatch.setattr(accuracy, "CHUNK", 7)
    parts = measure(golden, actual, STANDARD["float32"])
    assert parts == pytest.approx(whole, rel=1e-9)


@pytest.mark.parametrize(("small_errors", "expected"), [(0, True), (2, True), (3, False)])
def test_two_small_values_may_be_off(small_errors: int, expected: bool) -> None:
    golden = torch.full((10,), 2.0**-20)
    actual = golden.clone()
    actual[:small_errors] += 2.0**-25
    assert passes(measure(golden, actual, STANDARD["float32"]), STANDARD["float32"]) is expected


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_the_threshold_of_each_dtype_is_a_limit_of_the_mean(dtype: str) -> None:
    limit = STANDARD[dtype].relative
    below, above = ((torch.full((8,), 1 + factor * limit, dtype=torch.float64)) for factor in (0.9, 1.1))
    ones = torch.ones(8, dtype=torch.float64)
    assert passes(measure(ones, below, STANDARD[dtype]), STANDARD[dtype])
    assert not passes(measure(ones, above, STANDARD[dtype]), STANDARD[dtype])


def test_the_largest_error_may_be_ten_times_the_threshold() -> None:
    golden = torch.ones(1000, dtype=torch.float64)
    for factor, expected in ((9, True), (11, False)):
        actual = golden.clone()
        actual[5] += factor * STANDARD["float32"].relative
        assert passes(measure(golden, actual, STANDARD["float32"]), STANDARD["float32"]) is expected


def test_position_counts_the_last_dimension_fastest() -> None:
    assert position(0, (2, 3)) == [0, 0]
    assert position(5, (2, 3)) == [1, 2]
    assert position(0, ()) == []


def test_equal_outputs_are_correct_with_zero_errors() -> None:
    found = verdict([torch.ones(3), {}, None, torch.tensor(2)], [torch.ones(3), {}, None, torch.tensor(2)])
    assert found.state == "correct" and found.rule == "standard"
    assert found.figures["leaves"] == 2 and found.figures["mare"] == 0


def test_the_worst_leaf_and_its_worst_element_are_named() -> None:
    wrong = torch.ones(2, 3)
    wrong[1, 2] = 3
    found = verdict((torch.ones(2), torch.ones(2, 3)), (torch.ones(2), wrong))
    assert found.state == "incorrect"
    figures = found.figures
    assert (figures["leaf"], figures["worst_index"], figures["max_abs_error"]) == ("output[1]", [1, 2], 2)
    assert (figures["mismatched"], figures["total"]) == (1, 6)
    assert figures["mare"] == pytest.approx(2 / (1 + 1e-7))


@pytest.mark.parametrize(
    ("reference", "candidate", "state"),
    [
        (torch.ones(2), (torch.ones(2),), "structure_differs"),
        ([torch.ones(2)], [torch.ones(2), torch.ones(2)], "structure_differs"),
        ({}, None, "structure_differs"),
        ({"a": torch.ones(2)}, {"b": torch.ones(2)}, "structure_differs"),
        (torch.ones(1), 1.0, "structure_differs"),
        (torch.ones(2), torch.ones(1, 2), "shape_differs"),
        (torch.ones(()), torch.ones(1), "shape_differs"),
        (torch.ones(2), torch.ones(2, dtype=torch.float16), "dtype_differs"),
        (1, 1.0, "dtype_differs"),
        (torch.ones(2, dtype=torch.int32), torch.ones(2, dtype=torch.int64), "dtype_differs"),
    ],
)
def test_what_forbids_comparing_numbers(reference: Any, candidate: Any, state: str) -> None:
    """meta-pytorch/tritonbench#1204: equal values of another dtype are a state of their own."""
    found = verdict(reference, candidate)
    assert found.state == state and found.figures["leaf"].startswith("output")


def test_shapes_are_shown_on_both_sides() -> None:
    assert verdict(torch.ones(2), torch.ones(1, 2)).figures == {
        "leaf": "output", "reference": [2], "candidate": [1, 2],
    }  # fmt: skip


NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("reference", "candidate", "state"),
    [
        ([NAN, 1.0], [NAN, 1.0], "correct"),
        ([INF, -INF], [INF, -INF], "correct"),
        ([INF, 1.0], [-INF, 1.0], "non_finite"),
        ([INF, 1.0], [NAN, 1.0], "non_finite"),
        ([1.0, 1.0], [NAN, 1.0], "non_finite"),
        ([NAN, 1.0], [0.0, 1.0], "non_finite"),
        ([NAN, 1.0], [NAN, 2.0], "incorrect"),
    ],
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.complex64])
def test_non_finite_numbers_stand_at_the_same_places(
    reference: list[float], candidate: list[float], state: str, dtype: torch.dtype
) -> None:
    assert verdict(torch.tensor(reference).to(dtype), torch.tensor(candidate).to(dtype)).state == state


def test_a_missing_nan_is_named_with_its_place() -> None:
    figures = verdict(torch.tensor([[1.0, 2.0], [3.0, NAN]]), torch.ones(2, 2)).figures
    assert figures["worst_index"] == [1, 1] and figures["mismatched"] == 1 and figures["candidate"] == 1


@pytest.mark.parametrize("dtype", ["int8", "uint8", "uint16", "int64", "uint64", "bool"])
def test_integers_are_exact(dtype: str) -> None:
    one = torch.tensor([0, 1, 1]).to(getattr(torch, dtype))
    other = torch.tensor([0, 1, 0]).to(getattr(torch, dtype))
    assert verdict(one, one).state == "correct"
    found = verdict(one, other)
    assert found.state == "incorrect"
    assert found.figures == {
        "leaf": "output", "mismatched": 1, "total": 3, "max_abs_error": 1, "worst_index": [2], "leaves": 1,
    }  # fmt: skip


def test_integers_beyond_float64_are_still_told_apart() -> None:
    found = verdict(torch.tensor([2**62 + 1]), torch.tensor([2**62]))
    assert found.state == "incorrect" and found.figures["max_abs_error"] == 1


def test_complex_numbers_are_compared_by_parts() -> None:
    found = verdict(torch.tensor([1 + 1j, 2 + 2j]), torch.tensor([1 + 1j, 2 + 3j]))
    assert found.state == "incorrect" and found.figures["worst_index"] == [1, 1]
    assert verdict(torch.tensor([1 + 0j]), torch.tensor([1 + 0j])).state == "correct"


def test_texts_and_python_numbers() -> None:
    assert verdict("a", "b").state == "incorrect"
    assert verdict(2.0, 2.0 + 1e-6).state == "correct"
    assert verdict(2.0, 2.1).state == "incorrect"
    assert verdict(2, 3).state == "incorrect"
    assert verdict(2**70, 2**70).state == "correct"


def test_tensors_without_dimensions_and_without_elements() -> None:
    assert verdict(torch.tensor(1.0), torch.tensor(1.5)).figures["worst_index"] == []
    assert verdict(torch.ones(0, 3), torch.ones(0, 3)).state == "correct"
    assert verdict(torch.ones(0, 3), torch.ones(0, 3), CLOSE).state == "correct"
    assert verdict({}, {}).figures == {"leaves": 0}


def test_a_threshold_of_the_operator_replaces_the_table() -> None:
    one, other = torch.ones(4), torch.full((4,), 1.01)
    assert verdict(one, other).state == "incorrect"
    assert verdict(one, other, {**RULE, "threshold": 0.02}).state == "correct"


def test_float16_tanh_off_by_one_ulp_everywhere_passes_the_standard_rule_but_not_close() -> None:
    exact = torch.tanh(torch.linspace(0.5, 2, 1000)).half()
    off = torch.nextafter(exact, torch.tensor(2.0).half())
    assert verdict(exact, off).state == "correct"
    assert verdict(exact, off, {**CLOSE, "rtol": 1e-4, "atol": 0.0}).state == "incorrect"


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "complex64"])
def test_close_agrees_with_torch_testing(dtype: str) -> None:
    kind = getattr(torch, dtype)
    one = torch.linspace(1, 2, 50, dtype=torch.float64).to(kind)
    for factor in (1 + 1e-9, 1 + 1e-6, 1 + 5e-4, 1.01, 1.1):
        other = (one.to(torch.complex128) * factor).to(kind) if kind.is_complex else (one.double() * factor).to(kind)
        try:
            torch.testing.assert_close(other, one)
            expected = "correct"
        except AssertionError:
            expected = "incorrect"
        assert verdict(one, other, CLOSE).state == expected


def test_close_with_tolerances_counts_the_elements_outside() -> None:
    found = verdict(
        torch.tensor([1.0, 1.0, 10.0]), torch.tensor([1.05, 1.3, 10.5]), {**CLOSE, "rtol": 0.1, "atol": 0.0}
    )
    assert found.figures["mismatched"] == 1 and found.figures["worst_index"] == [1]
    assert found.figures["max_abs_error"] == pytest.approx(0.5)


def test_close_with_an_absolute_tolerance_allows_quantised_integers_one_step() -> None:
    one, other = torch.tensor([5, 6], dtype=torch.int8), torch.tensor([6, 6], dtype=torch.int8)
    assert verdict(one, other, {**CLOSE, "atol": 1.0}).state == "correct"
    assert verdict(one, other, CLOSE).state == "incorrect"


@pytest.mark.parametrize("dtype", ["float8_e4m3fn", "float8_e5m2"])
def test_float8_has_rules_of_its_own(dtype: str) -> None:
    one = torch.tensor([1.0, 2.0]).to(getattr(torch, dtype))
    assert verdict(one, one).state == "correct"
    assert verdict(one, torch.tensor([1.0, 16.0]).to(getattr(torch, dtype))).state == "incorrect"


@pytest.mark.parametrize(
    ("dtype", "ulps", "rule", "state"),
    [
        ("float16", 1, RULE, "correct"), ("float16", 3, RULE, "incorrect"),
        ("bfloat16", 1, RULE, "correct"), ("bfloat16", 3, RULE, "incorrect"),
        ("float32", 1, RULE, "correct"), ("float32", 2048, RULE, "incorrect"),  # 2^-13 is 1024 of them
        ("float32", 1, CLOSE, "correct"), ("float32", 130, CLOSE, "incorrect"),  # 1e-5 + 1.3e-6 x are 100
        ("int8", 0, RULE, "correct"), ("int8", 1, RULE, "incorrect"),
    ],
)  # fmt: skip
def test_one_unit_in_the_last_place_is_admitted_and_only_as_many_as_the_limit_says(
    dtype: str, ulps: int, rule: dict[str, Any], state: str
) -> None:
    """hw-native-sys/pypto#1945, mindspore-lab/mindone#1357: tolerances below one unit, the same for fp16 and bf16."""
    kind = getattr(torch, dtype)
    one = torch.linspace(1, 1.5, 64).to(kind) if kind.is_floating_point else torch.arange(64, dtype=kind)
    unit = torch.finfo(kind).eps if kind.is_floating_point else 1  # between 1 and 2 a unit is eps
    found = verdict(one, (one.double() + ulps * unit).to(kind), rule)
    assert found.state == state
    assert ("mere" in found.figures) is (rule is RULE and kind.is_floating_point)
