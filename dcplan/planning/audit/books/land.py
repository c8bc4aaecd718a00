"""Land of sites: the payment when a plan first uses a site, and what the land is worth at the end."""

from __future__ import annotations

from collections.abc import Iterator

from dcplan.economics.cash_flow import AssetClass, Driver, Flow, FlowGroup, Goods, Sharing, Unit
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.terms import PlanningProblem, SiteTerms

LAND = "land"
"""Cost line of land."""


def first_use(problem: PlanningProblem, d: Decisions, site: str) -> int | None:
    """Return the first quarter in which a hall of a site is fitted out; None if there is none."""
    own = {h.id for h in problem.halls if h.site == site}
    return min((t for (h, _, t), n in d.fitted.items() if h in own and n), default=None)


def land_flows(problem: PlanningProblem, d: Decisions) -> Iterator[Flow]:
    """Yield the payment for the land of each site that a plan uses, and its value at the end."""
    for site in problem.sites:
        first = first_use(problem, d, site.id) if site.land_usd else None
        if first is not None:
            yield from _of_site(site, first, problem.quarters)


def _of_site(site: SiteTerms, first: int, quarters: int) -> Iterator[Flow]:
    use = Sharing(Driver.RATED, serves=(first, quarters))
    plot, last = Goods(LAND, 1, Unit.LOT, "", first), quarters - 1
    usd, left = site.land_usd, site.land_usd * site.land_left_frac[first]
    asset = AssetClass.LAND
    yield Flow(*(first, FlowGroup.CAPEX, LAND, usd, site.id), asset=asset, shared=use, goods=plot)
    yield Flow(*(last, FlowGroup.RESIDUAL, LAND, -left, site.id, True), asset=asset, shared=use)
