"""Inputs between their low and high: one at a time, each re-solved, or all as samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dcplan.answers.explain.switching_values import PRICED
from dcplan.errors import InputError, Place, Problem
from dcplan.inputs.log import Input, width
from dcplan.inputs.residual_value import residual_names, residual_span
from dcplan.inputs.stand_ins import RATE, RESIDUAL, SHARE_OF_WORK, THROUGHPUT, span_of
from dcplan.planning.problem.build import build
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.provenance import Quantity
from dcplan.scenario.axes import Axis
from dcplan.scenario.load import Question
from dcplan.scenario.set_keys import FIELDS, set_key
from dcplan.units import QUARTERS_PER_YEAR

MOST = 8
"""Number of prices and tariffs used if the scenario's ``sensitivity`` names no input: the widest."""
KIND = "triangular"


@dataclass(frozen=True)
class AsIs:
    """A value that a point does not change."""

    value: Any


def bounded_axes(question: Question) -> tuple[list[Axis], list[str]]:
    """Return an axis with low, value and high for each input that has bounds.

    The discount rate, the residual value, and the utilization and tokens per second that the
    scenario gives for its work are always among them, with bounds of the catalog if they have none
    of their own. Also return a note on each named input without bounds.

    Raises
    ------
    InputError
        DC051 when there is no input with bounds.
    """
    built = build(question)
    rows = built.log.rows
    asked = question.scenario.sensitivity
    named = list(asked.inputs or ()) if asked else []
    usual = [key for key in rows if PRICED.fullmatch(key) and _bounded(rows[key])]
    chosen = named or sorted(usual, key=lambda key: (-width(rows[key]), key))[:MOST]
    axes, bare = {}, []
    for key in dict.fromkeys((*chosen, *_standard(rows))):
        axis = _axis(key, rows.get(key), question, built.problem)
        if axis is not None:
            axes[axis.key] = axis
        elif key in named:
            bare.append(key)
    if not axes:
        cause = "no input has low and high" + (f": {', '.join(bare)} have none" if bare else "")
        raise InputError(
            [Problem("DC051", cause, Place("--bounds"), help="key: {value: 7, low: 6, high: 9}")]
        )
    notes = [
        f"{key}: left out, because this plan has no such input with low and high" for key in bare
    ]
    return list(axes.values()), notes


def _standard(rows: Mapping[str, Input]) -> list[str]:
    """Return the inputs that every tornado moves."""
    return [RATE, RESIDUAL] + [
        key for key in rows if SHARE_OF_WORK.fullmatch(key) or THROUGHPUT.fullmatch(key)
    ]


def _axis(key: str, row: Input | None, question: Question, problem: PlanningProblem) -> Axis | None:
    """Return the axis of an input; None for one without bounds."""
    if key == RESIDUAL:
        return _residual_axis(question, problem)
    found = row if row is None or _bounded(row) else replace(row, low=None, high=None)
    span = span_of(FIELDS.get(key, key), found, question.catalog)
    return Axis(set_key(key, question), (), KIND, span) if span is not None else None


def _residual_axis(question: Question, problem: PlanningProblem) -> Axis | None:
    """Return the residual value between the catalog's curves, or between the bounds of a share."""
    finance = question.scenario.finance
    if isinstance(finance.residual, Quantity):
        life = problem.finance.life_quarters / QUARTERS_PER_YEAR
        span = residual_span(finance, life, life, question.catalog)
        return Axis(RESIDUAL, (), KIND, span) if span is not None else None
    return Axis(RESIDUAL, residual_names(finance))


def _bounded(row: Input) -> bool:
    return (
        width(row) > 0.0
        and not isinstance(row.value, bool)
        and _three(row) == tuple(sorted(_three(row)))
    )


def _three(row: Input) -> tuple[float, float, float]:
    return float(row.low or 0.0), float(str(row.value)), float(row.high or 0.0)


def ends_of(axis: Axis) -> tuple[Any, Any, Any]:
    """Return low bound, present value and high bound of an axis: numbers, or names of curves."""
    low, now, high = axis.numbers if axis.sampled else axis.values
    return low, now, high


def one_at_a_time(axes: Sequence[Axis]) -> list[tuple[Any, ...]]:
    """Return the unchanged scenario, then each input at its low and at its high.

    Examples
    --------
    >>> points = one_at_a_time([Axis("a", (), KIND, (1.0, 2.0, 4.0))])
    >>> [tuple(getattr(v, "value", v) for v in p) for p in points]
    [(2.0,), (1.0,), (4.0,)]
    """
    now = tuple(AsIs(ends_of(axis)[1]) for axis in axes)
    points: list[tuple[Any, ...]] = [now]
    for i, axis in enumerate(axes):
        low, _, high = ends_of(axis)
        points += [(*now[:i], bound, *now[i + 1 :]) for bound in (low, high)]
    return points
