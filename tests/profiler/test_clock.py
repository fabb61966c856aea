"""The clock profiler: blocks asked for, times answered, samples made."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from msprun import profiler
from msprun.model.measurement import Block
from msprun.profiler.clock import Clock


def _block(calls: int) -> Block:
    return Block(case=3, side="candidate", phase="timed", visit=1, group=4, calls=calls)


def test_a_sample_is_the_block_and_its_time() -> None:
    one, two = Clock().samples([_block(1), _block(10)], {"elapsed_ns": [1500, 20_000]})
    assert (one.case, one.side, one.phase, one.visit, one.group) == (3, "candidate", "timed", 1, 4)
    assert one.call_us == 1.5
    assert two.calls == 10
    assert two.call_us == 2.0


def test_a_clock_too_coarse_for_a_call_never_makes_a_zero() -> None:
    """NVIDIA/cudnn-frontend#795 and #824: 0.000 ms was shipped as valid data."""
    (sample,) = Clock().samples([_block(1)], {"elapsed_ns": [0]})
    assert sample.elapsed_ns == 1


@pytest.mark.parametrize("times", [None, [], [1, 2], ["1"], [1.5], [True], [-1]])
def test_an_answer_without_a_time_for_each_block_is_no_measurement(times: Any) -> None:
    """NVIDIA/cudnn-frontend#795 and #824: no times were taken for zero times."""
    with pytest.raises(ValueError, match="worker's answer"):
        Clock().samples([_block(1)], {"elapsed_ns": times})


def test_nothing_stands_before_the_worker() -> None:
    assert Clock().command(Path("/usr/bin/python3"), Path("/r/wrapper.py")) == ("/usr/bin/python3", "/r/wrapper.py")


def test_it_is_the_default_on_the_processor() -> None:
    assert profiler.default_for("cpu")[0] == "clock"
