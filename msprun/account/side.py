"""One side of one case: a verdict, the times of its calls, and what ran in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from msgspec import Struct

from msprun.account import judgement
from msprun.account.clock import clock_figures, is_low
from msprun.account.schedule import Schedule, Split
from msprun.account.stream import Ints
from msprun.account.sums import COPY_ROLES, KERNEL_ROLES, OTHER_ROLES, Sums, counts, shares
from msprun.model.call import AccountVerdict, Borders, Circumstances, KernelShare, SideAccount
from msprun.model.measurement import Remark
from msprun.model.operator import Side

# Rounds of blocks on the cores. A tiling has a few of them, a grid that was made for a GPU has dozens.
_ROUNDS_MOST = 8


class Settled(Struct, frozen=True, kw_only=True):
    """A session whose borders are known."""

    plan: Schedule
    facts: Circumstances
    borders: Borders | None
    split: Split
    sums: Sums


def bare_account(
    plan: Schedule, facts: Circumstances, owner: int, verdict: AccountVerdict, figures: dict[str, Any]
) -> SideAccount:
    """A side without a number."""
    case, side = plan.classes[owner]
    return SideAccount(
        case=case, side=side, verdict=verdict, source=facts.source, borders=None, rows=0, calls=0,
        expected=int((plan.owner == owner).sum()), figures=figures,
    )  # fmt: skip


def side_account(found: Settled, owner: int, rows: Ints) -> SideAccount:
    """One side of one case, from the rows between the borders of its calls."""
    plan, facts = found.plan, found.facts
    expected = np.flatnonzero(plan.owner == owner)
    places = np.setdiff1d(expected, found.split.unplaced)
    if not len(places):
        return bare_account(plan, facts, owner, "unsplit", {"reasons": [f"{found.borders}: calls_unplaced"]})
    table = counts(found.sums, rows, places)
    is_timed = plan.of("timed")[places]
    is_timed = is_timed if is_timed.any() else np.ones(len(places), dtype=bool)
    is_cut, dropped = _is_cut(found, places), facts.dropped_rows
    made = judgement.judge(judgement.Calls(table=table, is_timed=is_timed, is_cut=is_cut, dropped=dropped))
    sound, timed = places[made.is_sound], places[made.is_sound & is_timed]
    clock = clock_figures(facts.clock, int(plan.begin[places[0]]), int(plan.end[places[-1]]))
    shown = timed if len(timed) else places[is_timed]
    mine = rows[np.isin(found.sums.call[rows], shown)]
    kernels, copies, others = (
        shares(found.sums, mine, len(shown), roles) for roles in (KERNEL_ROLES, COPY_ROLES, OTHER_ROLES)
    )
    case, side = plan.classes[owner]
    return SideAccount(
        case=case, side=side, verdict=_verdict(made.verdict, clock, found, places), source=facts.source,
        borders=found.borders, rows=int(found.sums.kernels[places].sum()), calls=len(sound), expected=len(expected),
        times=tuple(found.sums.time(plan.calls[place], place) for place in sound.tolist()),
        kernels=kernels, copies=copies, others=others,
        figures=made.figures | {"clock": clock, "is_shared": facts.is_shared},
        remarks=tuple(_remarks(found, side, shown, kernels)),
    )  # fmt: skip


def _verdict(judged: AccountVerdict, clock: dict[str, Any] | None, found: Settled, places: Ints) -> AccountVerdict:
    """What the calls say, and where that is the best, what their circumstances say."""
    if judged == "no_kernels" and found.sums.unknown[places].any():
        return "not_measurable"
    if judged == "exact" and is_low(clock):
        return "low_clock"
    return "shared_device" if judged == "exact" and found.facts.is_shared else judged


def _is_cut(found: Settled, places: Ints) -> bool:
    """Do the records begin behind, or end before, calls that are empty?

    They do where nothing at all was recorded from the first empty call on, or where both sides of a case are empty and
    the records of other cases begin behind it or end before it. One side that is empty is a silent side.
    """
    start, split, kernels = found.sums.stream.start, found.split, found.sums.kernels
    if not kernels.any():
        return False
    filled = np.flatnonzero(kernels[places])
    if len(filled):
        rest = places[filled[-1] + 1 :]
        return len(rest) > 0 and bool(start[-1] < split.begin[rest[0]])
    case = found.plan.calls[places[0]].case
    both = np.array([call.case == case and call.side is not None for call in found.plan.calls])
    if kernels[both].any() or len(set(found.plan.owner[both].tolist())) < 2:
        return False
    first, last = np.flatnonzero(both)[[0, -1]]
    return bool(start[-1] < split.begin[first] or start[0] > split.end[last])


def _remarks(found: Settled, side: Side, places: Ints, kernels: Sequence[KernelShare]) -> Iterator[Remark]:
    """What a reader must know of the kernels of a side."""
    launches = [(share.name, share.input_shapes) for share in kernels]
    if found.sums.ai_cpu[places].any():
        share = int(found.sums.ai_cpu[places].sum()) / int(found.sums.device[places].sum())
        yield Remark(code="ai_cpu", figures={"side": side, "share": share})
    if twice := sorted({str(name) for name, shapes in launches if launches.count((name, shapes)) > 1}):
        yield Remark(code="one_name", figures={"side": side, "names": twice})
    if side != "reference" and (cores := found.facts.cores):
        many = next((kernel for kernel in kernels if (kernel.block_num or 0) > _ROUNDS_MOST * cores), None)
        if many is not None:
            figures = {"side": side, "name": many.name, "blocks": many.block_num, "cores": cores}
            yield Remark(code="many_blocks", figures=figures)
    if unknown := int(found.sums.unknown[places].sum()):
        yield Remark(code="unknown_tasks", figures={"side": side, "tasks": unknown})
