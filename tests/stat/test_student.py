"""Student's t."""

from __future__ import annotations

from math import pi, sqrt, tan

import pytest

from msprun.stat.student import student


@pytest.mark.parametrize(
    ("confidence", "degrees", "quantile"),
    # The table of Abramowitz and Stegun (26.10).
    [
        (0.95, 1, 12.706), (0.95, 2, 4.303), (0.95, 3, 3.182), (0.95, 5, 2.571), (0.95, 10, 2.228), (0.95, 30, 2.042),
        (0.99, 2, 9.925), (0.99, 5, 4.032), (0.99, 120, 2.617), (0.999, 4, 8.610),
    ],
)  # fmt: skip
def test_quantiles_of_the_tables(confidence: float, degrees: int, quantile: float) -> None:
    assert student(confidence, degrees) == pytest.approx(quantile, abs=6e-4)


@pytest.mark.parametrize("confidence", [0.1, 0.5, 0.95, 0.9999])
def test_one_and_two_degrees_have_formulas(confidence: float) -> None:
    assert student(confidence, 1) == pytest.approx(tan(pi * confidence / 2))
    assert student(confidence, 2) == pytest.approx(confidence * sqrt(2 / (1 - confidence**2)))
