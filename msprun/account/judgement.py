"""Are the calls of one side alike, and if not: did it vary, or were rows lost?"""

from __future__ import annotations

from typing import Any

import numpy as np
from msgspec import Struct

from msprun.account.stream import Flags, Ints
from msprun.model.call import AccountVerdict

# Fewer timed calls than these say less of what is usual than all calls together do.
_TIMED_MIN = 3
# Of the timed calls. What lacks kernels more often is no accident of the profiler's.
_LOST_MOST = 0.25


class Judgement(Struct, frozen=True, kw_only=True):
    """A verdict on calls in their order, which of them have a sound time, and what it rests on."""

    verdict: AccountVerdict
    is_sound: Flags
    figures: dict[str, Any] = {}


class Calls(Struct, frozen=True, kw_only=True):
    """What each call of a side ran: a table of calls by kernels, one timed call at least.

    `is_cut`: the records begin behind, or end before, what is empty here. `dropped` rows could not be read, and may
    have been anywhere; None: it is not known how many.
    """

    table: Ints
    is_timed: Flags
    is_cut: bool
    dropped: int | None

    @property
    def is_filled(self) -> Flags:
        return np.asarray(self.table.sum(axis=1) > 0)


def judge(calls: Calls) -> Judgement:
    """Hold every call against the usual one: the commonest among the timed calls, or among all where these are few.

    A call that lacks kernels has lost rows, if such calls are few or stand together; one that has others varies. What
    a call before the timed ones runs besides (it builds or caches something) says nothing against those.
    """
    filled = calls.is_filled
    if not filled[calls.is_timed].any():
        return _silent(filled, calls.is_cut)
    usual = _usual(calls.table, filled, calls.is_timed)
    more, less = np.any(calls.table > usual, axis=1), np.any(calls.table < usual, axis=1)
    short, unlike = less & ~more, more | less
    builds = int((more & ~calls.is_timed).sum())
    figures = {"unlike_before_timed": builds} if builds else {}
    if more[calls.is_timed].any() or (short.any() and not _is_loss(short, calls)):
        figures |= {"unlike_calls": int(unlike[calls.is_timed].sum())}
        return Judgement(verdict="varying_kernels", is_sound=filled, figures=figures)
    if short.any():
        return Judgement(verdict="lost_rows", is_sound=filled & ~short, figures=figures | _lost(short, calls, usual))
    # As many rows as there are calls may have been the same kernel of each of them.
    if calls.dropped is None or calls.dropped >= calls.is_timed.sum():
        return Judgement(verdict="lost_rows", is_sound=filled, figures=figures | {"dropped_rows": calls.dropped})
    return Judgement(verdict="exact", is_sound=filled, figures=figures)


def _silent(filled: Flags, is_cut: bool) -> Judgement:
    """No timed call ran a kernel: those before them may have, where a result is kept for later."""
    figures = {"filled_before_timed": int(filled.sum())} if filled.any() else {}
    if is_cut:
        return Judgement(verdict="lost_rows", is_sound=filled, figures=figures | {"lost_calls": int((~filled).sum())})
    return Judgement(verdict="no_kernels", is_sound=np.zeros(len(filled), dtype=bool), figures=figures)


def _usual(table: Ints, filled: Flags, is_timed: Flags) -> Ints:
    """Kernels of the commonest call; among equally common ones the call with most of them."""
    timed = filled & is_timed
    kinds, times = np.unique(table[timed if timed.sum() >= _TIMED_MIN else filled], axis=0, return_counts=True)
    best: Ints = kinds[np.lexsort((kinds.sum(axis=1), times))[-1]]
    return best


def _is_loss(short: Flags, calls: Calls) -> bool:
    """Calls that lack kernels are few, or they are one stretch that is empty but for its edges."""
    timed = int(calls.is_timed.sum())
    if (short & calls.is_timed).sum() <= _LOST_MOST * timed:
        return True
    partly = short & calls.is_filled
    return _is_stretch(short) and partly.sum() <= 1 + (not _touches_an_end(short))


def _is_stretch(chosen: Flags) -> bool:
    places = np.flatnonzero(chosen)
    return len(places) > 0 and bool(places[-1] - places[0] + 1 == len(places))


def _touches_an_end(chosen: Flags) -> bool:
    return bool(chosen[0] or chosen[-1])


def _lost(short: Flags, calls: Calls, usual: Ints) -> dict[str, Any]:
    """How many calls and kernels are missing, and where."""
    place = "middle"
    if _is_stretch(short) and _touches_an_end(short):
        place = "head" if short[0] else "tail"
    missing = int((usual - np.minimum(calls.table, usual))[short].sum())
    return {"lost_calls": int(short.sum()), "lost_kernels": missing, "place": place}
