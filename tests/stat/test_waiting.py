"""A device that waits, from times that are chosen so that the ratios are plain."""

from __future__ import annotations

import pytest

from msprun.model.measurement import SideResult
from msprun.stat.waiting import host_bound, span_differs


def test_kernels_with_gaps_between_them_are_told_with_both_times() -> None:
    found = span_differs(SideResult(device_us=10.0, span_us=16.0, host_us=20.0), "candidate")
    assert found is not None
    assert (found.code, found.figures) == ("span_differs", {"side": "candidate", "span_us": 16.0, "device_us": 10.0})


@pytest.mark.parametrize(("device_us", "span_us"), [(10.0, 15.0), (10.0, 9.0), (None, None), (10.0, None)])
def test_the_usual_pauses_streams_side_by_side_and_a_clock_alone_are_none(
    device_us: float | None, span_us: float | None
) -> None:
    assert span_differs(SideResult(device_us=device_us, span_us=span_us), "candidate") is None


def test_a_host_that_takes_longer_than_twice_the_device_is_told() -> None:
    found = host_bound(SideResult(device_us=10.0, span_us=10.0, host_us=21.0), "reference")
    assert found is not None
    assert (found.code, found.figures) == ("host_bound", {"side": "reference", "host_us": 21.0, "span_us": 10.0})


@pytest.mark.parametrize(("span_us", "host_us"), [(10.0, 20.0), (None, 30.0), (10.0, None)])
def test_a_long_kernel_or_a_clock_alone_is_not_bound_by_the_host(span_us: float | None, host_us: float | None) -> None:
    assert host_bound(SideResult(span_us=span_us, host_us=host_us), "reference") is None
