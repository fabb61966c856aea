"""Arguments made of descriptors."""

from __future__ import annotations

import hashlib
import math
from typing import Any

import pytest
import torch

from msprun.worker.failures import Refusal
from msprun.worker.inputs import make_arguments


def tensor(name: str = "x", dtype: str = "float32", shape: Any = (1000,), **more: Any) -> dict[str, Any]:
    return {"type": "tensor", "name": name, "dtype": dtype, "shape": shape, **more}


def one(descriptor: dict[str, Any]) -> Any:
    return make_arguments([descriptor], 0, 0)[1][0]


def test_the_generator_is_the_documented_hash_of_seed_case_and_name() -> None:
    digest = hashlib.blake2b(b"7/3/x", digest_size=8).digest()
    source = torch.Generator().manual_seed(int.from_bytes(digest, "big") >> 1)
    expected = torch.randn((1000,), generator=source)
    assert torch.equal(make_arguments([tensor()], 7, 3)[1][0], expected)


def test_an_argument_does_not_depend_on_the_others_or_on_the_global_generator() -> None:
    alone = one(tensor("b"))
    torch.manual_seed(99)
    assert torch.equal(make_arguments([tensor("a"), tensor("b")], 0, 0)[1][1], alone)
    assert not torch.equal(one(tensor("a")), alone)


def test_arguments_of_one_name_differ() -> None:
    first, second = make_arguments([tensor(""), tensor("")], 0, 0)[1]
    assert not torch.equal(first, second)


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64"])
def test_signed_integers_cover_minus_100_to_99(dtype: str) -> None:
    made = one(tensor(dtype=dtype, shape=(20000,)))
    assert (int(made.min()), int(made.max())) == (-100, 99)


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "uint32", "uint64"])
def test_unsigned_integers_cover_0_to_99_and_do_not_wrap(dtype: str) -> None:
    made = one(tensor(dtype=dtype, shape=(20000,))).to(torch.int64)
    assert (int(made.min()), int(made.max())) == (0, 99)


def test_integer_ranges_include_both_ends() -> None:
    made = one(tensor(dtype="int8", fill="uniform", low=3.0, high=5.0))
    assert set(made.tolist()) == {3, 4, 5}


def test_bools_are_both() -> None:
    assert set(one(tensor(dtype="bool")).tolist()) == {True, False}


def test_an_empty_integer_range_is_refused_by_case_and_input() -> None:
    with pytest.raises(Refusal, match="case 0, input x: no integer lies in the range"):
        one(tensor(dtype="int32", fill="uniform", low=0.2, high=0.8))


def test_floats_lie_in_their_range() -> None:
    made = one(tensor(dtype="float64", fill="uniform", low=-3.0, high=5.0, shape=(10000,)))
    assert -3 <= made.min() < -2.9 and 4.9 < made.max() <= 5


def test_a_range_as_wide_as_float64_stays_finite() -> None:
    assert one(tensor(dtype="float64", fill="uniform", low=-1.7e308, high=1.7e308)).isfinite().all()


def test_normal_numbers_have_the_mean_and_deviation_asked_for() -> None:
    made = one(tensor(shape=(100000,), mean=5.0, std=0.5))
    assert abs(made.mean().item() - 5) < 0.01 and abs(made.std().item() - 0.5) < 0.01


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_parts_are_normal(dtype: str) -> None:
    made = one(tensor(dtype=dtype, shape=(100000,)))
    assert abs(made.real.std().item() - 1) < 0.02 and abs(made.imag.std().item() - 1) < 0.02


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_narrow_floats_are_made(dtype: str) -> None:
    made = one(tensor(dtype=dtype))
    assert made.dtype == getattr(torch, dtype) and made.to(torch.float32).isfinite().all()


@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        ("float32", 2.5),
        ("float16", 1),
        ("int64", 2**62 + 1),
        ("uint64", 2**64 - 1),
        ("bool", True),
        ("float8_e5m2", 2.0),
    ],
)
def test_a_value_fills_exactly(dtype: str, value: Any) -> None:
    made = one(tensor(dtype=dtype, fill="value", value=value, shape=(2, 3)))
    assert made.shape == (2, 3) and made.tolist() == [[value] * 3] * 2


def test_listed_values_keep_their_places() -> None:
    made = one(tensor(dtype="int32", fill="value", value=[[1, 2], [3, 4]], shape=(2, 2)))
    assert made.tolist() == [[1, 2], [3, 4]] and made.dtype == torch.int32


