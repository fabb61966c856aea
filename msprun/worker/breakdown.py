"""The torch operators inside one call, by Kineto, in a pass of its own: the profiler costs about 0.7 us an event."""

import time

import torch


def break_down(call):
    """Operators that no other operator called, summed by name, and the call's wall time under the profiler.

    torch.profiler would import torch's compiler first (2 s), the autograd profiler records the same events without.
    """
    with torch.no_grad(), torch.autograd.profiler.profile(use_kineto=True) as profile:
        start = time.perf_counter_ns()
        call()
        wall = time.perf_counter_ns() - start
    totals = {}
    for name, duration_ns in outermost(spans(profile)):
        calls, before = totals.get(name, (0, 0))
        totals[name] = (calls + 1, before + duration_ns)
    rows = [{"name": name, "calls": calls, "duration_us": ns / 1000} for name, (calls, ns) in totals.items()]
    rows.sort(key=lambda row: -row["duration_us"])
    return {"operators": rows, "operators_us": sum(row["duration_us"] for row in rows), "wall_us": wall / 1000}


def spans(profile):
    """(thread, start_ns, duration_ns, name) of all events on the CPU; older torches count in microseconds."""
    found = []
    for event in profile.kineto_results.events():
        if event.device_type() != torch.autograd.DeviceType.CPU:
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
