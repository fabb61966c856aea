"""How many calls make a sample."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil, isfinite

from msprun.model.operator import Side
from msprun.model.plan import Schedule

FALLBACK_CALLS = 100
# To have as many calls as the other side a block may last this many times `block_us`.
LONGEST = 20


def block_calls(call_us: float, schedule: Schedule) -> int:
    """Calls of a block that lasts at least `block_us`, from 1 to `block_calls_max`.

    An estimate that is no time (zero, negative, not finite: the clock did not see the call) gives a fixed count.
    """
    if not isfinite(call_us) or call_us <= 0:
        return min(FALLBACK_CALLS, schedule.block_calls_max)
    if call_us * schedule.block_calls_max <= schedule.block_us:
        return schedule.block_calls_max
    return max(1, ceil(schedule.block_us / call_us))


def even_blocks(calls_us: Mapping[Side, float], schedule: Schedule) -> dict[Side, int]:
    """Calls of a block of each side: the same number, as far as the slower side's block stays short.

    The first call after the other side's is the slowest (measured: 2.4 us of 26), so blocks of one call against blocks
    of two are a difference of 10 % between identical code.
    """
    alone = {side: block_calls(us, schedule) for side, us in calls_us.items()}
    most = max(alone.values(), default=1)
    longest_us = LONGEST * schedule.block_us
    return {
        side: max(alone[side], min(most, int(longest_us / us) if us > 0 else most)) for side, us in calls_us.items()
    }
