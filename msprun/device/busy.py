"""Who else uses the device: before a session it is waited for, after it what changed is said."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection

from msprun.device.choice import BESIDE_MB, BUSY_PERCENT, BUSY_SHARE, share
from msprun.errors import MachineError
from msprun.model.measurement import Remark
from msprun.model.npu import Process, Use

Look = Callable[[], Use | None]
# Memory that a session leaves behind: more than drivers keep for a context that is just being taken down.
KEPT_MB = 256
SETTLE_S = 0.5
SETTLES = 4
_POLL_S = 5.0


def others(use: Use, sessions: Collection[int]) -> tuple[Process, ...]:
    """Processes on the device that belong to none of our sessions, which are named by their leaders' pids.

    A pid of another namespace, as containers see it, is taken for somebody else's.
    """
    return tuple(process for process in use.processes or () if _session(process.pid) not in sessions)


def why_busy(use: Use, sessions: Collection[int]) -> str | None:
    """What speaks against measuring now; None where nothing does. Memory counts also where its owner is not shown."""
    heavy = [process for process in others(use, sessions) if (process.memory_mb or 0) >= BESIDE_MB]
    if heavy:
        first = max(heavy, key=lambda process: process.memory_mb or 0)
        more = f" and {len(heavy) - 1} more" if len(heavy) > 1 else ""
        return f"{first.name or 'a process'} (pid {first.pid}, {first.memory_mb} MB){more} is on it"
    if (use.aicore_percent or 0) > BUSY_PERCENT:
        return f"its AI cores are {use.aicore_percent:g} % busy"
    used = share(use.memory_used_mb, use.memory_total_mb)
    if used is not None and used > BUSY_SHARE:
        return f"{use.memory_used_mb} of its {use.memory_total_mb} MB are used"
    return None


def admit(look: Look, name: str, policy: str, wait_s: float, say: Callable[[str], None]) -> Use | None:
    """What is seen of the device before a session, once `device.busy` lets it begin; None where nothing is known.

    `wait` waits until nobody else uses it, `refuse` does not, `warn` begins all the same. Raises MachineError.
    """
    end, is_told = time.monotonic() + wait_s, False
    while True:
        use = look()
        why = None if use is None else why_busy(use, ())
        if why is None or policy == "warn":
            return use
        if policy == "refuse" or time.monotonic() >= end:
            raise MachineError(
                f"{name} is busy: {why}",
                "choose another device: device.id; or measure beside it, and have that said: device.busy=warn",
            )
        if not is_told:
            say(f"waiting for {name}: {why}")
            is_told = True
        time.sleep(min(_POLL_S, max(0.0, end - time.monotonic())))


def settled(look: Look, before: Use | None) -> Use | None:
    """What is seen after a session: a driver takes a moment to give memory back."""
    after = look()
    for _ in range(SETTLES):
        if kept_mb(before, after) is None:
            break
        time.sleep(SETTLE_S)
        after = look()
    return after


def remarks(before: Use | None, after: Use | None, sessions: Collection[int] = ()) -> tuple[Remark, ...]:
    """What a reader of a session's times must know: device_busy, shared_device, memory_kept, unhealthy_device.

    `device_busy`: others were there before. `shared_device`: others came, or the load changed, while it was measured.
    """
    found = []
    first = set() if before is None else {process.pid for process in others(before, sessions)}
    was_busy = None if before is None else why_busy(before, sessions)
    if before is not None and was_busy is not None:
        found.append(Remark(code="device_busy", figures=_figures(before, len(first))))
    if after is None:
        return tuple(found)
    came = [process for process in others(after, sessions) if process.pid not in first]
    is_busy = why_busy(after, sessions)
    kept = kept_mb(before, after)
    if came or (is_busy is not None and was_busy is None and before is not None and kept is None):
        found.append(Remark(code="shared_device", figures=_figures(after, len(came))))
    elif kept is not None:
        found.append(Remark(code="memory_kept", figures={"kept_mb": kept}))
    if after.health not in ("OK", "UNKNOWN"):
        found.append(Remark(code="unhealthy_device", figures={"health": after.health}))
    return tuple(found)


def kept_mb(before: Use | None, after: Use | None) -> int | None:
    """Memory that is used after a session, was not before, and has no new owner; None for less than 256 MB."""
    if before is None or after is None or before.memory_used_mb is None or after.memory_used_mb is None:
        return None
    known = {process.pid for process in before.processes or ()}
    if any(process.pid not in known for process in after.processes or ()):
        return None
    more = after.memory_used_mb - before.memory_used_mb
    return more if more > KEPT_MB else None


def _figures(use: Use, count: int) -> dict[str, float]:
    """Processes of others, load and memory, as far as they are known."""
    told = {"others": count, "aicore_percent": use.aicore_percent, "used_mb": use.memory_used_mb}
    return {name: value for name, value in told.items() if value is not None}


def _session(pid: int) -> int | None:
    try:
        return os.getsid(pid)
    except (ProcessLookupError, PermissionError):
        return None
