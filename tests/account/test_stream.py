"""Rows become arrays: in order, once each, known by more than a name."""

from __future__ import annotations

from typing import Any

import pytest

from msprun.account.stream import AI_CPU, COMPUTE, COPY, OTHER, UNKNOWN, stream
from tests.account.streams import SEPARATOR, Recording, rows_of


def row(**more: Any) -> dict[str, Any]:
    recording = Recording()
    recording.kernel("Flash", 10.0)
    return recording.rows[0] | more


@pytest.mark.parametrize(
    ("kind", "role", "counts"),
    [
        ("compute", COMPUTE, True), ("ai_cpu", AI_CPU, True), ("copy", COPY, False), ("communication", OTHER, False),
        ("other", OTHER, False), ("unknown", UNKNOWN, False), ("news", UNKNOWN, False), (None, UNKNOWN, False),
    ],
)  # fmt: skip
def test_kinds_of_tasks(kind: Any, role: int, counts: bool) -> None:
    found = stream(rows_of([row(kind=kind)]))
    assert (found.role.tolist(), found.is_kernel.tolist()) == ([role], [counts])


@pytest.mark.parametrize(
    ("other", "rows"),
    [
        ({"duration_ns": 3_000}, 1),
        ({"task": 8}, 2),
        ({"stream": 9}, 2),
        ({"start_ns": 1}, 2),
        ({"name": "Other"}, 2),
        ({"task_kind": "AI_CORE"}, 2),
        ({"task": None}, 2),
    ],
)
def test_mix_kernel_is_one_by_stream_task_and_start(other: dict[str, Any], rows: int) -> None:
    mix = row(task_kind="MIX_AIV")
    found = stream(rows_of([mix, mix | other]))
    assert len(found.start) == rows
    assert found.duration.max() == 10_000


def test_kernels_of_the_same_start_that_are_not_mixed_stay_two() -> None:
    assert len(stream(rows_of([row(), row()])).start) == 2


def test_identity_is_name_type_and_shapes_together() -> None:
    names = {"name": "Neg", "op_type": "Neg"}
    rows = [row(**names), row(**names, **{"Input Shapes": SEPARATOR.input_shapes}), row(**{"Input Shapes": "1,3"})]
    found = stream(rows_of([one | {"start_ns": at} for at, one in enumerate(rows)]))
    matched = found.matches(SEPARATOR)
    assert matched is not None and matched.tolist() == [False, True, False]


def test_identity_is_not_known_without_shapes() -> None:
    found = stream(rows_of([row(**{"Input Shapes": None})]))
    assert found.matches(SEPARATOR) is None
    assert stream(rows_of([row()]).drop(columns="Input Shapes")).matches(SEPARATOR) is None


def test_cells_that_were_not_written_are_none() -> None:
    found = stream(rows_of([row(name=None, op_type=None, block_num=None, device=None)]))
    assert (found.what[0].name, found.what[0].block_num, found.device.tolist()) == (None, None, [-1])


def test_no_rows_are_a_stream_too() -> None:
    assert len(stream(rows_of([])).start) == 0
