"""Remarks on a device that waits: for the host, or for its own streams."""

from __future__ import annotations

from msprun.model.measurement import Remark, SideResult
from msprun.model.operator import Side

# A span this many times as long as the sum of its kernels has gaps; below it has only the usual pauses between kernels.
SPAN_RATIO = 1.5
# From first kernel to last the device was busy for less than half of what the host waited for a call.
HOST_RATIO = 2.0


def span_differs(seen: SideResult, side: Side) -> Remark | None:
    """The kernels of a call fill less than two thirds of the time from the first to the end of the last."""
    if not seen.device_us or seen.span_us is None or seen.span_us <= SPAN_RATIO * seen.device_us:
        return None
    return Remark(code="span_differs", figures={"side": side, "span_us": seen.span_us, "device_us": seen.device_us})


def host_bound(seen: SideResult, side: Side) -> Remark | None:
    """A call, launched and waited for, takes the host more than twice the span of its kernels on the device."""
    if not seen.span_us or seen.host_us is None or seen.host_us <= HOST_RATIO * seen.span_us:
        return None
    return Remark(code="host_bound", figures={"side": side, "host_us": seen.host_us, "span_us": seen.span_us})
