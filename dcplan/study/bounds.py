"""Inputs between their low and high: one at a time, each re-solved, or all at once as samples."""

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
"""Inputs taken where the scenario's ``sensitivity`` names none: the widest prices, tariffs and
rates."""
RATES = ("finance.discount_rate", "finance.discount-rate")
KIND = "triangular"


@dataclass(frozen=True)
class AsIs:
    """A value that a point leaves as the scenario has it."""

    value: Any


def bounded_axes(question: Question) -> tuple[list[Axis], list[str]]:
    """Return an axis from low over the value to high for each input that has bounds.

    What was named and has no bounds is returned beside them.

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
        cause = "no input with low and high" + (f": {', '.join(bare)} have none" if bare else "")
        raise InputError(
            [Problem("DC051", cause, Place("--bounds"), help="key: {value: 7, low: 6, high: 9}")]
        )
    notes = [f"{key}: no input of this plan with low and high, left out" for key in bare]
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
    """Return the scenario as it is, then each input at its low and at its high.

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
