"""msprun's own kernels are known by their shapes and by lying in no call of an operator."""

from __future__ import annotations

import pytest

from msprun.account.own import boosts
from msprun.model.call import Identity
from tests.account.streams import Recording

SQUARE = {"Input Shapes": '"4093,4093;4093,4093"'}  # as torch_npu writes them, with quotes inside of the cell


def recording() -> Recording:
    made = Recording()
    made.call(0, None, "boost", [("MatMulV3", 900.0, SQUARE), ("MatMulV3", 900.0, SQUARE)])
    made.call(0, "reference", "timed", [("Softmax", 30.0)])
    return made


def test_the_product_of_a_boost_is_known_without_the_quotes() -> None:
    made = recording()
    (own,) = boosts(made.kernels, made.calls)
    assert own.purpose == "boost"
    assert own.identity == Identity(name="MatMulV3", op_type="MatMulV3", input_shapes="4093,4093;4093,4093")


def test_an_operator_that_multiplies_the_same_matrices_keeps_its_kernel() -> None:
    made = recording()
    made.call(0, "candidate", "timed", [("MatMulV3", 900.0, SQUARE), ("Add", 900.0, SQUARE)])
    assert boosts(made.kernels, made.calls) == ()


def test_a_kernel_of_a_boost_whose_clock_is_elsewhere_is_known_by_its_shapes_alone() -> None:
    made = recording()
    moved = made.kernels.assign(start_ns=made.kernels["start_ns"] + 10**9)
    assert [own.identity.op_type for own in boosts(moved, made.calls)] == ["MatMulV3"]


@pytest.mark.parametrize("purpose", ["flush", "restore"])
def test_without_a_boost_or_without_shapes_there_is_none(purpose: str) -> None:
    made = Recording()
    made.call(0, None, purpose, [("MatMulV3", 900.0, SQUARE)])
    assert boosts(made.kernels, made.calls) == ()
    boosted = recording()
    assert boosts(boosted.kernels.drop(columns="Input Shapes"), boosted.calls) == ()
