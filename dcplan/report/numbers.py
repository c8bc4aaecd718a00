"""How numbers are written for people: percent and short powers on screen only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dcplan.result import Metric
from dcplan.units import money


def printable(text: str) -> str:
    """Text without control characters.

    What a file holds must not move the cursor or colour the screen.

    Examples
    --------
    >>> printable("a" + chr(27) + "[31mb" + chr(10) + "c")
    'a [31mb c'
    """
    return "".join(c if c.isprintable() else " " for c in text) if not text.isprintable() else text


def shown(name: str, value: object) -> str:
    """Text of a cell by its column name.

    Examples
    --------
    >>> shown("price_usd", 170e6), shown("gap_frac", 0.0112), shown("days", 85.02), shown("racks", 50)
    ('170 M', '1.12%', '85.02', '50')
    >>> shown("fabric", None)
    '-'
    """
    if value is None:
        return "-"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return printable(str(value))
    if name.endswith("_frac"):
        return f"{value:.2%}"
    if name == "usd" or name.endswith("_usd"):
        return money(value)
    if isinstance(value, int) or float(value).is_integer():
        return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.0f}"
    return f"{value:,.0f}" if abs(value) >= 100_000 else f"{value:.4g}"


def is_number(value: object) -> bool:
    """Whether a cell is right-aligned."""
    return isinstance(value, int | float) and not isinstance(value, bool)


PREFIXES = (
    "cost",
    "owned",
    "rented",
    "break_even",
    "accelerators",
    "racks",
    "train",
    "days",
    "power",
    "carbon",
    "water",
)
"""First words of metrics in the order in which reports list them; the others follow."""


def in_order(metrics: Mapping[str, Metric]) -> dict[str, Metric]:
    """Metrics in one order, whether the answer was just found or read from a file."""

    def rank(key: str) -> tuple[int, str]:
        first = key.partition(".")[0]
        return (PREFIXES.index(first) if first in PREFIXES else len(PREFIXES), key)

    return {key: metrics[key] for key in sorted(metrics, key=rank)}


def limits_text(e: Mapping[str, Any]) -> str:
    """Limits of an expectation in the unit in which its metric is shown."""
    marks = (("max", "<="), ("min", ">="), ("equals", "="))
    own = [f"{mark} {_told(e, float(e[key]))}" for key, mark in marks if e.get(key) is not None]
    return ", ".join(
        [*own, *(x for x in str(e.get("limit") or "").split(", ") if x.startswith("change"))]
    )


def observed_text(e: Mapping[str, Any]) -> str:
    """Return what was found, in the unit in which the metric is shown."""
    return _told(e, e["observed"])


def _told(e: Mapping[str, Any], value: float) -> str:
    """Return a figure of an expectation; in full where it and its limit would look the same."""
    key, seen = str(e["metric"]), e.get("observed")
    limits = [e[k] for k in ("max", "min", "equals") if e.get(k) is not None]
    alike = any(shown(key, x) == shown(key, seen) and x != seen for x in limits)
    return f"{value:,.10g}" if alike else shown(key, value)
