"""What the processor's caches hold when a call begins: made outside of the borders, the same for all sides.

`warm` leaves them as the last call did; `rotate` walks over copies of the inputs, enough to push one another out;
`flush` reads a buffer of twice the last-level cache before each call. A read leaves no dirty lines that would have to
be written back while the clock runs.
"""

import math
import os
from functools import partial
from pathlib import Path

import torch

from .binding import Call
from .grad import Differentiated, wants_gradient_leaf
from .layout import twin
from .walk import bytes_of, replace

CPU_FOLDER = "/sys/devices/system/cpu"
ASSUMED_BYTES = 32 << 20
SETS_AT_MOST = 64
ROTATED_AT_MOST = 512 << 20
UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


class Warm:
    """Call after call. Where a side changes its inputs they are restored before every call, outside of the borders."""

    def __init__(self, llc_bytes, borders):
        self.llc_bytes = llc_bytes
        self.borders = borders

    def facts(self, case):
        """Sets of inputs, the bytes of all of them, and the last-level cache (None: not known)."""
        return {"sets": 1, "bytes": input_bytes(case), "llc_bytes": self.llc_bytes}

    def run(self, case, name, calls):
        """Nanoseconds of a block of calls of one side."""
        call = case.side(name).call
        if not case.changing:
            return self.borders.block(call, calls)
        total = 0
        for _ in range(calls):
            self.borders.between("restore", case.restore)
            total += self.borders.block(call, 1)
        return total


class Rotate(Warm):
    """Sets of input copies, made once a case and walked call by call by all sides together."""

    def facts(self, case):
        sets = self.sets(case)
        return {"sets": sets, "bytes": sets * input_bytes(case), "llc_bytes": self.llc_bytes}

    def sets(self, case):
        """Enough to fill four last-level caches, at least 2, at most 64 or 512 MB."""
        each = max(input_bytes(case), 1)
        wanted = math.ceil(4 * (self.llc_bytes or ASSUMED_BYTES) / each)
        return max(2, min(wanted, SETS_AT_MOST, ROTATED_AT_MOST // each))

    def run(self, case, name, calls):
        if case.rotation is None:
            case.rotation = Rotation(case, self.sets(case))
        ahead = case.rotation.ahead(case, name, calls)
        if not case.changing:
            return self.borders.through([call for _, call in ahead])
        total = 0
        for place, call in ahead:
            total += self.borders.block(call, 1)
            # Restored now, so that the set is cold again when its turn comes.
            self.borders.between("restore", partial(case.rotation.restore, case, place))
        return total


class Flush(Warm):
    """Caches that hold nothing of the operator's."""

    def __init__(self, llc_bytes, borders):
        super().__init__(llc_bytes, borders)
        size = 2 * (llc_bytes or ASSUMED_BYTES) // 4
        self.buffer = torch.zeros(size, dtype=torch.float32, device=borders.device.torch)

    def facts(self, case):
        return dict(super().facts(case), bytes=bytes_of(self.buffer))

    def run(self, case, name, calls):
        call = case.side(name).call
        total = 0
        for _ in range(calls):
            self.borders.between("restore", case.restore)
            self.borders.between("flush", self.buffer.sum)
            total += self.borders.block(call, 1)
        return total


class Rotation:
    """The copies of one case's inputs, the originals being the first set, and whose turn it is."""

    def __init__(self, case, count):
        self.sets = [None] + [[copy_of(tensor) for _, tensor in case.tensors] for _ in range(count - 1)]
        self.calls = {}
        self.turn = 0

    def ahead(self, case, name, calls):
        """(set, call) of the next calls of a side."""
        side = case.side(name)
        if name not in self.calls:
            self.calls[name] = [side.call] + [moved(side.call, case.tensors, copies) for copies in self.sets[1:]]
        places = [(self.turn + step) % len(self.sets) for step in range(calls)]
        self.turn = (self.turn + calls) % len(self.sets)
        return [(place, self.calls[name][place]) for place in places]

    def restore(self, case, place):
        """Give a set that was used its first contents again."""
        if place == 0:
            case.restore()
            return
        for position in case.changing:
            case.snapshot.copies[position].put(self.sets[place][position])


def copy_of(tensor):
    """A copy that wants a gradient where the original does."""
    return wants_gradient_leaf(twin(tensor)) if tensor.requires_grad else twin(tensor)


def moved(call, tensors, copies):
    """A call on copies of its tensors."""
    by_id = {id(tensor): copy for (_, tensor), copy in zip(tensors, copies)}
    args, kwargs = (replace(value, lambda leaf: by_id.get(id(leaf), leaf)) for value in (call.args, call.kwargs))
    function = call.function.on(args, kwargs) if isinstance(call.function, Differentiated) else call.function
    return Call(function, args, kwargs)


def input_bytes(case):
    return bytes_of([tensor for _, tensor in case.tensors])


POLICIES = {"warm": Warm, "rotate": Rotate, "flush": Flush}


def llc_bytes(folder=CPU_FOLDER):
    """The last-level cache of the first processor core that we may use, None where the system does not tell."""
    core = min(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 0
    found = {}
    for index in Path(folder, "cpu%d" % core, "cache").glob("index*"):
        try:
            level, size = ((index / name).read_text().strip() for name in ("level", "size"))
            found[int(level)] = int(size.rstrip("KMG")) * UNITS.get(size[-1:], 1)
        except (OSError, ValueError):
            continue
    return found[max(found)] if found else None
