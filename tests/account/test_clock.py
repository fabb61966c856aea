"""Which readings of a clock count for which calls."""

from __future__ import annotations

from msprun.account.clock import clock_figures, is_low
from msprun.model.call import ClockReading


def reading(mhz: float, at_ns: int | None = None, source: str = "npu_smi") -> ClockReading:
    return ClockReading(source=source, mhz=mhz, rated_mhz=1800.0, at_ns=at_ns)


def test_readings_while_the_calls_ran_go_before_all_others() -> None:
    found = clock_figures([reading(800, 5), reading(1750, 10), reading(1800, 15), reading(1700, 20)], 10, 20)
    assert found == {
        "source": "npu_smi", "mhz": 1750, "least_mhz": 1700, "rated_mhz": 1800.0, "readings": 3,
        "is_of_these_calls": True,
    }  # fmt: skip


def test_without_one_then_the_whole_session_tells() -> None:
    found = clock_figures([reading(800), reading(1800), reading(900)], 10, 20)
    assert found is not None and (found["mhz"], found["is_of_these_calls"]) == (900, False)
    assert is_low(found)


def test_first_source_counts() -> None:
    found = clock_figures([reading(1800), reading(800, 15, "AICORE_FREQ")], 10, 20)
    assert found is not None and (found["source"], found["mhz"]) == ("npu_smi", 1800)


def test_no_reading_is_not_recorded_and_not_low() -> None:
    assert clock_figures([], 10, 20) is None
    assert not is_low(None)
