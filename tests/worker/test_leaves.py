"""Outputs as leaves, in memory and in a file."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch

from msprun.worker import storage
from msprun.worker.leaves import flatten, rebuild, same_bits

Pair = namedtuple("Pair", "a b")


@dataclass
class Output:
    loss: Any
    extra: Any = None


def structure(value: Any) -> list[Any]:
    return [leaf.structure for leaf in flatten(value)]


def test_lists_tuples_and_named_tuples_are_one_kind() -> None:
    x = torch.zeros(2)
    assert structure([x, x]) == structure((x, x)) == structure(Pair(x, x))


def test_one_tensor_a_tuple_of_one_and_an_empty_dict_differ() -> None:
    x = torch.zeros(2)
    values: list[Any] = [x, (x,), {}, None, [], {"a": x}, {"b": x}]
    found = [tuple(map(tuple, structure(value))) for value in values]
    assert len(set(found)) == 7


def test_dicts_compare_in_any_order_and_by_key() -> None:
    assert structure({"a": 1, "b": 2}) == structure({"b": 2, "a": 1})


def test_dataclasses_compare_by_their_fields() -> None:
    assert [leaf.path for leaf in flatten(Output(1.5))] == ["output", "output['extra']", "output['loss']"]


def test_an_object_that_nobody_can_compare_is_refused() -> None:
    with pytest.raises(TypeError, match=r"output\[0\] is a object, which cannot be compared"):
        flatten([object()])


def test_sparse_and_conjugated_tensors_become_plain() -> None:
    dense = torch.eye(3)
    assert torch.equal(flatten(dense.to_sparse())[0].tensor, dense)
    turned = torch.tensor([1 + 2j]).conj()
    assert flatten(turned)[0].tensor.tolist() == [1 - 2j] and not flatten(turned)[0].tensor.is_conj()


@pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor")
def test_quantised_tensors_are_dequantised_and_keep_their_name() -> None:
    made = torch.quantize_per_tensor(torch.tensor([0.5, 1.0]), 0.5, 0, torch.qint8)
    leaf = flatten(made)[0]
    assert leaf.dtype == "qint8" and leaf.tensor.tolist() == [0.5, 1.0]


def test_leaves_do_not_share_memory_with_outputs() -> None:
    x = torch.zeros(2)
    leaf = flatten(x)[0]
    x.fill_(1)
    assert leaf.tensor.tolist() == [0, 0]


@pytest.mark.parametrize(
    "dtype",
    ["float16", "bfloat16", "float64", "complex64", "int8", "uint16", "uint64", "bool", "float8_e4m3fn"],
)
def test_tensors_of_every_kind_survive_the_file(tmp_path: Path, dtype: str) -> None:
    made = torch.tensor([0, 1, 3]).to(torch.float32 if "8_" in dtype else torch.int64).to(getattr(torch, dtype))
    digest = storage.store(flatten(made), tmp_path / "out" / "x")
    leaves, found = storage.restore(tmp_path / "out" / "x")
    assert digest == found and len(digest) == 64
    assert leaves[0].dtype == dtype and same_bits(leaves[0].tensor, made)


def test_a_nested_output_comes_back_whole(tmp_path: Path) -> None:
    value = {"a": [torch.ones(2, 0), torch.tensor(2.5)], "b": (None, "text", 3, 2.5, True, 1 + 2j, 2**70), "c": {}}
    storage.store(flatten(value), tmp_path / "out" / "x")
    again = rebuild(storage.restore(tmp_path / "out" / "x")[0])
    assert again["a"][0].shape == (2, 0) and again["a"][1].item() == 2.5
    assert again["b"] == (None, "text", 3, 2.5, True, 1 + 2j, str(2**70)) and again["c"] == {}


def test_one_changed_byte_changes_the_hash(tmp_path: Path) -> None:
    path = tmp_path / "out" / "x"
    digest = storage.store(flatten(torch.ones(4)), path)
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    assert storage.restore(path)[1] != digest
    path.write_bytes(content + b"more")
    assert storage.restore(path)[1] != digest
    path.write_bytes(content[:-1])
    with pytest.raises(ValueError, match="ends too early"):
        storage.restore(path)


def test_same_bits_takes_nan_as_itself_and_tells_zeros_apart() -> None:
    nan = torch.tensor([float("nan"), 1.0])
    assert same_bits(nan, nan.clone())
    assert not same_bits(torch.tensor(0.0), torch.tensor(-0.0))
    assert not same_bits(torch.zeros(2), torch.zeros(3))
    assert same_bits(torch.zeros(2, 3).t(), torch.zeros(3, 2))
