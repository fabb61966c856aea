"""Calls of operators: outside of autograd unless gradients are wanted, marked, never with the channel at stake."""

import gc
import time

from .failures import at
from .grad import grad_mode
from .seeding import seed_everything

CLOCK = time.perf_counter_ns


def call_once(running, call, seed, device):
    """One freshly seeded call in the context `running`: its output and its microseconds."""
    seed_everything(seed)
    with running, grad_mode(call):
        device.synchronize()
        start = CLOCK()
        output = call.function(*call.args, **call.kwargs)
        device.synchronize()
        elapsed = CLOCK() - start
    return output, elapsed / 1000


def time_blocks(watch, case, blocks, cache):
    """Nanoseconds of each block [side, calls], run in order without the garbage collector.

    What a side changes for the whole process is looked for at the end, and after each of its blocks once it is known
    to do so.
    """
    elapsed = []
    others = [name for name, _ in blocks if name != "reference"]
    culprit = (others or ["reference"])[0]
    for name, _ in blocks[:1]:
        case.side(name)  # where it was let go, it is made again before anybody looks
    before = watch.reference.look()
    gc.collect()
    gc.disable()
    try:
        for name, calls in blocks:
            with at("timing", name), watch.marked(name), grad_mode(case.side(name).call):
                cache.borders.begin((case.index, name, "call"))
                elapsed.append(cache.run(case, name, calls))
            if name in watch.meddling:
                gc.enable()
                watch.look_at_settings(name)
                gc.disable()
    finally:
        gc.enable()
        case.restore()
        watch.look_around(culprit, before)
    return elapsed
