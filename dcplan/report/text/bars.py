"""Time series as block characters: what a plan does by quarter, one line each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from dcplan.result import Result, Table
from dcplan.units import megawatts, money

BARS = " ▁▂▃▄▅▆▇█"
FEW_QUARTERS = 3
"""Horizons shorter than this have no line: their tables are as short."""
MOST_BARS = 16
"""Most characters of a series; in a longer horizon each is the largest of some quarters."""
LABEL = 15
"""Characters of a label."""


def bars(values: Sequence[float], top: float | None = None) -> str:
    """One character a value, as high as it is between nothing and ``top``, or the largest.

    Only a zero has no bar.

    Examples
    --------
    >>> bars([0.0, 0.1, 4.0, 8.0]), bars([0.0, 0.0]), bars([1.0, 2.0], 4.0)
    (' ▁▄█', '  ', '▂▄')
    """
    top = top or max((abs(v) for v in values), default=0.0)
    heights = (min(abs(v) / top, 1.0) * (len(BARS) - 1) if v else 0.0 for v in values)
    return "".join(BARS[max(round(height), height > 0)] for height in heights)


def quarter_lines(result: Result) -> list[str]:
    """Return a line each for power, cash and accelerators of a plan by quarter.

    A line has the first and the last quarter, and the largest value. A full bar of power is the
    limit of the utility in its quarter. Quarters without a row count 0; a series of zeros has no
    line.
    """
    power, cash, fleet = (result.tables.get(name) for name in ("power", "cash_flow", "fleet"))
    out = _by_quarter(cash, "cash_out_usd")
    quarters = sorted(out)
    if len(quarters) < FEW_QUARTERS:
        return []
    load, limit = _by_quarter(power, "facility_mw"), _by_quarter(power, "utility_mw")
    used = {q: mw / limit[q] for q, mw in load.items() if limit.get(q)}
    share = f" ({max(used.values()):.1%} of utility)" if used else ""
    there = _by_quarter(fleet, "accelerators")
    lines = [
        _line("Facility power", quarters, load, f"{megawatts(_most(load))}{share}", used),
        _line("Cash out", quarters, out, f"USD {money(_most(out))}"),
        _line("Accelerators", quarters, there, f"{_most(there):,.0f}"),
    ]
    return [line for line in lines if line]


def _most(values: Mapping[str, float]) -> float:
    return max(values.values(), default=0.0)


def _line(
    label: str,
    quarters: Sequence[str],
    values: Mapping[str, float],
    most: str,
    shares: Mapping[str, float] | None = None,
) -> str:
    """Return the line of a series; ``shares`` are the heights of its bars, if not its values."""
    if not any(values.values()):
        return ""
    heights = [(shares or values).get(quarter, 0.0) for quarter in quarters]
    series = bars(_fewer(heights), 1.0 if shares else None)
    return f"{label:{LABEL}}{quarters[0]} {series} {quarters[-1]}  max {most}"


def _fewer(series: Sequence[float]) -> list[float]:
    """Return the largest value of every few quarters, so that the line stays short."""
    step = -(-len(series) // MOST_BARS)
    return [max(series[i : i + step]) for i in range(0, len(series), step)]


def _by_quarter(table: Table | None, column: str) -> dict[str, float]:
    """Return the sums of a column by quarter."""
    found: dict[str, float] = defaultdict(float)
    for row in table.records() if table is not None else ():
        value = row.get(column)
        if isinstance(value, int | float):
            found[str(row["quarter"])] += float(value)
    return found
