"""What lies between the two readings of a clock, and what a profiler is told of it."""

from __future__ import annotations

from typing import Any

import pytest

from msprun.worker import borders
from msprun.worker.borders import Plain, Recorded, Synchronised


class Device:
    """A device that writes down what happens."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def synchronize(self) -> None:
        self.seen.append("sync")

    def separate(self) -> None:
        self.seen.append("separator")


class Marks:
    """Markers that work unless `why` says otherwise."""

    def __init__(self, device: Device, why: str | None = None) -> None:
        self.device, self.why = device, why

    def start(self, number: int) -> int:
        self.device.seen.append(f"start {number}")
        return number + 100

    def end(self, handle: int) -> None:
        self.device.seen.append(f"end {handle}")


def call(device: Device, name: str = "call") -> tuple[Any, tuple[()], dict[str, Any]]:
    return (lambda: device.seen.append(name), (), {})


def test_a_plain_block_is_its_calls_and_nothing_else() -> None:
    device = Device()
    assert Plain(device).block(call(device), 3) > 0
    assert device.seen == ["call"] * 3


def test_a_device_is_waited_for_on_both_sides_of_a_block() -> None:
    device = Device()
    Synchronised(device).block(call(device), 2)
    assert device.seen == ["sync", "call", "call", "sync"]


def test_a_marker_opens_behind_a_wait_and_closes_behind_another() -> None:
    device = Device()
    made = Recorded(device, Marks(device))
    made.begin((4, "candidate", "call"))
    device.seen.clear()
    made.block(call(device), 2)
    each = ["sync", "start {0}", "call", "sync", "end {1}"]
    assert device.seen == [word.format(n, n + 100) for n in (0, 1) for word in each]


def test_the_record_names_all_that_ran_in_order_once() -> None:
    device = Device()
    made = Recorded(device, Marks(device))
    made.begin((4, "candidate", "call"))
    made.between("flush", lambda: device.seen.append("flush"))
    made.block(call(device), 1)
    made.begin((5, "reference", "call"))
    made.through([call(device), call(device)])
    taken = made.take()
    assert [line[:4] for line in taken] == [
        [0, 4, None, "flush"],
        [1, 4, "candidate", "call"],
        [2, 5, "reference", "call"],
        [3, 5, "reference", "call"],
    ]
    times = [time for line in taken for time in line[4:]]
    assert times == sorted(times)
    assert made.take() == []


def test_without_markers_a_separator_between_two_rests_stands_before_each_call_and_behind_a_request(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    device = Device()
    monkeypatch.setattr(borders.time, "sleep", lambda seconds: device.seen.append(f"rest {seconds}"))
    made = Recorded(device, Marks(device, "no library"))
    made.begin((0, "reference", "call"))
    made.block(call(device), 2)
    made.begin((0, "candidate", "call"))  # the same case: no longer pause
    assert [line[:4] for line in made.take()] == [
        [0, 0, "reference", "call"],
        [1, 0, "reference", "call"],
        [2, 0, None, "pause"],
    ]
    apart = ["rest 0.001", "separator", "sync", "rest 0.001"]
    one = [*apart, "sync", "call", "sync"]
    assert device.seen == ["sync", "rest 0.02", *one, *one, *apart]
    made.block(call(device), 1)
    assert [line[0] for line in made.take()] == [3, 4]


def test_a_request_that_made_no_call_needs_no_separator() -> None:
    device = Device()
    made = Recorded(device, Marks(device, "no library"))
    assert (made.take(), made.abandon(), device.seen) == ([], [], [])


def test_where_markers_work_there_are_neither_rests_nor_separators(monkeypatch: pytest.MonkeyPatch) -> None:
    device = Device()
    monkeypatch.setattr(borders.time, "sleep", lambda seconds: device.seen.append(f"rest {seconds}"))
    made = Recorded(device, Marks(device))
    made.begin((0, "reference", "call"))
    made.block(call(device), 1)
    assert [line[3] for line in made.take()] == ["call"]
    assert device.seen == ["sync", "rest 0.02", "sync", "start 0", "call", "sync", "end 100"]


def test_a_call_that_fails_is_closed_and_its_request_abandoned() -> None:
    device = Device()
    made = Recorded(device, Marks(device))
    made.begin((4, "candidate", "call"))
    made.block(call(device), 1)
    assert [line[0] for line in made.take()] == [0]

    def broken() -> None:
        raise ValueError

    made.block(call(device), 1)
    with pytest.raises(ValueError):
        made.block((broken, (), {}), 1)
    assert device.seen[-1] == "end 102"
    assert made.abandon() == [1, 2]  # of a request whose answer is a failure nobody hears
    made.block(call(device), 1)
    assert [line[0] for line in made.take()] == [3]  # no number is used twice
