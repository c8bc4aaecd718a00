"""Axes of a sweep, the values of every point on the axes, and the order of the points."""

from __future__ import annotations

from collections.abc import Sequence

from dcplan.errors import InputError, Place, Problem
from dcplan.scenario.axes import Axis, axes_of
from dcplan.scenario.load import Question
from dcplan.scenario.tree import canonical_key
from dcplan.study.bounds import bounded_axes, one_at_a_time
from dcplan.study.sweep.points import Values, chains, grid, in_turn, sampled
from dcplan.study.sweep.request import SweepRequest


def axes_asked(
    request: SweepRequest, question: Question, given: list[Axis], plain: Sequence[str]
) -> tuple[list[Axis], list[str]]:
    """Return the axes, and notes on what is left out.

    The axes come from the command line, else from the file, or from the inputs with bounds.

    Raises
    ------
    InputError
        When there is no axis, or an input is set more than once.
    """
    fixed = [canonical_key(question.tree, text.partition("=")[0].strip()) for text in plain]
    if request.bounds:
        if given:
            cause = "--bounds makes its own axes: leave --set K=a,b out"
            raise _wrong(cause, "--bounds")
        return bounded_axes(question)
    axes = given or [
        a
        for a in axes_of(question.scenario, question.tree)
        if canonical_key(question.tree, a.key) not in fixed
    ]
    if not axes:
        cause = "nothing to sweep: the file has no `sweep:` and the command line has no axis"
        help_text = "--set finance.discount_rate=0.07,0.1"
        raise InputError([Problem("DC051", cause, Place(request.scenario), help=help_text)])
    keys = [canonical_key(question.tree, a.key) for a in axes]
    twice = [
        a.key for a, key in zip(axes, keys, strict=True) if keys.count(key) > 1 or key in fixed
    ]
    if twice:
        raise _wrong(f"{twice[0]}: set more than once, as axes or as an axis and a value", "--set")
    return axes, []


def values_asked(request: SweepRequest, axes: Sequence[Axis]) -> list[Values]:
    """Return the values of every point on each axis."""
    if request.sample is not None:
        return sampled(axes, request.sample, request.seed, request.method)
    return one_at_a_time(axes) if request.bounds else grid(axes, paired=request.paired)


def orders_asked(
    request: SweepRequest, axes: Sequence[Axis], values: Sequence[Values]
) -> list[list[int]]:
    """Return the points in chains of neighboring points."""
    if request.bounds and request.sample is None:
        return in_turn(len(values))
    return chains(axes, values, product=not request.paired and request.sample is None)


def _wrong(cause: str, flag: str) -> InputError:
    return InputError([Problem("DC051", cause, Place(flag))])
