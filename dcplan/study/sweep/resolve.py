"""A request of a sweep as axes, the place of every point on them, and their order."""

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
    """Return the axes, and what was left out.

    Axes are those of the command line, or else of the file, or of the inputs with bounds.

    Raises
    ------
    InputError
        When there is none, or one input is set more than once.
    """
    fixed = [canonical_key(question.tree, text.partition("=")[0].strip()) for text in plain]
    if request.bounds:
        if given:
            cause = "--bounds makes its own axes: no --set K=a,b"
            raise _wrong(cause, "--bounds")
        return bounded_axes(question)
    axes = given or [
        a
        for a in axes_of(question.scenario, question.tree)
        if canonical_key(question.tree, a.key) not in fixed
    ]
    if not axes:
        cause = "nothing to sweep: no `sweep:` in the file and no axis on the command line"
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
    """Return every point's place on each axis."""
    if request.sample is not None:
        return sampled(axes, request.sample, request.seed, request.method)
    return one_at_a_time(axes) if request.bounds else grid(axes, paired=request.paired)


def orders_asked(
    request: SweepRequest, axes: Sequence[Axis], values: Sequence[Values]
) -> list[list[int]]:
    """Return the points in lines of neighbours."""
    if request.bounds and request.sample is None:
        return in_turn(len(values))
    return chains(axes, values, product=not request.paired and request.sample is None)


def _wrong(cause: str, flag: str) -> InputError:
    return InputError([Problem("DC051", cause, Place(flag))])
