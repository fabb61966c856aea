"""The least time that a call can take on a chip, and how fast it was."""

from __future__ import annotations

from msgspec import Struct

from msprun.model.measurement import Remark
from msprun.model.soc import Bound, Level, Soc, highest

MIB = 1 << 20
# Bytes and operations may be counted a little too high, and figures are rounded: only far below is impossible.
IMPOSSIBLE = 0.5


class Floor(Struct, frozen=True, kw_only=True):
    """The least time of a call in microseconds, what bounds it, and for memory the level that the bytes come from."""

    us: float
    bound: Bound
    level: Level | None = None


def floor(nbytes: float | None, flops: float | None, soc: Soc | None, cache: str) -> Floor | None:
    """The larger one of what the bytes and what the operations take at least; None where neither is known.

    Bytes over the bandwidth of the fastest level that can hold the working set, operations over the chip's highest
    peak. `cache` is what caches hold before a call (`warm`, `rotate`, `flush`): only flushed ones hold nothing.
    """
    if soc is None:
        return None
    found = [each for each in (_memory(nbytes, soc, cache), _compute(flops, soc)) if each is not None and each.us > 0]
    return max(found, key=lambda each: each.us, default=None)


def is_impossible(time_us: float, least: Floor | None) -> bool:
    """Below half of the floor: the verdict is `below_floor`, and there is no number."""
    return least is not None and time_us < IMPOSSIBLE * least.us


def floor_remark(time_us: float, least: Floor | None, side: str) -> Remark | None:
    """What a time between half the floor and the floor says.

    `served_from_l2`: faster than the memory allows, so caches held a part. `above_peak`: faster than the chip
    computes, so `op.work.flops` counts too much, or the figures are too low.
    """
    if least is None or not IMPOSSIBLE * least.us <= time_us < least.us:
        return None
    figures = {"side": side, "time_us": time_us, "floor_us": least.us}
    if least.bound == "memory":
        return Remark(code="served_from_l2", figures=figures, next="cache=flush")
    return Remark(code="above_peak", figures=figures)


def floor_share(time_us: float | None, least: Floor | None) -> float | None:
    """The floor over the time of a call: 1 where nothing could be faster, None where either is not known."""
    return least.us / time_us if least is not None and time_us else None


def gb_per_s(nbytes: float | None, time_us: float | None) -> float | None:
    """Gigabytes (1e9 bytes) a second."""
    return nbytes / time_us / 1e3 if nbytes is not None and time_us else None


def tflop_per_s(flops: float | None, time_us: float | None) -> float | None:
    """Tera-operations (1e12) a second."""
    return flops / time_us / 1e6 if flops is not None and time_us else None


def _memory(nbytes: float | None, soc: Soc, cache: str) -> Floor | None:
    """Where it is not known whether the second-level cache could hold the bytes, there is no floor."""
    l2_mib = highest(soc.l2_mib)
    if nbytes is None or (cache != "flush" and l2_mib is None):
        return None
    is_held = cache != "flush" and l2_mib is not None and nbytes <= l2_mib * MIB
    level: Level = "l2" if is_held else "hbm"
    bandwidth = highest(soc.l2_gb_s if is_held else soc.hbm_gb_s)
    return None if bandwidth is None else Floor(us=nbytes / bandwidth / 1e3, bound="memory", level=level)


def _compute(flops: float | None, soc: Soc) -> Floor | None:
    peak = soc.peak_tflop_s
    return Floor(us=flops / peak / 1e6, bound="compute") if flops is not None and peak is not None else None
