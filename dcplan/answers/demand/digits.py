"""Digits of the numbers that are written into a scenario."""

from __future__ import annotations

DIGITS = 6


def short(value: float) -> float:
    """Return a number with its first digits; infinite and undefined ones stay.

    Examples
    --------
    >>> short(1234.56789), short(float("inf"))
    (1234.57, inf)
    """
    return float(f"{value:.{DIGITS}g}")
