"""Who looks at the device while it is measured, and for how long it waits for an answer."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from msprun.measure import sentinel
from msprun.measure.sentinel import Sentinel
from msprun.model.npu import Pulse, Use
from tests.report import plans
from tests.report.results import all_good

QUIET = Use(processes=(), memory_used_mb=0, memory_total_mb=65536, aicore_percent=0.0, health="OK")


class Device:
    """Its tool takes `takes_s` for each answer, and after that has one where it is not silent."""

    def __init__(self, patch: pytest.MonkeyPatch, takes_s: float, is_silent: bool) -> None:
        self.now_s = 1000.0
        self.takes_s = takes_s
        self.is_silent = is_silent
        self.asked = 0
        self.seen = QUIET
        patch.setattr(sentinel.time, "monotonic", lambda: self.now_s)

    def answer(self, known: object) -> object:
        self.asked += 1
        self.now_s += self.takes_s
        return None if self.is_silent else known

    def use(self, facts: object) -> object:
        return self.answer(self.seen)

    def pulse(self, facts: object) -> object:
        return self.answer(
            Pulse(
                clock_mhz=1500.0, rated_mhz=1800.0, aicore_percent=None, memory_percent=None, temperature_c=None,
                power_w=None, aicore_count=None,
            )
        )  # fmt: skip


def watch(device: Device) -> Sentinel:
    made: Sentinel = Sentinel(device, plans.plan(all_good()), None, lambda text: None)  # type: ignore[arg-type]
    made.before()
    made.during()
    return made


def test_a_tool_that_hung_once_is_not_asked_again_and_nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    device = Device(monkeypatch, takes_s=20.0, is_silent=True)
    seen = watch(device).after(1)
    assert device.asked == 1
    assert (seen.is_shared, seen.clock, seen.remarks) == (None, (), ())


@pytest.mark.parametrize(("takes_s", "is_silent"), [(0.1, True), (8.0, False)])
def test_one_that_is_quick_to_say_nothing_or_slow_to_answer_is(
    monkeypatch: pytest.MonkeyPatch, takes_s: float, is_silent: bool
) -> None:
    device = Device(monkeypatch, takes_s, is_silent)
    seen = watch(device).after(1)
    assert device.asked == 3
    assert [reading.mhz for reading in seen.clock] == ([] if is_silent else [1500.0])


@pytest.mark.parametrize(("later_s", "looks"), [(0.5, 2), (1.5, 3)])
def test_the_look_behind_one_session_serves_the_next_if_that_begins_at_once(
    monkeypatch: pytest.MonkeyPatch, later_s: float, looks: int
) -> None:
    device = Device(monkeypatch, takes_s=0.1, is_silent=False)
    made: Sentinel = Sentinel(device, plans.plan(all_good()), None, lambda text: None)  # type: ignore[arg-type]
    made.before()
    made.after(1)
    device.now_s += later_s
    made.before()
    assert device.asked == looks


def test_a_look_that_saw_somebody_is_not_believed_a_moment_later(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tools show a process for a moment after it has ended."""
    device = Device(monkeypatch, takes_s=0.1, is_silent=False)
    made: Sentinel = Sentinel(device, plans.plan(all_good()), None, lambda text: None)  # type: ignore[arg-type]
    device.seen = replace(QUIET, aicore_percent=90.0)
    made.after(1)
    device.seen = QUIET
    made.before()
    assert device.asked == 2
