"""How numbers are written for people: percent, thousands and millions on screen only."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from dcplan.result import Cell, Metric
from dcplan.specs.headers import header
from dcplan.units import money, unit_of


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
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, int | float):
        return printable(str(value))
    unit = unit_of(name)
    if unit == "fraction":
        return f"{100 * value:.2g}%" if abs(value) < SMALL_FRAC else f"{value:.2%}"
    if unit == "USD":
        return money(value)
    return plain(value)


SMALL_FRAC = 0.01
"""Fraction below which two significant digits are shown."""
SMALL = {"s": (0.1, 1e3, "ms"), "J/FLOP": (1e-3, 1e12, "pJ/FLOP")}
"""Unit -> size below which people see a smaller unit, how many of it, and its name."""


def shown_in(key: str, value: float | str | None, unit: str) -> tuple[str, str]:
    """Text of a metric with the unit in which people see it.

    Examples
    --------
    >>> shown_in("fabric.all_reduce_s", 0.007391, "s"), shown_in("train.step_time_s", 2.1, "s")
    (('7.391', 'ms'), ('2.1', 's'))
    """
    limit, many, name = SMALL.get(unit, (0.0, 1.0, unit))
    if is_number(value) and 0 < abs(float(value)) < limit:  # type: ignore[arg-type]
        return plain(float(value) * many), name  # type: ignore[arg-type]
    return shown(key, value), unit


SEPARATED = 1_000
"""Size from which thousands are separated."""


def plain(value: float, digits: int = 4) -> str:
    """Write one number in full, never with an exponent.

    Examples
    --------
    >>> plain(40_486), plain(40_486.3), plain(0.036824), plain(85.021), plain(4608)
    ('40,486', '40,486', '0.03682', '85.02', '4,608')
    """
    if not math.isfinite(value):
        return str(value)
    size = abs(value)
    whole = float(value).is_integer()
    places = 0 if whole else max(0, digits - 1 - math.floor(math.log10(size)))
    text = f"{value:,.{places}f}" if size >= SEPARATED else f"{value:.{places}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def more_rows(count: int) -> str:
    """Write how many rows of a table are not shown.

    Examples
    --------
    >>> more_rows(1), more_rows(1200)
    ('1 more row', '1,200 more rows')
    """
    return f"{count:,} more row{'' if count == 1 else 's'}"


def column(name: str, values: Sequence[Cell], top_usd: float = 0.0) -> tuple[str, tuple[str, ...]]:
    """Return the header of a column for people and its cells, all in one format.

    Money is in USD, USD k or USD M by the largest amount of the column, or of the whole table
    (``top_usd``) where the column shows two digits at least in that scale; a fraction is in
    percent.

    Examples
    --------
    >>> column("price_usd", [177e6, 1.18e6, 0])
    ('Price, USD M', ('177.0', '1.2', '0'))
    >>> column("mfu_frac", [0.4003, None]), column("racks", [52, 1640])
    (('MFU, %', ('40.0', '-')), ('Racks', ('52', '1,640')))
    >>> column("step_time_s", [5.726, 11.2])
    ('Step time, s', ('5.73', '11.20'))
    """
    head, unit = header(name), unit_of(name)
    if unit == "fraction":  # a rounding error of the solver is no gap
        values = [0.0 if is_number(v) and abs(float(v)) < NO_SHARE else v for v in values]  # type: ignore[arg-type]
    numbers = [v for v in values if is_number(v)]
    if not all(math.isfinite(float(v)) for v in numbers):  # type: ignore[arg-type]
        return head, tuple(shown(name, v) for v in values)
    if len(numbers) < sum(v is not None for v in values) or not numbers or not unit:
        return head, tuple(shown(name, v) for v in values)
    top = max(abs(float(v)) for v in numbers)  # type: ignore[arg-type]
    scale, mark = 1.0, ""
    if unit == "fraction":
        scale = 0.01
    elif unit == "USD":
        shared = min(top_usd, top * VISIBLE)
        scale, mark = _money_scale(max(top, shared))
    places = 0 if _whole(numbers, scale) else _places(top / scale)
    if unit == "fraction":
        places = min(places, 1 if top >= 0.1 else 2)
    least = min((abs(float(v)) / scale for v in numbers if v), default=0.0)
    if least and least < 0.5 * 10**-places:  # it would be shown as zero
        wanted = -math.floor(math.log10(least))
        if wanted > MOST_PLACES:
            return head, tuple(shown(name, v) for v in values)
        places = wanted
    texts = tuple("-" if v is None else _fixed(float(v) / scale, places) for v in values)
    return head + mark, texts


NO_SHARE = 1e-9
"""Share below which a value is a rounding error."""
MOST_PLACES = 5
"""Decimals of a column up to which its smallest value decides."""
VISIBLE = 50.0
"""Ratio of a table's largest amount to a column's up to which both are in one scale."""


def _money_scale(top: float) -> tuple[float, str]:
    if top >= 1e6:
        return 1e6, " M"
    return (1e3, " k") if top >= 1e4 else (1.0, "")


def largest_usd(columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> float:
    """Return the largest amount of money in the money columns of a table [USD]."""
    at = [i for i, name in enumerate(columns) if unit_of(name) == "USD"]
    cells = [row[i] for row in rows for i in at if is_number(row[i])]
    return max((abs(float(cell)) for cell in cells), default=0.0)  # type: ignore[arg-type]


def _whole(numbers: Sequence[Cell], scale: float) -> bool:
    return all((float(v) / scale).is_integer() for v in numbers)  # type: ignore[arg-type]


def _places(top: float) -> int:
    """Decimals that give the largest value of a column three to four digits."""
    if top >= 1000:
        return 0
    if top >= 100:
        return 1
    if top >= 1:
        return 2
    return 2 - math.floor(math.log10(top)) if top else 0


def _fixed(value: float, places: int) -> str:
    if value == 0:
        return "0"
    return f"{value:,.{places}f}" if abs(value) >= SEPARATED else f"{value:.{places}f}"


def _empty(cell: Cell) -> bool:
    """Whether a cell says nothing: empty, no text, or zero."""
    return cell is None or cell == "" or (is_number(cell) and cell == 0)


ANSWERS = frozenset({"before", "after", "now", "then", "low", "high", "value", "cost_change_usd"})
"""Columns in which a zero is an answer."""


def with_content(columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> list[int]:
    """Return the columns that say something: those of zeros or of empty cells alone are left out.

    The first column always stays.

    Examples
    --------
    >>> with_content(["hall", "cloud_usd", "note"], [["a", 0.0, None], ["b", 0, "x"]])
    [0, 2]
    """
    return [
        i
        for i in range(len(columns))
        if i == 0
        or not rows
        or (
            not all(r[i] is None or r[i] == "" for r in rows)
            and (columns[i] in ANSWERS or not all(_empty(r[i]) for r in rows))
        )
    ]


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
    "serve",
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
    own = [f"{mark} {_expected_text(e, e[key])}" for key, mark in marks if e.get(key) is not None]
    return ", ".join(
        [*own, *(x for x in str(e.get("limit") or "").split(", ") if x.startswith("change"))]
    )


def observed_text(e: Mapping[str, Any]) -> str:
    """Return what was found, in the unit in which the metric is shown."""
    return _expected_text(e, e["observed"])


def _expected_text(e: Mapping[str, Any], value: float | str) -> str:
    """Return a figure of an expectation; in full where it and its limit would look the same."""
    if isinstance(value, str):
        return value  # a date or a quarter
    key, seen = str(e["metric"]), e.get("observed")
    limits = [e[k] for k in ("max", "min", "equals") if e.get(k) is not None]
    same_text = any(shown(key, x) == shown(key, seen) and x != seen for x in limits)
    return f"{value:,.10g}" if same_text else shown(key, value)
