"""Water rights of sites by quarter."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from dcplan.inputs.log import InputLog
from dcplan.planning.problem.terms import SiteTerms
from dcplan.scenario.load import Question


def with_rights(
    sites: Iterable[SiteTerms], question: Question, log: InputLog
) -> tuple[SiteTerms, ...]:
    """Return the sites with the water that each may take in a quarter."""
    given = {s.id: s.water.max_m3_per_quarter for s in question.scenario.sites}
    quarters = question.scenario.horizon.quarters
    return tuple(
        replace(
            site,
            water_right_m3=log.series(f"sites.{site.id}.water.max_m3_per_quarter", right, quarters),
        )
        if (right := given[site.id])
        else site
        for site in sites
    )
