"""msprun's own kernels are known by their shapes and by lying in no call of an operator."""

from __future__ import annotations

import pytest

from msprun.account.own import boosts, separator
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


ODD = {"Input Shapes": '"1,3,5,7,11,13"'}


def test_a_separator_is_known_by_its_shape_whatever_its_name() -> None:
    made = recording()
    made.work([("aclnnInplaceNeg_NegAiCore_Neg", 2.5, ODD | {"op_type": "Neg"})])
    assert separator(made.kernels) == Identity(
        name="aclnnInplaceNeg_NegAiCore_Neg", op_type="Neg", input_shapes="1,3,5,7,11,13"
    )


def test_of_two_kernels_of_a_separators_shape_neither_is_one() -> None:
    made = recording()
    made.work([("Neg", 2.5, ODD), ("Exp", 2.5, ODD)])
    assert separator(made.kernels) is None


def test_without_shapes_no_separator_is_known() -> None:
    made = recording()
    assert separator(made.kernels) is None
    assert separator(made.kernels.drop(columns="Input Shapes")) is None
