"""Calls of operators: outside of autograd, marked, and never with the channel at stake."""

import gc
import time

import torch

from .failures import at
from .seeding import seed_everything


def call_once(mark, name, call, seed):
    """One freshly seeded call: its output and its microseconds."""
    seed_everything(seed)
    with mark.running(name), torch.no_grad():
        start = time.perf_counter_ns()
        output = call.function(*call.args, **call.kwargs)
        elapsed = time.perf_counter_ns() - start
    return output, elapsed / 1000


def time_blocks(mark, case, blocks):
    """Nanoseconds of each block [side, calls], run in order without the garbage collector.

    Where a side changes its inputs they are restored before every call, outside of the borders.
    """
    run = run_alone if case.changing else run_block
    elapsed = []
    gc.collect()
    gc.disable()
    try:
        with torch.no_grad():
            for name, calls in blocks:
                call = case.side(name).call
                with at("timing", name), mark.running(name):
                    elapsed.append(run(case, call, calls))
    finally:
        gc.enable()
        case.restore()
    return elapsed


def run_block(case, call, calls):
    """A block of calls between two readings of the clock."""
    function, args, kwargs = call
    clock = time.perf_counter_ns
    rest = range(calls)
    start = clock()
    for _ in rest:
        function(*args, **kwargs)
    return clock() - start


def run_alone(case, call, calls):
    """The sum over calls that each begin with restored inputs."""
    total = 0
    for _ in range(calls):
        case.restore()
        total += run_block(case, call, 1)
    return total
