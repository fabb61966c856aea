"""What each way to find borders makes of random streams: right, flagged, refused, and never wrong.

`python -m tests.account.test_simulation 300` prints the table.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from msprun.account.session import account_rows
from msprun.model.call import Accounts, DeviceCall
from tests.account.scenarios import SCENARIOS, Play
from tests.account.streams import EPOCH_NS, FACTS

STREAMS = 12
REST_US = 40.0
SLEEP_US = 1000.0
Way = Callable[[Callable[[Play], None], str], tuple[Play, Accounts]]


def by_markers(scenario: Callable[[Play], None], seed: str) -> tuple[Play, Accounts]:
    """Device markers, and calls that follow each other at once."""
    play = Play(seed, REST_US)
    scenario(play)
    return play, account_rows(play.stream(), play.markers(), play.recording.calls, FACTS)


def by_sleeps(scenario: Callable[[Play], None], seed: str) -> tuple[Play, Accounts]:
    """Sleeps between calls, and a device clock that is off by up to 0.3 ms."""
    play = Play(seed, SLEEP_US)
    scenario(play)
    offset_us = random.Random(seed).uniform(-300, 300)
    return play, account_rows(play.stream(offset_us), (), play.recording.calls, FACTS)


def by_sleeps_on_another_clock(scenario: Callable[[Play], None], seed: str) -> tuple[Play, Accounts]:
    """Sleeps, and times of the device since its boot, as very old files have them."""
    play = Play(seed, SLEEP_US)
    scenario(play)
    offset_us = -EPOCH_NS / 1000 + random.Random(seed).uniform(1e6, 1e9)
    return play, account_rows(play.stream(offset_us), (), play.recording.calls, FACTS)


def by_windows(scenario: Callable[[Play], None], seed: str) -> tuple[Play, Accounts]:
    """Calls that follow each other at once, known by host times whose clock may be off by half of a rest."""
    play = Play(seed, REST_US)
    scenario(play)
    offset_us = random.Random(seed).uniform(-REST_US / 2, REST_US / 2)
    return play, account_rows(play.stream(offset_us), (), play.recording.calls, FACTS)


def by_names(scenario: Callable[[Play], None], seed: str) -> tuple[Play, Accounts]:
    """Nothing but the names of kernels: host times tell nothing."""
    play = Play(seed, REST_US)
    scenario(play)
    calls: list[DeviceCall] = [replace(call, start_ns=0, end_ns=0) for call in play.recording.calls]
    return play, account_rows(play.stream(), (), calls, FACTS)


WAYS: Sequence[Any] = (by_markers, by_sleeps, by_sleeps_on_another_clock, by_windows, by_names)


def outcome(play: Play, accounts: Accounts) -> str:
    """`right`: every side has a time that is the truth; `flagged`: it says that some are missing, or not alike."""
    truth = play.recording.sums_ns
    sound = [side for side in accounts.sides if side.verdict in ("exact", "lost_rows")]
    if any(truth[time.number] != time.device_ns for side in sound for time in side.times):
        return "wrong"
    verdicts = {side.verdict for side in accounts.sides}
    if verdicts & {"unsplit", "no_kernels", "not_measurable"}:
        return "refused"
    return "right" if verdicts == {"exact"} else "flagged"


def outcomes(way: Any, scenario: Any, streams: int) -> Counter[str]:
    seeds = (f"{scenario.__name__} {number}" for number in range(streams))
    return Counter(outcome(*way(scenario, seed)) for seed in seeds)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_no_time_is_wrong(way: Any) -> None:
    found = {scenario.__name__: outcomes(way, scenario, STREAMS) for scenario in SCENARIOS}
    assert {name: seen for name, seen in found.items() if seen["wrong"]} == {}


def table(streams: int) -> None:
    for way in WAYS:
        found = {scenario.__name__: outcomes(way, scenario, streams) for scenario in SCENARIOS}
        whole = sum(found.values(), Counter[str]())
        for name, seen in (*found.items(), ("all", whole)):
            shares = " ".join(
                f"{word} {100 * seen[word] / seen.total():5.1f}" for word in ("right", "flagged", "refused", "wrong")
            )
            print(f"{way.__name__:28}{name:36}{shares}")


if __name__ == "__main__":
    table(int(sys.argv[1]))
