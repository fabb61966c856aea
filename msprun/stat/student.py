"""Student's t without tables."""

from __future__ import annotations

from math import atan, cos, inf, pi, sin, sqrt

_STEPS = 60


def student(confidence: float, degrees: int) -> float:
    """The two-sided quantile: |t| stays below it with probability `confidence` (0 to 1, 1 excluded)."""
    low, high = 0.0, 1.0
    while _within(high, degrees) < confidence:
        high *= 2
        if high == inf:
            return inf
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if _within(middle, degrees) >= confidence else (middle, high)
    return high


def _within(t: float, degrees: int) -> float:
    """P(|T| < t) for whole degrees of freedom (Abramowitz and Stegun, 26.7.3 and 26.7.4)."""
    angle = atan(t / sqrt(degrees))
    is_odd = degrees % 2
    term = cos(angle) if is_odd else 1.0
    total = term if degrees > 1 else 0.0
    for k in range(3 if is_odd else 2, degrees - 1, 2):
        term *= cos(angle) ** 2 * (k - 1) / k
        total += term
    if is_odd:
        return (angle + sin(angle) * total) * 2 / pi
    return sin(angle) * total
