"""The accounts of several sessions as one: what a row tells of the records behind its times."""

from __future__ import annotations

from collections.abc import Sequence

from msprun.model.call import KernelShare, SideAccount
from msprun.model.measurement import Accounting, Kernel

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


def _shares(found: Sequence[KernelShare]) -> tuple[Kernel, ...]:
    return tuple(
        Kernel(name=s.name, kind=s.task_kind, block_num=s.block_num, count=s.count, duration_us=s.duration_us)
        for s in found
    )
