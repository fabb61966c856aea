"""What a worker tells of arguments: enough to count bytes and operations, never values of tensors."""

from __future__ import annotations

import json
from enum import IntEnum
from typing import Any

import pytest
import torch

from msprun.worker.binding import Arguments
from msprun.worker.facts import LONGEST, described, facts


def test_tensors_are_shape_and_dtype() -> None:
    assert described(torch.zeros(2, 0, 3, dtype=torch.bfloat16)) == {"shape": [2, 0, 3], "dtype": "bfloat16"}
    assert described(torch.tensor(1)) == {"shape": [], "dtype": "int64"}


def test_lists_hold_their_entries() -> None:
    assert described([torch.zeros(2), None, (1, 2.5)]) == [{"shape": [2], "dtype": "float32"}, None, [1, 2.5]]
    assert described(torch.Size((3, 4))) == [3, 4]


@pytest.mark.parametrize("value", [3, 0.5, True, None, -1])
def test_plain_values_stand_for_themselves(value: Any) -> None:
    assert described(value) is value


class Kind(IntEnum):
    ONE = 1


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("sum", "str"),
        (torch.float16, "dtype"),
        (1j, "complex"),
        (float("nan"), "float"),
        (float("inf"), "float"),
        pytest.param(10**5000, "int", id="huge"),
        ({"x": 1}, "dict"),
        (object(), "object"),
        (list(range(LONGEST + 1)), "list"),
        ([[[[1]]]], [[[{"kind": "list"}]]]),
    ],
)
def test_anything_else_is_named(value: Any, kind: Any) -> None:
    told = described(value)
    assert told == (kind if isinstance(kind, list) else {"kind": kind})
    json.dumps(told, allow_nan=False)


def test_an_enum_is_a_number() -> None:
    assert json.dumps(described(Kind.ONE)) == "1"


def test_arguments_come_in_the_order_of_the_call() -> None:
    assert facts(Arguments([1, 2], {"k": 3})) == [[None, 1], [None, 2], ["k", 3]]
    assert facts(Arguments([1, 2], {}, ["x", "y"])) == [["x", 1], ["y", 2]]
