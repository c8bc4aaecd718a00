"""The price of operational carbon, recomputed: by location each quarter, by market each year."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from dcplan.economics.cash_flow import AssetClass, Driver, Flow, FlowGroup, Goods, Sharing, Unit
from dcplan.planning.audit.energy.contracts import matched, years_of
from dcplan.planning.audit.onsite import carbon_t
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.terms import PlanningProblem, SiteTerms

CARBON = "carbon price"
"""Line of the payment."""


def carbon_flows(
    problem: PlanningProblem, d: Decisions, site: SiteTerms, facility_mwh: Mapping[int, float]
) -> Iterable[Flow]:
    """Yield the payments for carbon: of each quarter by location, or in the last one of a year by market."""
    if not site.carbon_usd_per_t:
        return
    if site.carbon_by_market:
        tonnes = {
            year[-1]: matched(problem, d, site, {t: facility_mwh[t] for t in year}).market_t
            for year in years_of(problem)
        }
    else:
        tonnes = {t: carbon_t(d, site, mwh, t) for t, mwh in facility_mwh.items()}
    shared, group, other = Sharing(Driver.ENERGY), FlowGroup.ENERGY, AssetClass.OTHER
    for t, amount in tonnes.items():
        usd = amount * site.carbon_usd_per_t[t]
        if usd:
            goods = Goods("carbon", amount, Unit.TONNE)
            yield Flow(t, group, CARBON, usd, site.id, asset=other, shared=shared, goods=goods)
