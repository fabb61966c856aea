"""Copies of inputs that keep their place in memory, and memory that is shared."""

from __future__ import annotations

import gc
from typing import Any

import pytest
import torch

from msprun.worker.layout import extent, laid, overlaps, twin, write
from msprun.worker.poison import poison
from msprun.worker.snapshot import Snapshot

STRIDED: list[Any] = [
    torch.arange(12.0).reshape(3, 4),
    torch.arange(12.0).reshape(3, 4).t(),
    torch.arange(24.0).reshape(4, 6)[:, ::2],
    torch.arange(3.0).expand(4, 3),
    torch.arange(48.0).reshape(1, 3, 4, 4).contiguous(memory_format=torch.channels_last),
    torch.tensor(2.5),
    torch.empty(0, 3),
    torch.tensor([True, False]),
    torch.tensor([1 + 2j, 3 - 1j]),
    torch.tensor([1.0, 2.0]).to(torch.float8_e5m2),
]


@pytest.mark.parametrize("tensor", STRIDED)
def test_a_twin_has_the_same_values_and_strides_in_other_memory(tensor: torch.Tensor) -> None:
    copy = twin(tensor)
    assert copy.stride() == tensor.stride() and copy.shape == tensor.shape
    assert torch.equal(copy.to(torch.complex64), tensor.to(torch.complex64)) and not overlaps(copy, tensor)


@pytest.mark.parametrize("tensor", STRIDED)
def test_a_snapshot_sees_a_change_and_undoes_it_in_place(tensor: torch.Tensor) -> None:
    tensor = twin(tensor)
    first, address, strides = tensor.to(torch.complex64), tensor.data_ptr(), tensor.stride()
    snapshot = Snapshot([("x", tensor)])
    assert snapshot.changed() == []
    write(tensor, torch.zeros(tensor.shape).to(tensor.dtype))
    assert snapshot.changed() == ([0] if tensor.numel() else [])
    snapshot.restore()
    assert torch.equal(tensor.to(torch.complex64), first)
    assert (tensor.data_ptr(), tensor.stride()) == (address, strides) and snapshot.changed() == []


def test_an_input_whose_memory_was_exchanged_gets_its_own_again() -> None:
    x = torch.arange(6.0).reshape(2, 3)
    address = x.data_ptr()
    snapshot = Snapshot([("x", x)])
    x.data = x.clone()
    assert snapshot.changed() == [0]
    snapshot.restore([0])
    assert x.data_ptr() == address
    x.t_()
    assert snapshot.changed() == [0]
    snapshot.restore([0])
    assert x.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_a_nan_is_no_change_and_the_sign_of_zero_is_one() -> None:
    x = torch.tensor([float("nan"), 0.0])
    snapshot = Snapshot([("x", x)])
    assert snapshot.changed() == []
    x[1] = -0.0
    assert snapshot.changed() == [0]


def test_copies_are_no_tensors_that_others_could_find() -> None:
    """gpu-mode/pygpubench#7: tensors are found through the garbage collector."""
    marked = torch.full((7, 11, 13), 3.0)
    snapshot = Snapshot([("x", marked)])
    found = [one for one in gc.get_objects() if type(one) is torch.Tensor and one.shape == (7, 11, 13)]
    assert len(found) == 1 and snapshot.changed() == []


def test_sparse_inputs_are_held_and_restored() -> None:
    x = torch.eye(3).to_sparse()
    snapshot = Snapshot([("x", x)])
    x.mul_(2)
    assert snapshot.changed() == [0]
    snapshot.restore()
    assert torch.equal(x.to_dense(), torch.eye(3))


def test_strides_leave_gaps_and_repeat_elements() -> None:
    made = laid(torch.arange(6.0).reshape(2, 3), (8, 2))
    assert made.tolist() == [[0, 1, 2], [3, 4, 5]] and made.stride() == (8, 2) and extent(made) == 13
    assert laid(torch.arange(6.0).reshape(2, 3), (0, 1)).tolist() == [[0, 1, 2], [0, 1, 2]]


def test_parts_of_one_memory_overlap_only_where_they_reach() -> None:
    x = torch.zeros(10)
    assert overlaps(x[2:5], x[4:]) and not overlaps(x[:4], x[4:]) and not overlaps(x, x[:0])
    assert not overlaps(x, x.clone()) and not overlaps(x, torch.eye(2).to_sparse())


def test_poisoned_memory_is_nan_for_who_gets_it_next() -> None:
    """ScalingIntelligence/KernelBench#82: output memory recycled from the reference."""
    x = torch.full((64, 100), 7.0)
    addresses = {x.data_ptr()}
    del x
    poison([64 * 100 * 4], torch.device("cpu"))
    got = torch.empty(64, 100)
    assert got.data_ptr() not in addresses or bool(got.isnan().any())
    assert not bool((got == 7).all())


def test_poison_leaves_out_what_would_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("msprun.worker.poison.free_bytes", lambda: 1 << 20)
    monkeypatch.setattr(torch, "empty", lambda *args, **more: pytest.fail("too large"))
    poison([100 << 20], torch.device("cpu"))
