"""The accounts of several sessions as one: what a row tells of the records behind its times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msprun.model.call import KernelShare, SideAccount
from msprun.model.measurement import Accounting, Kernel, OperatorTime, Remark
from msprun.model.operator import Side

_FLAGGED = ("lost_rows", "varying_kernels", "low_clock")
# From the most harmless to the worst; a side is as good as the worst of its sessions.
_WORSE = (
    "exact", "shared_device", "low_clock", "varying_kernels", "lost_rows", "below_floor", "no_kernels", "unsplit",
    "not_measurable",
)  # fmt: skip


def merged(accounts: Sequence[SideAccount]) -> Accounting:
    """All accounts of a side, at least one: rows and calls summed, the worst verdict with its figures."""
    worst = max(accounts, key=lambda account: _WORSE.index(account.verdict))
    return Accounting(
        verdict=worst.verdict,
        source=worst.source,
        rows=sum(account.rows for account in accounts),
        calls=sum(account.calls for account in accounts),
        borders=worst.borders,
        expected=sum(account.expected for account in accounts),
        figures=worst.figures,
    )


def kernels(accounts: Sequence[SideAccount]) -> tuple[Kernel, ...]:
    """The kernels of a call, of the last session; sessions of one side run the same ones or are not exact."""
    return _shares(accounts[-1].kernels) if accounts else ()


def copies(accounts: Sequence[SideAccount]) -> tuple[Kernel, ...]:
    """The copies within a call, of the last session."""
    return _shares(accounts[-1].copies) if accounts else ()


def operators(accounts: Sequence[SideAccount]) -> tuple[OperatorTime, ...]:
    """The kernels of a call by name, as a breakdown would list them."""
    totals: dict[str, tuple[float, float]] = {}
    for kernel in kernels(accounts):
        name = kernel.name or "?"
        count, us = totals.get(name, (0.0, 0.0))
        totals[name] = count + kernel.count, us + kernel.duration_us
    return tuple(OperatorTime(name=name, calls=round(count), duration_us=us) for name, (count, us) in totals.items())


def sum_us(listed: Sequence[OperatorTime]) -> float | None:
    """What a list of operators adds up to (us); None for an empty one."""
    return sum(operator.duration_us for operator in listed) if listed else None


def flags(accounts: Sequence[SideAccount], side: Side) -> tuple[Remark, ...]:
    """What a reader must know of a time that is one, but not as sound as it could be."""
    return tuple(_flag(account, side) for account in accounts if account.verdict in _FLAGGED)


def _flag(account: SideAccount, side: Side) -> Remark:
    figures: dict[str, Any] = {"side": side, "calls": account.calls, "total": account.expected}
    clock = account.figures.get("clock")
    if account.verdict == "low_clock" and isinstance(clock, dict):
        figures = {"side": side, "mhz": clock.get("mhz"), "rated_mhz": clock.get("rated_mhz")}
    return Remark(code=account.verdict, figures={name: value for name, value in figures.items() if value is not None})


def _shares(found: Sequence[KernelShare]) -> tuple[Kernel, ...]:
    return tuple(
        Kernel(name=s.name, kind=s.task_kind, block_num=s.block_num, count=s.count, duration_us=s.duration_us)
        for s in found
    )
