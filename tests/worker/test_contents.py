"""Other contents for the same buffers: as valid as the first, and never the same."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from msprun.worker.contents import change, shrink

MODEL = """
class Model(nn.Module):
    def forward(self, *args, **kwargs):
        return torch.zeros(1)
"""


def changed(bench: Any, provider: str | None = None, cases: Any = None, **more: Any) -> tuple[Any, list[Any], Any]:
    """How contents were found, tensors before, and the session."""
    bench.write(MODEL + (f"def get_inputs():\n    return {provider}\n" if provider else ""), MODEL)
    session = bench.session(cases)
    session.load(0)
    before = [tensor.clone() for _, tensor in session.cases[0].tensors]
    return change(session, session.cases[0], 1, **more), before, session


def tensors(session: Any) -> list[Any]:
    return [tensor for _, tensor in session.cases[0].tensors]


def described(name: str, dtype: str, shape: list[int], **more: Any) -> dict[str, Any]:
    return {"type": "tensor", "name": name, "dtype": dtype, "shape": shape, **more}


def test_a_provider_is_asked_with_another_seed_and_the_buffers_stay(bench: Any) -> None:
    bench.write(MODEL + "def get_inputs():\n    return [torch.randn(4), torch.randint(9, (99,)), 3]\n", MODEL)
    session = bench.session()
    session.load(0)
    addresses = [tensor.data_ptr() for tensor in tensors(session)]
    before = [tensor.clone() for tensor in tensors(session)]
    assert change(session, session.cases[0], 1) == "seed"
    assert [tensor.data_ptr() for tensor in tensors(session)] == addresses
    assert not any(torch.equal(one, other) for one, other in zip(before, tensors(session), strict=True))
    torch.manual_seed(1000003)
    assert torch.equal(tensors(session)[0], torch.randn(4))


def test_descriptors_are_drawn_by_the_same_law_and_explicit_values_stay(bench: Any) -> None:
    cases = [
        [
            described("x", "float32", [64]), described("cu_seqlens", "int32", [8], fill="offsets"),
            described("v", "float32", [2], fill="value", value=[1.5, 2.5]),
            described("p", "float32", [99], fill="uniform", low=0.5, high=1.0),
        ]
    ]  # fmt: skip
    how, before, session = changed(bench, None, cases)
    x, offsets, value, uniform = tensors(session)
    assert how == "seed" and not torch.equal(x, before[0]) and value.tolist() == [1.5, 2.5]
    assert offsets.tolist() == sorted(offsets.tolist()) and offsets[-1] == 64
    assert 0.5 <= uniform.min() and uniform.max() <= 1.0


@pytest.mark.parametrize(
    "provider",
    [
        "[torch.ones(8), torch.arange(8)]",
        "(torch.manual_seed(5), [torch.rand(8), torch.arange(8)])[1]",
        "[torch.rand(int(torch.randint(2, 2000, ()))), torch.arange(8)]",
        "[torch.ones(8), torch.arange(8), float(torch.rand(()))]",
    ],
)
def test_where_a_seed_changes_nothing_or_too_much_floats_are_scaled(bench: Any, provider: str) -> None:
    how, before, session = changed(bench, provider)
    assert how == "perturbed"
    ratio = tensors(session)[0] / before[0]
    assert 0.5 <= ratio.min() and ratio.max() <= 1 and ratio.unique().numel() > 1 and not bool((ratio == 1).all())
    assert torch.equal(tensors(session)[1], before[1])


def test_masks_stay_while_other_floats_change(bench: Any) -> None:
    mask = "torch.zeros(4, 4).masked_fill(torch.ones(4, 4).triu(1) > 0, float('-inf'))"
    how, before, session = changed(bench, f"[torch.ones(4), {mask}, (torch.arange(6) % 2).float()]")
    assert how == "perturbed" and not torch.equal(tensors(session)[0], before[0])
    assert torch.equal(tensors(session)[1], before[1]) and torch.equal(tensors(session)[2], before[2])


def test_whole_numbers_alone_are_rolled(bench: Any) -> None:
    how, before, session = changed(bench, "[torch.arange(4.0)]")
    assert how == "perturbed" and tensors(session)[0].tolist() == [3, 0, 1, 2]


@pytest.mark.parametrize("provider", ["[torch.arange(4)]", "[torch.zeros(4)]", "[3]"])
def test_contents_that_cannot_change_are_said_to(bench: Any, provider: str) -> None:
    how, before, session = changed(bench, provider)
    assert how is None and all(torch.equal(a, b) for a, b in zip(before, tensors(session), strict=True))


def test_an_attack_without_other_contents_says_so_and_repeats_the_call(bench: Any) -> None:
    model = "class Model(nn.Module):\n    def forward(self, x):\n        return x + 1\n"
    bench.write(model + "def get_inputs():\n    return [torch.arange(4)]\n", model.replace("Model", "ModelNew"))
    session = bench.session()
    session.load(0)
    for side in ("reference", "candidate"):
        session.construct(0, side)
        session.first(0, side)
    found = session.attack(0, "candidate", None, None)
    assert (found["state"], found["figures"]["on"]) == ("correct", "later_call")
    assert found["notes"] == [{"code": "contents_not_changed", "figures": {"side": "candidate"}}]


def test_only_floats_change_where_a_plan_was_made_of_integers(bench: Any) -> None:
    how, before, session = changed(bench, "[torch.rand(8), torch.randint(99, (99,))]", floats_only=True)
    assert how == "seed" and not torch.equal(tensors(session)[0], before[0])
    assert torch.equal(tensors(session)[1], before[1])


def test_expanded_and_strided_inputs_keep_their_memory(bench: Any) -> None:
    how, before, session = changed(bench, "[torch.randn(3).expand(4, 3), torch.randn(4, 6)[:, ::2]]")
    assert how == "seed" and [t.stride() for t in tensors(session)] == [(0, 1), (6, 2)]
    assert torch.equal(tensors(session)[0][0], tensors(session)[0][3])
    assert not torch.equal(tensors(session)[0], before[0])


def test_shrinking_scales_all_floats_at_once(bench: Any) -> None:
    _, _, session = changed(bench, "[torch.ones(4), torch.arange(4)]")
    session.cases[0].tensors[0][1].fill_(2)
    assert shrink(session.cases[0], 0) and tensors(session)[0].tolist() == [1.5] * 4
    assert shrink(session.cases[0], 2) and tensors(session)[0].tolist() == [1.25] * 4  # 1.5 times 5 / 6
