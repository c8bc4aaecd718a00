"""Permits of on-site plants, recomputed from the units of each calendar year."""

from __future__ import annotations

from collections.abc import Iterable

from dcplan.planning.audit.onsite import units_serving
from dcplan.planning.check_ids import CheckId
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.terms import PlanningProblem, SiteTerms
from dcplan.units import QUARTERS_PER_YEAR, quarter_index


def permit_limits(
    problem: PlanningProblem, d: Decisions, site: SiteTerms
) -> Iterable[tuple[CheckId, str, int, float, float]]:
    """Yield check, place, first quarter, energy and limit of each plant with a permit in a calendar year."""
    for x in (o for o in site.onsite if o.permit_h_per_year is not None):
        made, most, first = dict[int, float](), dict[int, float](), dict[int, int]()
        for t in range(problem.quarters):
            year = (quarter_index(problem.start) + t) // QUARTERS_PER_YEAR
            rated_mw = x.unit_mw * units_serving(d, site, x, t)
            first.setdefault(year, t)
            made[year] = made.get(year, 0.0) + d.onsite_mwh.get((site.id, x.id, t), 0.0)
            quarter_mwh = rated_mw * (x.permit_h_per_year or 0.0) / QUARTERS_PER_YEAR
            most[year] = most.get(year, 0.0) + quarter_mwh
        for year, t in first.items():
            yield CheckId.PERMIT_MWH, f"{site.id} {x.id}", t, made[year], most[year]
