"""Conversion between numbers and arrays, and range checks with their messages."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Value = float | Array
"""A plain number, or one number for each sample."""


def as_value(result: npt.ArrayLike) -> Value:
    """Return a float if the result is one number, otherwise the array.

    Examples
    --------
    >>> as_value(np.float64(2.0)), as_value(np.array([1.0, 2.0]))
    (2.0, array([1., 2.]))
    """
    array = np.asarray(result, dtype=np.float64)
    return float(array) if array.ndim == 0 else array


def none_if_never(result: npt.ArrayLike) -> Value | None:
    """Return None for a single NaN, which means "never"; an array of samples keeps its NaN.

    Examples
    --------
    >>> none_if_never(np.nan) is None, none_if_never(np.array([1.0, np.nan]))
    (True, array([ 1., nan]))
    """
    value = as_value(result)
    return None if isinstance(value, float) and np.isnan(value) else value


def within(name: str, value: npt.ArrayLike, low: float = -np.inf, high: float = np.inf) -> Array:
    """Return the value as an array; every entry must be from ``low`` to ``high``.

    Raises
    ------
    ValueError
        With the name, the range and the first entry outside it; NaN is outside of every range.

    Examples
    --------
    >>> float(within("rate_frac", 0.21, 0.0, 1.0))
    0.21
    >>> within("rate_frac", 21, 0.0, 1.0)
    Traceback (most recent call last):
    ValueError: rate_frac must be from 0 to 1, got 21
    """
    array = np.asarray(value, dtype=np.float64)
    bad = ~((array >= low) & (array <= high))
    if bad.any():
        msg = f"{name} must be {_range(low, high)}, got {array[bad].flat[0]:g}"
        raise ValueError(msg)
    return array


def above(name: str, value: npt.ArrayLike, low: float = 0.0) -> Array:
    """Return the value as an array; every entry must be finite and above ``low``.

    Examples
    --------
    >>> above("years", 0)
    Traceback (most recent call last):
    ValueError: years must be above 0, got 0
    """
    array = np.asarray(value, dtype=np.float64)
    bad = ~((array > low) & np.isfinite(array))
    if bad.any():
        msg = f"{name} must be above {low:g}, got {array[bad].flat[0]:g}"
        raise ValueError(msg)
    return array


def _range(low: float, high: float) -> str:
    if np.isinf(high):
        return "a number" if np.isinf(low) else f"at least {low:g}"
    return f"at most {high:g}" if np.isinf(low) else f"from {low:g} to {high:g}"
