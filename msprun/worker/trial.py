"""One call that is looked at from all sides: what it gave, what it did to its inputs, whether it was done by then."""

import threading
import time
from typing import Any, NamedTuple

from .calling import call_once
from .grad import leaves_of
from .layout import overlaps
from .leaves import same_bits
from .poison import poison
from .walk import tensors_in

PAUSE_S = (0.001, 0.05)
THREADS_S = 0.25


class Trial(NamedTuple):
    """`leaves` are copies of `output` made at once, `changed` the leaves of changed inputs by position.

    `is_late` says that output or inputs changed after the call had returned, `shared` are the positions of the inputs
    whose memory the output shares.
    """

    output: Any
    us: float
    leaves: list
    changed: dict
    is_late: bool = False
    shared: frozenset = frozenset()

    @property
    def tensors(self):
        """Pairs (path, tensor) of the live output."""
        return tensors_in(self.output, "output")

    def content_changed(self):
        """The output no longer holds what the call gave."""
        return differ(self.leaves, leaves_of(self.output))


def attempt(session, case, side, seed):
    """The Trial of one call on the inputs as they are, in poisoned memory unless the side is the reference.

    Where the sides do not fit into memory together, it does not keep the output.
    """
    call = case.side(side).call
    if side != "reference":
        poison(case.sizes, session.device)
    threads = set(threading.enumerate())
    running = session.watch.running(side) if side != "reference" else session.watch.marked(side)
    output, us = call_once(running, call, seed, session.host)
    leaves = leaves_of(output)
    is_late = False
    if side != "reference":
        wait(threads, us)
        is_late = differ(leaves, leaves_of(output))
    shared = inputs_shared(output, case)
    return Trial(None if case.is_parted else output, us, leaves, case.settle(), is_late, shared)


def inputs_shared(output, case):
    """Positions of the inputs whose memory an output shares."""
    mine = [tensor for _, tensor in tensors_in(output, "output")]
    inputs = [tensor for _, tensor in case.tensors]
    return frozenset(place for place, tensor in enumerate(inputs) if any(overlaps(tensor, one) for one in mine))


def wait(threads, us):
    """Give work that the call left behind the time that the call took, and new threads a quarter of a second."""
    time.sleep(min(max(us / 1e6, PAUSE_S[0]), PAUSE_S[1]))
    end = time.monotonic() + THREADS_S
    for thread in set(threading.enumerate()) - threads:
        thread.join(max(0.0, end - time.monotonic()))


def differ(leaves, others):
    """Two lists of leaves are not the same, bit for bit."""
    if [leaf.structure for leaf in leaves] != [leaf.structure for leaf in others]:
        return True
    pairs = [pair for pair in zip(leaves, others) if pair[0].tensor is not None]
    return not all(same_bits(one.tensor, other.tensor) for one, other in pairs)
