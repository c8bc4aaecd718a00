"""Inputs between their low and high: one at a time, each re-solved, or all as samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dcplan.answers.explain.switching_values import PRICED
from dcplan.errors import InputError, Place, Problem
from dcplan.inputs.log import Input, width
from dcplan.planning.problem.build import build
from dcplan.scenario.axes import Axis
from dcplan.scenario.load import Question
from dcplan.scenario.set_keys import set_key

MOST = 8
"""Number of inputs used if the scenario's ``sensitivity`` names none: the widest prices, tariffs
and rates."""
RATES = ("finance.discount_rate", "finance.discount-rate")
KIND = "triangular"


@dataclass(frozen=True)
class AsIs:
    """A value that a point does not change."""

    value: Any


def bounded_axes(question: Question) -> tuple[list[Axis], list[str]]:
    """Return an axis with low, value and high for each input that has bounds.

    Also return a note on each named input without bounds.

    Raises
    ------
    InputError
        DC051 when there is no input with bounds.
    """
    rows = build(question).log.rows
    asked = question.scenario.sensitivity
    named = list(asked.inputs) if asked else []
    usual = [key for key in rows if PRICED.fullmatch(key) or key in RATES]
    chosen = [key for key in named or usual if key in rows and _bounded(rows[key])]
    if not named:
        chosen = sorted(chosen, key=lambda key: (-width(rows[key]), key))[:MOST]
    bare = [key for key in named if key not in chosen]
    if not chosen:
        cause = "no input has low and high" + (f": {', '.join(bare)} have none" if bare else "")
        raise InputError(
            [Problem("DC051", cause, Place("--bounds"), help="key: {value: 7, low: 6, high: 9}")]
        )
    notes = [
        f"{key}: left out, because this plan has no such input with low and high" for key in bare
    ]
    return [Axis(set_key(key, question), (), KIND, _three(rows[key])) for key in chosen], notes


def _bounded(row: Input) -> bool:
    return (
        width(row) > 0.0
        and not isinstance(row.value, bool)
        and _three(row) == tuple(sorted(_three(row)))
    )


def _three(row: Input) -> tuple[float, float, float]:
    return float(row.low or 0.0), float(str(row.value)), float(row.high or 0.0)


def one_at_a_time(axes: Sequence[Axis]) -> list[tuple[Any, ...]]:
    """Return the unchanged scenario, then each input at its low and at its high.

    Examples
    --------
    >>> points = one_at_a_time([Axis("a", (), KIND, (1.0, 2.0, 4.0))])
    >>> [tuple(getattr(v, "value", v) for v in p) for p in points]
    [(2.0,), (1.0,), (4.0,)]
    """
    now = tuple(AsIs(axis.numbers[1]) for axis in axes)
    points = [now]
    for i, axis in enumerate(axes):
        points += [(*now[:i], bound, *now[i + 1 :]) for bound in (axis.numbers[0], axis.numbers[2])]  # type: ignore[arg-type]
    return points
