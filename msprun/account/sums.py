"""What lies between the borders of each call: sums, spans, counts."""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from msprun.account.schedule import Split
from msprun.account.stream import AI_CPU, COMPUTE, COPY, OTHER, UNKNOWN, Flags, Ints, Stream
from msprun.model.call import CallTime, DeviceCall, KernelShare, Outside

KERNEL_ROLES, COPY_ROLES, OTHER_ROLES = (COMPUTE, AI_CPU), (COPY,), (OTHER, UNKNOWN)
_FAR = np.iinfo(np.int64).max


class Sums(Struct, frozen=True, kw_only=True):
    """Figures of each call: times in ns, and counts. `call` is the call of each row of the stream, -1 outside."""

    stream: Stream
    call: Ints
    kernels: Ints
    device: Ints
    span: Ints
    copies: Ints
    ai_cpu: Ints
    unknown: Ints

    def time(self, call: DeviceCall, place: int) -> CallTime:
        """The device's share of a call that stands at a place of the schedule."""
        return CallTime(
            number=call.number, device_ns=int(self.device[place]), span_ns=int(self.span[place]),
            kernels=int(self.kernels[place]), copies_ns=int(self.copies[place]), ai_cpu_ns=int(self.ai_cpu[place]),
        )  # fmt: skip


def sums(stream: Stream, split: Split) -> Sums:
    """Every row goes to the call in which it starts."""
    calls = len(split.begin)
    call = split.call_of(stream.start)
    inside = call >= 0

    def total(values: Ints, rows: Flags) -> Ints:
        made = np.zeros(calls, dtype=np.int64)
        np.add.at(made, call[rows & inside], values[rows & inside])
        return made

    ones = np.ones(len(call), dtype=np.int64)
    counted = stream.is_kernel & inside
    first, last = np.full(calls, _FAR), np.full(calls, -_FAR)
    np.minimum.at(first, call[counted], stream.start[counted])
    np.maximum.at(last, call[counted], stream.end[counted])
    kernels = total(ones, stream.is_kernel)
    return Sums(
        stream=stream,
        call=call,
        kernels=kernels,
        device=total(stream.duration, stream.is_kernel),
        span=np.where(kernels > 0, last - np.minimum(first, last), 0),
        copies=total(stream.duration, stream.role == COPY),
        ai_cpu=total(stream.duration, stream.role == AI_CPU),
        unknown=total(ones, stream.role == UNKNOWN),
    )


def outside(found: Sums, own: Flags) -> Outside:
    """What belongs to no side's call; `own` says which calls are msprun's."""
    rows = (found.call < 0) | own[found.call]
    kernels, copies = rows & found.stream.is_kernel, rows & (found.stream.role == COPY)
    return Outside(
        kernels=int(kernels.sum()), kernels_ns=int(found.stream.duration[kernels].sum()),
        copies=int(copies.sum()), copies_ns=int(found.stream.duration[copies].sum()),
    )  # fmt: skip


def rows_by_owner(found: Sums, owner: Ints) -> list[Ints]:
    """For each class of calls its rows, as places in the stream; `owner` is the class of each call, -1 for none."""
    mine = np.where(found.call >= 0, owner[found.call], -1)
    order = np.argsort(mine, kind="stable")
    return np.split(order, np.searchsorted(mine[order], np.arange(owner.max(initial=-1) + 1)))[1:]


def counts(found: Sums, rows: Ints, places: Ints) -> Ints:
    """How often each kernel of these rows ran in each of these calls: a table of calls by kernels."""
    rows = rows[found.stream.is_kernel[rows]]
    codes, column = np.unique(found.stream.code[rows], return_inverse=True)
    table = np.zeros((len(places), len(codes)), dtype=np.int64)
    np.add.at(table, (np.searchsorted(places, found.call[rows]), column), 1)
    return table


def shares(found: Sums, rows: Ints, calls: int, roles: tuple[int, ...]) -> tuple[KernelShare, ...]:
    """Those of these rows that have such a role, as means over so many calls, what takes longest first."""
    rows = rows[np.isin(found.stream.role[rows], roles)]
    codes, column = np.unique(found.stream.code[rows], return_inverse=True)
    count, duration = np.bincount(column), np.bincount(column, found.stream.duration[rows])
    order = np.lexsort((codes, -duration))
    return tuple(
        KernelShare(
            name=what.name or what.op_type, input_shapes=what.input_shapes, task_kind=what.task_kind,
            block_num=what.block_num, count=float(count[at] / calls),
            duration_us=float(duration[at] / calls / 1000),
        )
        for at, what in ((at, found.stream.what[codes[at]]) for at in order)
    )  # fmt: skip
