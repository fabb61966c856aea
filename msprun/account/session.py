"""The account of one session: from its records and its schedule to what every side of every case took."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from msprun.account import alone, gaps, markers, names, separators
from msprun.account.schedule import Schedule, Split, schedule
from msprun.account.side import Settled, bare_account, side_account
from msprun.account.stream import UNKNOWN, Stream, stream
from msprun.account.sums import outside, rows_by_owner, sums
from msprun.model.call import Accounts, AccountVerdict, Borders, Circumstances, DeviceCall, Refusal

_Attempt = Callable[[], Split | Refusal]


def account(
    kernels: pd.DataFrame | None, marks: pd.DataFrame | None, calls: Sequence[DeviceCall], facts: Circumstances
) -> Accounts:
    """What each side of each case took in a session.

    `kernels` is a frame of KERNELS, `marks` one of MARKERS, None where no such file was written; rows may come in any
    order. `calls` is all that ran in the session, in order. Ways to find borders are tried from the surest to the
    weakest; the refusals say why those before the one that held did not. Raises ValueError where a call's number comes
    twice.
    """
    rows = None if kernels is None else stream(kernels)
    return account_rows(rows, markers.markers(marks), calls, facts)


def account_rows(
    rows: Stream | None, marks: Sequence[markers.Marker], calls: Sequence[DeviceCall], facts: Circumstances
) -> Accounts:
    """The same from rows that are arrays already."""
    plan = schedule(calls)
    trouble = _trouble(rows, plan, facts)
    if rows is None or trouble is not None:
        return _without(plan, facts, "not_measurable", {"reason": trouble})
    mine = rows if facts.device is None else rows.where((rows.device == facts.device) | (rows.device < 0))
    refusals: list[Refusal] = []
    parted = separators.part(mine, plan, facts)
    rest = parted.rest
    for borders, attempt in _attempts(parted, marks, plan, facts):
        split = attempt()
        if isinstance(split, Split) and not _holds_own(rest, split, plan, facts):
            found = Settled(plan=plan, facts=facts, borders=borders, split=split, sums=sums(rest, split))
            return _settled(found, tuple(refusals))
        refusals.append(split if isinstance(split, Refusal) else Refusal(method=borders, code="own_kernels_in_calls"))
    if not mine.is_kernel.any():
        nowhere = Split(begin=np.zeros_like(plan.begin), end=np.full_like(plan.begin, -1))
        found = Settled(plan=plan, facts=facts, borders=None, split=nowhere, sums=sums(mine, nowhere))
        return _settled(found, tuple(refusals))
    reasons = list(dict.fromkeys(f"{refusal.method}: {refusal.code}" for refusal in refusals))
    return _without(plan, facts, "unsplit", {"reasons": reasons}, tuple(refusals))


def _trouble(rows: Stream | None, plan: Schedule, facts: Circumstances) -> str | None:
    """Why these records cannot be accounted at all."""
    if facts.trouble is not None or rows is None:
        return facts.trouble or "no_records"
    devices = np.unique(rows.device[rows.device >= 0])
    if facts.device is None and len(devices) > 1:
        return "several_devices"
    if facts.device is not None and len(devices) and facts.device not in devices:
        return "other_device"
    if not rows.is_kernel.any() and (rows.role == UNKNOWN).any():
        return "unknown_task_types"
    if not rows.is_kernel.any() and (facts.pauses or (plan.of("boost") | plan.of("flush")).any()):
        return "nothing_recorded"
    return None


def _attempts(
    parted: separators.Parted, marks: Sequence[markers.Marker], plan: Schedule, facts: Circumstances
) -> Iterator[tuple[Borders, _Attempt]]:
    """Ways to find borders, from the surest to the weakest.

    Where separators cannot be told, rests still lie around them, but names and even parts would take them for an
    operator's.
    """
    rest = parted.rest
    found = markers.ranges(marks, plan, facts)
    yield "markers", lambda: found if isinstance(found, Refusal) else markers.split(rest, found)
    if facts.pauses:
        yield "separators", lambda: separators.split(parted, plan, facts)
    if not isinstance(found, Refusal):
        yield "gaps", lambda: gaps.split(rest, plan, found.begin, found.end)
    yield "gaps", lambda: gaps.split(rest, plan, plan.begin, plan.end)
    if parted.is_separator is not None:
        yield "names", lambda: names.split(rest, plan, facts)
        yield "alone", lambda: alone.split(rest, plan)


def _holds_own(rows: Stream, split: Split, plan: Schedule, facts: Circumstances) -> bool:
    """Does a kernel of msprun's own lie in a call of an operator? Then the borders stand in the wrong places."""
    call = split.call_of(rows.start)
    inside = (call >= 0) & plan.is_side[call]
    known = (rows.matches(own.identity) for own in facts.own)
    return any((found & inside).any() for found in known if found is not None)


def _without(
    plan: Schedule, facts: Circumstances, verdict: AccountVerdict, figures: dict[str, Any], refusals: Any = ()
) -> Accounts:
    """No number for any side."""
    sides = tuple(bare_account(plan, facts, owner, verdict, figures) for owner in range(len(plan.classes)))
    return Accounts(sides=sides, borders=None, refusals=refusals, figures=figures)


def _settled(found: Settled, refusals: tuple[Refusal, ...]) -> Accounts:
    plan = found.plan
    sides = tuple(side_account(found, owner, rows) for owner, rows in enumerate(rows_by_owner(found.sums, plan.owner)))
    rest = outside(found.sums, ~plan.is_side)
    return Accounts(sides=sides, borders=found.borders, refusals=refusals, outside=rest)
