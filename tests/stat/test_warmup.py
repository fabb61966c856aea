"""When calls have stopped getting faster."""

from __future__ import annotations

import pytest

from msprun.stat.warmup import is_steady


@pytest.mark.parametrize(
    ("times", "steady"),
    [
        ([10.0] * 9, False),  # too few to compare
        ([10.0] * 10, True),
        ([100.0] * 5 + [95.0] * 5, True),  # exactly 95 %
        ([100.0] * 5 + [94.9] * 5, False),
        ([52.0, 37.0, 34.0, 31.0, 20.0, 15.0, 12.0, 10.0, 9.7, 9.7], False),  # page faults of a cold start
        ([5000.0] + [10.0] * 9, True),  # a first call is no trend
        ([10.0] * 5 + [30.0] * 5, True),  # slower is not warming up
        ([900.0] * 20 + [10.0] * 10, True),  # only the last ten count
    ],
)
def test_the_last_five_against_the_five_before(times: list[float], steady: bool) -> None:
    assert is_steady(times) is steady
