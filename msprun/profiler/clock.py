"""The host's monotonic clock around each block of calls, nothing else running beside it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msprun.model.measurement import Block, Sample


class Clock:
    """`time.perf_counter_ns` in the worker. Profilers cost up to 71 % on small calls, so none is attached."""

    timing_method = "clock.perf_counter_ns"
    source = "perf_counter_ns"
    collector: str | None = None

    def command(self, python: Path, wrapper: Path) -> tuple[str, ...]:
        """The worker itself: no program stands before it."""
        return (str(python), str(wrapper))

    def samples(self, asked: Sequence[Block], answer: dict[str, Any]) -> tuple[Sample, ...]:
        """One sample a block. Raises ValueError when the answer has not one positive time for each block."""
        times = answer.get("elapsed_ns")
        if not isinstance(times, list) or len(times) != len(asked):
            raise ValueError("the worker's answer has not one time for each block")
        if any(type(t) is not int or t < 0 for t in times):
            raise ValueError("the worker's answer holds times that are no times")
        return tuple(
            Sample(
                case=block.case,
                side=block.side,
                phase=block.phase,
                visit=block.visit,
                group=block.group,
                calls=block.calls,
                elapsed_ns=max(elapsed_ns, 1),
            )
            for block, elapsed_ns in zip(asked, times, strict=True)
        )
