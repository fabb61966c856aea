"""An operator of two sides, and the account of its sessions by every way to find borders."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from msgspec.structs import replace

from msprun.account import account
from msprun.model.call import Accounts, Circumstances
from tests.account.streams import FACTS, SEPARATOR, Recording, interleaved, sequential, timeless

REFERENCE = [("MatMul", 20.0), ("Add", 3.0)]
CANDIDATE = [("Fused", 11.0)]
BOTH: dict[str, Sequence[Any]] = {"reference": REFERENCE, "candidate": CANDIDATE}
ORDERS = (interleaved, sequential)


def by_markers(recording: Recording) -> Accounts:
    return account(recording.kernels, recording.markers, timeless(recording), FACTS)


def by_host_markers(recording: Recording) -> Accounts:
    return account(recording.kernels, recording.host_markers, timeless(recording), FACTS)


def by_sleeps(recording: Recording) -> Accounts:
    return account(recording.kernels, None, recording.calls, FACTS)


def by_separators(recording: Recording) -> Accounts:
    recording.pause()
    return account(recording.kernels, None, timeless(recording), separated(recording))


def separated(recording: Recording) -> Circumstances:
    """What is known of a session with separators."""
    return replace(FACTS, pauses=tuple(recording.pauses), separator=SEPARATOR)


def by_names(recording: Recording) -> Accounts:
    return account(recording.kernels, None, timeless(recording), FACTS)


CLEAR = (by_markers, by_host_markers, by_sleeps, by_separators)
# What one side runs before the other begins may just as well be the prologue of a side that is silent.
AMBIGUOUS = (by_names, sequential)


def recorded(way: Callable[[Recording], Accounts]) -> Recording:
    return Recording(separates=way is by_separators)