def test_an_infinite_complex_and_a_0d_value() -> None:
    assert one(tensor(dtype="complex64", fill="value", value=[1.0, 2.0], shape=(2,))).tolist() == [1 + 0j, 2 + 0j]
    assert one(tensor(fill="value", value=3.0, shape=())).item() == 3


def test_a_null_shape_is_none_and_an_empty_one_a_0d_tensor() -> None:
    assert one(tensor(shape=None)) is None
    assert one(tensor(shape=())).shape == ()


def test_offsets_never_fall_and_end_at_the_rows_of_the_first_other_tensor() -> None:
    _, (rows, made) = make_arguments(
        [tensor("x", shape=(64, 3)), tensor("offsets", "int32", (8,), fill="offsets")], 0, 0
    )
    assert len(rows) == 64
    assert made.tolist() == sorted(made.tolist()) and made[-1] == 64 and made[0] >= 0


def test_offsets_of_a_narrow_type_do_not_wrap() -> None:
    made = make_arguments([tensor("x", shape=(1000,)), tensor("offs", "int8", (50,), fill="offsets")], 0, 0)[1][1]
    assert made.tolist() == sorted(made.tolist()) and made.min() >= 0 and made[-1] == 127


def test_offsets_alone_end_at_99_each() -> None:
    assert one(tensor("cumsum", "int64", (4,), fill="offsets"))[-1] == 396


def test_offsets_without_elements_and_without_dimensions() -> None:
    assert one(tensor("offs", "int64", (0,), fill="offsets")).tolist() == []
    assert one(tensor("offs", "int64", (), fill="offsets")).item() == 99


def test_a_tensor_list_is_a_list_of_different_tensors() -> None:
    items = [tensor("t[0]", shape=(4,)), tensor("t[1]", shape=(4,)), tensor("t[2]", "int8", (2,))]
    made = one({"type": "tensor_list", "name": "t", "items": items})
    assert isinstance(made, list) and [t.dtype for t in made] == [torch.float32, torch.float32, torch.int8]
    assert not torch.equal(made[0], made[1])


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        ("none", None, None), ("bool", True, True), ("int", -1, -1), ("float", 2, 2.0), ("complex", [1, -2], 1 - 2j),
        ("str", "tanh", "tanh"), ("list", [1, 2], [1, 2]), ("dtype", "bfloat16", torch.bfloat16),
    ],
)  # fmt: skip
def test_scalars(kind: str, value: Any, expected: Any) -> None:
    made = one({"type": "scalar", "name": "s", "kind": kind, "value": value})
    assert made == expected and type(made) is type(expected)


def test_a_dtype_that_this_torch_lacks_is_refused_by_name() -> None:
    with pytest.raises(Refusal, match="case 0, input x: torch .* has no dtype float7"):
        one(tensor(dtype="float7"))


def test_a_float_value_of_an_integer_tensor_is_cut() -> None:
    assert one(tensor(dtype="int32", fill="value", value=2.0, shape=())).item() == math.floor(2.0)


@pytest.mark.parametrize("dtype", ["float32", "int64", "bool", "float8_e5m2"])
def test_strides_change_where_numbers_lie_and_not_which(dtype: str) -> None:
    plain, strided = one(tensor(dtype=dtype, shape=(3, 4))), one(tensor(dtype=dtype, shape=(3, 4), stride=[1, 3]))
    assert strided.stride() == (1, 3) and strided.tolist() == plain.tolist()
    gaps = one(tensor(dtype=dtype, shape=(3, 4), stride=[16, 2]))
    assert gaps.stride() == (16, 2) and gaps.tolist() == plain.tolist()


def test_a_stride_of_zero_repeats_the_first_element() -> None:
    plain, made = one(tensor(shape=(3, 4))), one(tensor(shape=(3, 4), stride=[0, 1]))
    assert made.stride() == (0, 1) and torch.equal(made, plain[:1].expand(3, 4))


def test_memory_formats_are_those_of_torch() -> None:
    plain, made = one(tensor(shape=(2, 3, 4, 5))), one(tensor(shape=(2, 3, 4, 5), format="channels_last"))
    assert made.is_contiguous(memory_format=torch.channels_last) and torch.equal(made, plain)
    deep = one(tensor(shape=(2, 3, 4, 5, 6), format="channels_last_3d"))
    assert deep.is_contiguous(memory_format=torch.channels_last_3d) and not deep.is_contiguous()
