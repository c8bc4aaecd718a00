"""Inputs of the tornado, and the bounds between which each is moved."""

from __future__ import annotations

from dcplan.answers.tco.comparison import Comparison
from dcplan.answers.tco.conventions import RESIDUAL as RESIDUAL_LINE
from dcplan.answers.tco.unit_costs import reference_work
from dcplan.economics.sampling import Marginal
from dcplan.inputs.residual_value import HIGH, LOW, residual_span
from dcplan.inputs.stand_ins import RATE, RESIDUAL, UTILIZATION, span_of
from dcplan.provenance import Quantity
from dcplan.units import MONTHS_PER_YEAR, QUARTERS_PER_YEAR

MFU = "reference.mfu_frac"
STANDARD = (RATE, RESIDUAL, UTILIZATION, MFU)
"""Inputs of every tornado that they move."""


def inputs_of_tornado(both: Comparison) -> tuple[str, ...]:
    """Return the named inputs, then the standard ones; none for an empty list of inputs."""
    asked = both.question.scenario.sensitivity
    named = asked.inputs if asked is not None else None
    if named is not None and not named:
        return ()
    return tuple(dict.fromkeys((*(named or ()), *STANDARD)))


def marginal_of(key: str, both: Comparison) -> Marginal | None:
    """Return the bounds of an input around its value, from the scenario or else the catalog.

    None for an input without bounds.
    """
    if key == MFU:
        return _mfu(both)
    if key == RESIDUAL:
        return _residual(both)
    span = span_of(key, both.log.rows.get(key), both.question.catalog)
    return Marginal(*span) if span is not None else None


def _mfu(both: Comparison) -> Marginal | None:
    """Return the MFU of the reference job between the ends of its step time's 80 % interval."""
    work = reference_work(both)
    mfu = work.mfu_frac
    if mfu is None or work.spread_frac <= 0.0:
        return None
    return Marginal(mfu / (1.0 + work.spread_frac), mfu, min(mfu * (1.0 + work.spread_frac), 1.0))


def _residual(both: Comparison) -> Marginal | None:
    """Return the share of the price that is left; None where the residual value does not count."""
    if not both.conventions.counts_owned(RESIDUAL_LINE):
        return None
    life = both.fleet.cost.life_quarters / QUARTERS_PER_YEAR
    years = both.owned.after_tax.months / MONTHS_PER_YEAR
    question = both.question
    span = residual_span(question.scenario.finance, life, years, question.catalog)
    return Marginal(*span) if span is not None else None


def residual_change(bound: float, marginal: Marginal, both: Comparison) -> str | None:
    """Return the change of the scenario that sets the residual value at a bound.

    None where the scenario's own residual value is the bound.
    """
    if bound == marginal.value:
        return None
    if isinstance(both.question.scenario.finance.residual, Quantity):
        return f"{RESIDUAL}={bound!r}"
    return f"{RESIDUAL}={LOW if bound == marginal.low else HIGH}"
