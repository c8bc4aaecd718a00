"""What a sweep asks for: which scenario, which axes, which of their points, in which order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dcplan.errors import InputError, Place, Problem
from dcplan.scenario.axes import Axis, axes_of
from dcplan.scenario.load import Question
from dcplan.scenario.tree import canonical_key
from dcplan.study.bounds import bounded_axes, one_at_a_time
from dcplan.study.sweep.points import Method, Values, chains, grid, in_turn, sampled


@dataclass(frozen=True)
class Ask:
    """What to sweep and how."""

    scenario: str
    variant: str | None = None
    sets: Sequence[str] = ()
    catalogs: Sequence[str] = ()
    paired: bool = False
    sample: int | None = None
    seed: int = 1
    method: Method = "lhs"
    bounds: bool = False
    """Inputs between their low and high, instead of axes."""
    gap: float = 0.005
    time_limit_s: float = 120.0


def axes_asked(
    ask: Ask, question: Question, given: list[Axis], plain: Sequence[str]
) -> tuple[list[Axis], list[str]]:
    """Axes of the command line, or else of the file, or of the inputs with bounds; and what was
    left out.

    Raises
    ------
    InputError
        When there is none, or one input is set more than once.
    """
    fixed = [canonical_key(question.tree, text.partition("=")[0].strip()) for text in plain]
    if ask.paired and (ask.bounds or ask.sample is not None):
        cause = "--zip pairs lists; --sample and --bounds make their own points"
        raise _wrong(cause, "--zip")
    if ask.bounds:
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
        raise InputError(
            [
                Problem(
                    "DC051", cause, Place(ask.scenario), help="--set finance.discount_rate=0.07,0.1"
                )
            ]
        )
    keys = [canonical_key(question.tree, a.key) for a in axes]
    twice = [
        a.key for a, key in zip(axes, keys, strict=True) if keys.count(key) > 1 or key in fixed
    ]
    if twice:
        raise _wrong(f"{twice[0]}: set more than once, as axes or as an axis and a value", "--set")
    return axes, []


def values_asked(ask: Ask, axes: Sequence[Axis]) -> list[Values]:
    """Every point's place on each axis."""
    if ask.sample is not None:
        return sampled(axes, ask.sample, ask.seed, ask.method)
    return one_at_a_time(axes) if ask.bounds else grid(axes, paired=ask.paired)


def orders_asked(ask: Ask, axes: Sequence[Axis], values: Sequence[Values]) -> list[list[int]]:
    """Points in lines of neighbours."""
    if ask.bounds and ask.sample is None:
        return in_turn(len(values))
    return chains(axes, values, product=not ask.paired and ask.sample is None)


def _wrong(cause: str, flag: str) -> InputError:
    return InputError([Problem("DC051", cause, Place(flag))])
