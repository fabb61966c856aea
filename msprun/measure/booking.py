"""From accounts to tallies: samples where calls have a sound time, failures where they have none."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from msprun.measure.tally import Tally
from msprun.model.call import Accounts, CallTime, SideAccount
from msprun.model.failure import Failure
from msprun.model.measurement import Sample
from msprun.model.plan import Metric

# Why a side has no number, in words for the failure; codes and figures are in the account.
_WHY = {
    "no_kernels": "the device ran nothing of it between the borders of its calls",
    "unsplit": "its calls could not be told apart in the profiler's records",
    "not_measurable": "the profiler left no records that a time could be taken from",
}
_NEXT = {
    "no_kernels": "does it run on the device? A result from the host's cores has no kernel there",
    "unsplit": "a process of its own did not help: try profiler=torch_npu, or msprof; keep_prof=true keeps their files",
    "not_measurable": "see the session's log; keep_prof=true keeps the profiler's files",
}
# Nothing of the device was written: a full disk, missing rights and an unfit driver leave no error of their own.
_NOT_WRITTEN = frozenset({"no_capture", "no_table", "no_records", "nothing_recorded"})
_CHECK = "check the room on the disk, the rights there, and that the driver fits CANN; "


def book(tally: Tally, account: SideAccount, hosts: Mapping[int, Sample], metric: Metric) -> None:
    """Take over the account of one side: its samples, or without any time its failure."""
    tally.sides[account.side].accounts.append(account)
    seen = [(hosts[one.number], one) for one in account.times if one.number in hosts]
    tally.add([_sample(host, one, metric) for host, one in seen])


def failure(
    account: SideAccount, accounts: Accounts, log: str, complaint: str | None = None, remedy: str | None = None
) -> Failure | None:
    """Why the account allows no number; None where it does. `complaint` and `remedy` are the collector's own words."""
    why = _WHY.get(account.verdict)
    if why is None:
        return None
    refusals = ", ".join(f"{refusal.method}: {refusal.code}" for refusal in accounts.refusals)
    said = {"unsplit": refusals, "not_measurable": complaint}.get(account.verdict)
    hint = remedy if account.verdict == "not_measurable" else None
    check = _CHECK if account.figures.get("reason") in _NOT_WRITTEN else ""
    return Failure(
        stage="accounting",
        kind=account.verdict,
        message=f"{account.verdict}: {why}" + (f" ({said})" if said else ""),
        hint=hint or check + _NEXT[account.verdict],
        log=log,
    )


def is_suspect(account: SideAccount) -> bool:
    """Another session may do better, through no fault of the operator's."""
    return account.verdict in ("lost_rows", "not_measurable")


def _sample(host: Sample, seen: CallTime, metric: Metric) -> Sample:
    times = {"device": seen.device_ns, "span": seen.span_ns, "host": host.elapsed_ns}
    return replace(
        host,
        elapsed_ns=max(times[metric], 1),
        device_ns=seen.device_ns,
        span_ns=seen.span_ns,
        host_ns=host.elapsed_ns,
    )
