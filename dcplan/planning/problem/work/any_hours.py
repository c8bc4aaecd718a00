"""Demands whose average over the week may be served in any period."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dcplan.planning.problem.work.terms import DemandTerms, part_id


def any_hours(demand: DemandTerms, periods: Sequence[float]) -> list[DemandTerms]:
    """Return a demand whose average over the week may be served in any period.

    The first of the returned demands has the wanted amount, and each other one serves in one period.
    """
    if len(periods) == 1:
        return [demand]
    parts = [
        replace(
            demand,
            id=part_id(demand.id, f"p{p + 1}"),
            wanted=tuple(0.0 for _ in demand.wanted),
            unmet_usd=None,
            period=p,
            hours_frac=frac,
            row=demand.id,
            share=frac,
        )
        for p, frac in enumerate(periods)
    ]
    return [replace(demand, each={}), *parts]
