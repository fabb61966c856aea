"""What counts as computing is a list of names; what is not on a list is unknown."""

from __future__ import annotations

import pytest

from msprun.model.frame import KINDS
from msprun.reader.kinds import KIND_OF, kind


@pytest.mark.parametrize(
    "word",
    ["AI_CORE", "AI_VECTOR_CORE", "MIX_AIC", "MIX_AIV", "DSA_SQE", "KERNEL_AIVEC", "KERNEL_MIX_AIV", "AIV", "AIV_SQE"],
)
def test_every_core_of_every_chip_computes(word: str) -> None:
    assert kind(word) == "compute"


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("AI_CPU", "ai_cpu"),
        ("KERNEL_AICPU", "ai_cpu"),
        ("MEMCPY_ASYNC", "copy"),
        ("SDMA", "copy"),
        ("HCCL", "communication"),
        ("COMMUNICATION", "communication"),
        ("HCCL_AI_CPU", "communication"),
        ("EVENT_WAIT", "other"),
        ("TASK_TIMEOUT_SET", "other"),
        ("PROFILER_TRACE_EX", "other"),
        ("Notify Wait", "other"),
        ("Write Value", "other"),
        (" notify record\t", "other"),
        (None, "unknown"),
        ("", "unknown"),
        ("N/A", "unknown"),
        ("FFTS_PLUS", "unknown"),
        ("FUSION", "unknown"),
        ("MIX_SOMETHING_NEW", "unknown"),
    ],
)
def test_the_others_are_told_apart(word: str | None, expected: str) -> None:
    assert kind(word) == expected


def test_the_kinds_are_those_of_the_frame() -> None:
    assert {*KIND_OF.values(), "unknown"} == {*KINDS}
