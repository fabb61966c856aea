"""Others on the device: waited for before a session, and said after it."""

from __future__ import annotations

import os
import time

import pytest

from msprun.device import busy
from msprun.device.busy import admit, remarks, settled, why_busy
from msprun.errors import MachineError
from msprun.model.npu import Process, Use


def process(pid: int, memory_mb: int | None = 30000, name: str | None = "python") -> Process:
    return Process(npu_id=0, chip_id=0, pid=pid, name=name, memory_mb=memory_mb)


def use(*processes: Process, used: int | None = 3400, load: float | None = 0.0, health: str = "OK") -> Use:
    return Use(processes=processes, memory_used_mb=used, memory_total_mb=65536, aicore_percent=load, health=health)


UNSHOWN = Use(processes=None, memory_used_mb=51000, memory_total_mb=65536, aicore_percent=0.0, health="OK")


@pytest.fixture
def no_pause(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Pauses that were asked for; the clock goes on by them."""
    paused: list[float] = []
    began = time.monotonic()
    monkeypatch.setattr(busy.time, "sleep", paused.append)
    monkeypatch.setattr(busy.time, "monotonic", lambda: began + sum(paused))
    return paused


@pytest.mark.parametrize(
    ("seen", "why"),
    [
        (use(process(10**7)), "python (pid 10000000, 30000 MB) is on it"),
        (
            use(process(10**7, 600), process(10**7 + 1, 700, None)),
            "a process (pid 10000001, 700 MB) and 1 more is on it",
        ),
        (use(load=93.0), "its AI cores are 93 % busy"),
        (UNSHOWN, "51000 of its 65536 MB are used"),  # by somebody in another container
        (use(), None),
        (use(process(10**7, 110)), None),  # a context beside work elsewhere
        (use(process(10**7, None)), None),
        (use(used=None, load=None), None),
    ],
)
def test_a_device_is_busy_by_processes_load_or_memory(seen: Use, why: str | None) -> None:
    assert why_busy(seen, ()) == why


def test_idle_devices_of_every_kind_are_not_busy() -> None:
    for used, total in ((3446, 65536), (2922, 32768), (1844, 21527), (249, 2690), (6620, 131072)):
        seen = Use(processes=(), memory_used_mb=used, memory_total_mb=total, aicore_percent=0.0, health="OK")
        assert why_busy(seen, ()) is None


def test_our_own_sessions_are_not_others() -> None:
    ours = use(process(os.getpid()))
    assert why_busy(ours, (os.getsid(0),)) is None
    assert why_busy(ours, ()) is not None


def test_a_busy_device_is_waited_for(no_pause: list[float]) -> None:
    answers = iter([use(load=50.0), use(load=50.0), use()])
    told: list[str] = []
    assert admit(lambda: next(answers), "npu5", "wait", 600, told.append) == use()
    assert told == ["waiting for npu5: its AI cores are 50 % busy"]
    assert len(no_pause) == 2


def test_waiting_ends(no_pause: list[float]) -> None:
    with pytest.raises(MachineError, match="npu5 is busy: its AI cores") as caught:
        admit(lambda: use(load=50.0), "npu5", "wait", 12, lambda words: None)
    assert sum(no_pause) == 12
    assert "device.busy=warn" in str(caught.value.hint)


def test_refuse_does_not_wait_and_warn_goes_on(no_pause: list[float]) -> None:
    with pytest.raises(MachineError, match="npu5 is busy"):
        admit(lambda: use(load=50.0), "npu5", "refuse", 600, lambda words: None)
    told: list[str] = []
    assert admit(lambda: use(load=50.0), "npu5", "warn", 600, told.append) == use(load=50.0)
    assert admit(lambda: None, "npu5", "refuse", 600, told.append) is None  # what is not known refuses nobody
    assert no_pause == [] and told == []


def test_a_quiet_session_has_no_remark() -> None:
    assert remarks(use(), use()) == ()
    assert remarks(None, None) == ()
    assert remarks(use(process(10**7, 100)), use(process(10**7, 100))) == ()


def test_who_was_there_before_and_who_came_are_two_remarks() -> None:
    [before] = remarks(use(process(10**7)), use(process(10**7)))
    assert (before.code, before.figures["others"]) == ("device_busy", 1)
    [came] = remarks(use(), use(process(10**7)))
    assert (came.code, came.figures["others"]) == ("shared_device", 1)
    assert came.figures == {"others": 1, "aicore_percent": 0.0, "used_mb": 3400}
    [small] = remarks(use(), use(process(10**7, 100)))
    assert small.code == "shared_device"
    assert [r.code for r in remarks(use(process(10**7)), use(process(10**7), process(10**7 + 1)))] == [
        "device_busy",
        "shared_device",
    ]


def test_a_load_that_came_without_a_process_is_somebodys_too() -> None:
    [came] = remarks(use(), use(load=40.0))
    assert (came.code, came.figures) == ("shared_device", {"others": 0, "aicore_percent": 40.0, "used_mb": 3400})
    assert remarks(None, use(load=40.0)) == ()  # nothing to compare with


def test_memory_that_a_session_does_not_give_back_is_said() -> None:
    [kept] = remarks(use(used=3400), use(used=5400))
    assert (kept.code, kept.figures) == ("memory_kept", {"kept_mb": 2000})
    [much] = remarks(use(used=3400), use(used=40000))
    assert much.code == "memory_kept"
    assert remarks(use(used=3400), use(used=3500)) == ()
    assert remarks(use(used=None), use(used=5400)) == ()
    [owned] = remarks(use(used=3400), use(process(10**7), used=35000))
    assert owned.code == "shared_device"


def test_a_device_that_is_not_healthy_is_said() -> None:
    [ill] = remarks(use(), use(health="Alarm"))
    assert (ill.code, ill.figures) == ("unhealthy_device", {"health": "Alarm"})
    assert remarks(use(health="UNKNOWN"), use(health="UNKNOWN")) == ()


def test_a_driver_has_a_moment_to_give_memory_back(no_pause: list[float]) -> None:
    answers = iter([use(used=9000), use(used=9000), use(used=3400)])
    assert settled(lambda: next(answers), use(used=3400)) == use(used=3400)
    assert len(no_pause) == 2
    assert settled(lambda: use(used=9000), use(used=3400)) == use(used=9000)
    assert len(no_pause) == 2 + busy.SETTLES
