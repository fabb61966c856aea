"""What was seen of one side of one case, and of both together."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

from msprun.model.failure import Failure
from msprun.model.operator import Side

Verdict = Literal["faster", "slower", "same", "unresolved"]
StopReason = Literal["narrow", "budget", "planned", "explicit", "no_progress", "interrupted"]
State = Literal[
    "correct", "incorrect", "dtype_differs", "shape_differs", "structure_differs",
    "non_finite", "input_changed", "nondeterministic", "not_checked",
]  # fmt: skip
# The states in which a side counts: nothing is known to be wrong with it.
RIGHT: tuple[State, ...] = ("correct", "not_checked")


class Block(Struct, frozen=True, kw_only=True):
    """`calls` calls of one side in a row, to be timed as one.

    `group` numbers the quads (four blocks, A B B A) or, with explicit counts, the pairs; None in warm-up.
    """

    case: int
    side: Side
    phase: Literal["warmup", "timed"]
    visit: int
    group: int | None
    calls: int


class Sample(Block, frozen=True, kw_only=True):
    """A block and the time that it took: the one that `metric` names, where there are several.

    On a device: `device_ns` is the sum of its kernels, `span_ns` reaches from the first to the end of the last,
    `host_ns` is what the host waited. None where the host's clock is all there is.
    """

    elapsed_ns: int
    device_ns: int | None = None
    span_ns: int | None = None
    host_ns: int | None = None

    @property
    def call_us(self) -> float:
        """Microseconds of one call."""
        return self.elapsed_ns / self.calls / 1000


class Estimate(Struct, frozen=True, kw_only=True):
    """The times of one call of one side, in microseconds, warm-up left out.

    `low_us` and `high_us` are the distribution-free 95 % interval of the median, None below six samples.
    """

    calls: int
    samples: int
    block: int
    median_us: float
    low_us: float | None
    high_us: float | None
    mean_us: float
    min_us: float
    p95_us: float


class Paired(Struct, frozen=True, kw_only=True):
    """The reference's time, or the older build's, over the candidate's by groups that ran side by side.

    Interval and verdict are at 95 %. `p` is the least level at which the interval would still exclude 1, `p_family` the
    same after Holm over all cases of the run; None without an interval.
    """

    speedup: float | None
    low: float | None
    high: float | None
    verdict: Verdict
    quads: int
    p: float | None = None
    p_family: float | None = None


class Remark(Struct, frozen=True, kw_only=True):
    """Something that a reader must know; words for the code are in templates."""

    code: str
    figures: dict[str, Any] = {}
    next: str | None = None


class Correctness(Struct, frozen=True, kw_only=True):
    """The outcome of comparing outputs: the rule that decided and its figures."""

    state: State
    rule: str | None = None
    figures: dict[str, Any] = {}


class Accounting(Struct, frozen=True, kw_only=True):
    """What a time is made of: a verdict on the records, their source, their number and the calls that they cover.

    On a device: how the `borders` of calls were found, and how many calls were `expected`.
    """

    verdict: str
    source: str
    rows: int
    calls: int
    borders: str | None = None
    expected: int | None = None
    figures: dict[str, Any] = {}


class OperatorTime(Struct, frozen=True, kw_only=True):
    """One torch operator inside a call, as Kineto saw it in a pass of its own."""

    name: str
    calls: int
    duration_us: float


class CacheFacts(Struct, frozen=True, kw_only=True):
    """What `cache=rotate` or `flush` did before each call of a case, the same for all sides.

    `sets` of inputs that calls walk over; `bytes` of all sets, or of the buffer that flushes; `llc_bytes` of the
    last-level cache, None where it is not known.
    """

    policy: str
    sets: int
    bytes: int
    llc_bytes: int | None


class FreshCall(Struct, frozen=True, kw_only=True):
    """A call with contents that no call had seen, and one with those of all timed calls just before it (us).

    Both were made in the pass that lists operators, so both are slower than timed ones.
    """

    fresh_us: float
    again_us: float


class Kernel(Struct, frozen=True, kw_only=True):
    """One kernel, or copy, of a side's calls: how often it ran in a call and how long altogether, as means over calls.

    `kind` is the profiler's word for the cores that it ran on; None, as for the name, where it wrote none.
    """

    name: str | None
    kind: str | None
    block_num: int | None
    count: float
    duration_us: float


class SideResult(Struct, frozen=True, kw_only=True):
    """One side of one case: an estimate with its samples, or a failure, or neither when it was not asked for.

    `device_us`, `span_us` and `host_us` are medians of what samples saw beside the time that counts.
    """

    estimate: Estimate | None = None
    samples_us: tuple[float, ...] = ()
    first_call_us: float | None = None
    construct_s: float | None = None
    prepare_us: float | None = None
    warmup_calls: int = 0
    operators: tuple[OperatorTime, ...] = ()
    operators_us: float | None = None
    operators_coverage: float | None = None
    device_us: float | None = None
    span_us: float | None = None
    host_us: float | None = None
    kernels: tuple[Kernel, ...] = ()
    copies: tuple[Kernel, ...] = ()
    fresh: tuple[FreshCall, ...] = ()
    failure: Failure | None = None
