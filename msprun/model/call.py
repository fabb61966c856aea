"""What a worker did on the device, call by call, and what the records of the device say of it."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

from msprun.model.measurement import Remark
from msprun.model.operator import Side

Purpose = Literal["first", "warmup", "timed", "boost", "flush", "restore"]
# How the borders of calls were found in the stream of kernels.
Borders = Literal["markers", "gaps", "separators", "names", "alone"]
AccountVerdict = Literal[
    "exact", "lost_rows", "varying_kernels", "low_clock", "shared_device", "no_kernels", "unsplit", "not_measurable",
    "below_floor",
]  # fmt: skip
TimeSource = Literal["op_summary", "task_time", "kernel_details"]


class DeviceCall(Struct, frozen=True, kw_only=True):
    """One call (or boost, flush, restore) in a session, in the order in which they ran.

    `number` is the text of its marker. `start_ns` and `end_ns` are host times (Unix, ns) around it, both behind a
    synchronisation. `side` is None for what msprun itself runs.
    """

    number: int
    case: int
    side: Side | None
    purpose: Purpose
    visit: int
    group: int | None
    start_ns: int
    end_ns: int


class Identity(Struct, frozen=True, kw_only=True):
    """What a kernel of msprun's own is known by: all three must agree, since a name alone may be an operator's too."""

    name: str
    op_type: str
    input_shapes: str


class OwnKernel(Struct, frozen=True, kw_only=True):
    """A kernel that msprun launches for a purpose of its own."""

    purpose: Purpose
    identity: Identity


class ClockReading(Struct, frozen=True, kw_only=True):
    """A core clock, by whom it was read, and when (Unix, ns; None: for the session as a whole)."""

    source: str
    mhz: float
    rated_mhz: float | None = None
    at_ns: int | None = None


class Circumstances(Struct, frozen=True, kw_only=True):
    """What is known of a session besides its records.

    `source` is the table that kernels were read from, the same for both sides. `trouble` is a code that says why there
    is nothing to read. `device`: the only one whose rows are ours, by the profiler's numbers. `pauses` are numbers of
    what lies behind the last call of a request. Where there are some, a kernel of msprun's own ran before every call
    and every pause; `separator` is what it is known by, None where the records do not tell. `abandoned` are numbers of
    calls that never answered, as all from `unanswered_from` on: their markers may be there. `is_shared`: the device's
    load changed while calls ran; None where that is not known. `dropped_rows` of the table could not be used; None
    where nobody knows how many. `cores` are the chip's, of whichever kind there are more; None where that is not known.
    """

    source: TimeSource
    trouble: str | None = None
    device: int | None = None
    pauses: tuple[int, ...] = ()
    separator: Identity | None = None
    own: tuple[OwnKernel, ...] = ()
    clock: tuple[ClockReading, ...] = ()
    is_shared: bool | None = None
    dropped_rows: int | None = 0
    abandoned: tuple[int, ...] = ()
    unanswered_from: int | None = None
    cores: int | None = None


class CallTime(Struct, frozen=True, kw_only=True):
    """The device's share of one call: kernels summed, first start to last end over all streams, kernels counted.

    `copies_ns` are copies between its borders, which the sum leaves out. `ai_cpu_ns` is the share of AI CPU kernels in
    the sum.
    """

    number: int
    device_ns: int
    span_ns: int
    kernels: int
    copies_ns: int = 0
    ai_cpu_ns: int = 0


class KernelShare(Struct, frozen=True, kw_only=True):
    """One kernel of a side's calls: how often it ran in a call, and how long altogether, both as means over calls.

    Launches of one name with other shapes or another number of blocks are another kernel. `name` is the operator's type
    where the profiler wrote none; None is what it did not write at all.
    """

    name: str | None
    input_shapes: str | None
    task_kind: str | None
    block_num: int | None
    count: float
    duration_us: float


class SideAccount(Struct, frozen=True, kw_only=True):
    """What the times of one side of one case are made of in one session.

    `rows` are the kernels between the borders of its calls, `calls` the calls with a sound time, `expected` those that
    ran. `times` are the sound ones, warm-up included; empty where the verdict allows no number. `kernels`, `copies`
    and `others` (events and what has no known type) are those of its timed calls; the latter two are never counted.
    """

    case: int
    side: Side
    verdict: AccountVerdict
    source: TimeSource
    borders: Borders | None
    rows: int
    calls: int
    expected: int
    times: tuple[CallTime, ...] = ()
    kernels: tuple[KernelShare, ...] = ()
    copies: tuple[KernelShare, ...] = ()
    others: tuple[KernelShare, ...] = ()
    figures: dict[str, Any] = {}
    remarks: tuple[Remark, ...] = ()


class Refusal(Struct, frozen=True, kw_only=True):
    """Why a way to find borders does not hold in a session."""

    method: Borders
    code: str
    figures: dict[str, Any] = {}


class Outside(Struct, frozen=True, kw_only=True):
    """What ran between no side's borders: before, after and between calls, boosts and flushes included."""

    kernels: int
    kernels_ns: int
    copies: int
    copies_ns: int


class Accounts(Struct, frozen=True, kw_only=True):
    """The account of one session: every side of every case, how borders were found, and why not otherwise."""

    sides: tuple[SideAccount, ...]
    borders: Borders | None
    refusals: tuple[Refusal, ...] = ()
    outside: Outside | None = None
    figures: dict[str, Any] = {}
