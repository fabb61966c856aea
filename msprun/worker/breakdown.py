"""The torch operators inside a call, by Kineto, in a pass of its own: the profiler costs about 0.7 us an event."""

import time
from collections import Counter

import torch

from .grad import grad_mode


def break_down(running, call):
    """The (name, duration_ns) of operators that no other operator called, and the call's wall time in nanoseconds.

    torch.profiler would import torch's compiler first (2 s), the autograd profiler records the same events without.
    """
    with running, grad_mode(call), torch.autograd.profiler.profile(use_kineto=True) as profile:
        start = time.perf_counter_ns()
        call()
        wall = time.perf_counter_ns() - start
    return list(outermost(spans(profile))), wall


def summary(events, wall):
    """Operators summed by name, the longest first."""
    totals = {}
    for name, duration_ns in events:
        calls, before = totals.get(name, (0, 0))
        totals[name] = (calls + 1, before + duration_ns)
    rows = [{"name": name, "calls": calls, "duration_us": ns / 1000} for name, (calls, ns) in totals.items()]
    rows.sort(key=lambda row: -row["duration_us"])
    return {"operators": rows, "operators_us": sum(row["duration_us"] for row in rows), "wall_us": wall / 1000}


def vary(several):
    """Calls, each a list of events, did not run the same operators equally often."""
    counts = [Counter(name for name, _ in events) for events in several]
    return any(count != counts[0] for count in counts)


def spans(profile):
    """(thread, start_ns, duration_ns, name) of all events on the CPU; older torches count in microseconds.

    Not of record_function: such a label is no operator, and would hide those inside it.
    """
    found = []
    for event in profile.kineto_results.events():
        is_label = hasattr(event, "is_user_annotation") and event.is_user_annotation()
        if is_label or event.device_type() != torch.autograd.DeviceType.CPU:
            continue
        if hasattr(event, "start_ns"):
            start, duration = event.start_ns(), event.duration_ns()
        else:
            start, duration = event.start_us() * 1000, event.duration_us() * 1000
        found.append((event.start_thread_id(), start, duration, event.name()))
    return found


def outermost(spans):
    """(name, duration_ns) of the spans that lie in no other span of their thread."""
    end = {}
    for thread, start, duration, name in sorted(spans, key=lambda span: (span[0], span[1], -span[2])):
        if start >= end.get(thread, float("-inf")):
            end[thread] = start + duration
            yield name, duration
