"""How many calls make a sample."""

from __future__ import annotations

from math import ceil, isfinite

from msprun.model.plan import Schedule

FALLBACK_CALLS = 100


def block_calls(call_us: float, schedule: Schedule) -> int:
    """Calls of a block that lasts at least `block_us`, from 1 to `block_calls_max`.

    An estimate that is no time (zero, negative, not finite: the clock did not see the call) gives a fixed count.
    """
    if not isfinite(call_us) or call_us <= 0:
        return min(FALLBACK_CALLS, schedule.block_calls_max)
    if call_us * schedule.block_calls_max <= schedule.block_us:
        return schedule.block_calls_max
    return max(1, ceil(schedule.block_us / call_us))
