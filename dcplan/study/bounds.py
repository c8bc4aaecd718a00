"""Inputs between their low and high: one at a time, each re-solved, or all at once as samples."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dcplan.answers.explain_flips import set_key
from dcplan.errors import InputError, Place, Problem
from dcplan.planning.menu.build import build
from dcplan.planning.menu.ledger import Input
from dcplan.scenario.axes import Axis
from dcplan.scenario.load import Question

MOST = 8
"""Inputs taken where the scenario's ``sensitivity`` names none: the widest prices, tariffs and rates."""
USUAL = re.compile(r"systems\..+\.price_usd|sites\..+\.energy\.usd_per_kwh|finance\.discount[-_]rate")
KIND = "triangular"


@dataclass(frozen=True)
class AsIs:
    """A value that a point leaves as the scenario has it."""

    value: Any


def bounded_axes(question: Question) -> list[Axis]:
    """An axis from low over the value to high for each input that has bounds.

    Raises
    ------
    InputError
        DC051 when there is no input with bounds, or one that is named has none.
    """
    rows = build(question).ledger.rows
    asked = question.scenario.sensitivity
    names = [key for key in (asked.inputs if asked else ()) if key in rows]
    bare = [key for key in names if not _has_bounds(rows[key])]
    chosen = names or sorted((k for k, r in rows.items() if USUAL.fullmatch(k) and _has_bounds(r)),
                             key=lambda k: (-_width(rows[k]), k))[:MOST]  # fmt: skip
    chosen = [key for key in chosen if key not in bare]
    if not chosen:
        cause = "no input with low and high" + (f": {', '.join(bare)} have none" if bare else "")
        raise InputError([Problem("DC051", cause, Place("--bounds"), help="key: {value: 7, low: 6, high: 9}")])
    return [Axis(set_key(key, question), (), KIND, _three(rows[key])) for key in chosen]


def _has_bounds(row: Input) -> bool:
    given = (row.low, row.value, row.high)
    if not all(isinstance(x, int | float) and not isinstance(x, bool) for x in given):
        return False
    low, value, high = _three(row)
    return low <= value <= high and low < high


def _three(row: Input) -> tuple[float, float, float]:
    return float(row.low or 0.0), float(str(row.value)), float(row.high or 0.0)


def _width(row: Input) -> float:
    low, value, high = _three(row)
    return (high - low) / abs(value) if value else 0.0


def one_at_a_time(axes: Sequence[Axis]) -> list[tuple[Any, ...]]:
    """The scenario as it is, then each input at its low and at its high.

    Examples
    --------
    >>> [tuple(getattr(v, "value", v) for v in p) for p in one_at_a_time([Axis("a", (), KIND, (1.0, 2.0, 4.0))])]
    [(2.0,), (1.0,), (4.0,)]
    """
    now = tuple(AsIs(axis.numbers[1]) for axis in axes)
    points = [now]
    for i, axis in enumerate(axes):
        points += [(*now[:i], bound, *now[i + 1 :]) for bound in (axis.numbers[0], axis.numbers[2])]  # type: ignore[arg-type]
    return points
