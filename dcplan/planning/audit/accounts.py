"""Accounts of a plan: power, energy, water, carbon and every payment, by quarter.

They use the exact integer numbers of switches.
"""

from __future__ import annotations

from dcplan.economics.cash_flow import AssetClass, Driver, Flow, FlowGroup, Sharing
from dcplan.planning.audit.books.books import Accounts
from dcplan.planning.audit.books.hall import hall_quarter
from dcplan.planning.audit.books.land import land_flows
from dcplan.planning.audit.books.purchases import purchases
from dcplan.planning.audit.books.running import running
from dcplan.planning.audit.energy.battery import response_flows
from dcplan.planning.audit.energy.carbon import carbon_flows
from dcplan.planning.audit.energy.contracts import contract_flows
from dcplan.planning.audit.energy.utilities import heat_flows, water_flows
from dcplan.planning.audit.left import left
from dcplan.planning.audit.links import link_flows
from dcplan.planning.audit.onsite import flows_of
from dcplan.planning.audit.rent.flows import cloud_flows
from dcplan.planning.audit.rent.leases import lease_flows
from dcplan.planning.audit.upgrades import upgrade_flows
from dcplan.planning.decisions import Decisions
from dcplan.planning.exact_network import exact_network
from dcplan.planning.problem.terms import HallTerms, PlanningProblem, SiteTerms
from dcplan.units import DAYS_PER_QUARTER, L_PER_M3


def make_accounts(problem: PlanningProblem, d: Decisions) -> Accounts:
    """Recompute all accounts of a plan."""
    books = Accounts()
    for hall in problem.halls:
        for t in range(problem.quarters):
            _enter_hall(problem, d, books, hall, t)
    books.flows = [
        *purchases(problem, d, books),
        *land_flows(problem, d),
        *running(problem, d, books),
        *cloud_flows(problem, d),
        *lease_flows(problem, d),
        *link_flows(problem, d),
        *upgrade_flows(problem, d),
    ]
    books.flows += [flow for site in problem.sites for flow in flows_of(problem, d, site)]
    books.flows += [flow for site in problem.sites for flow in _of_energy(problem, d, books, site)]
    books.flows += _unserved(problem, d)
    books.flows += left(problem, d, books.flows)
    return books


def _enter_hall(
    problem: PlanningProblem, d: Decisions, books: Accounts, hall: HallTerms, t: int
) -> None:
    """Enter a hall in a quarter: its network in service, the network it buys, and its amounts."""
    keys = [p.key for p in problem.placements if p.hall == hall.id]
    chosen = d.fabric.get(hall.id)
    serving = exact_network(
        problem, hall.id, chosen, {key: d.racks(problem, key, t) for key in keys}
    )
    kept = {key: d.racks_kept(problem, key, t) for key in keys}
    live = {key: n + d.racks_new(problem, key, t) for key, n in kept.items()}
    bought = exact_network(problem, hall.id, chosen, live)
    books.ordered_networks[hall.id, t] = bought
    before = exact_network(problem, hall.id, chosen, kept)
    books.network_usd[hall.id, t] = bought.usd - before.usd
    books.network_kw_bought[hall.id, t] = bought.kw - before.kw
    books.parts_bought[hall.id, t] = {
        "switches": sum(bought.switches.values()) - sum(before.switches.values()),
        "transceivers": bought.transceivers - before.transceivers,
    }
    books.pieces_bought[hall.id, t] = {
        key: bought.parts.get(key, 0) - before.parts.get(key, 0)
        for key in {**bought.parts, **before.parts}
    }
    books.halls[hall.id, t] = hall_quarter(problem, d, hall, t, serving)


def _of_energy(
    problem: PlanningProblem, d: Decisions, books: Accounts, site: SiteTerms
) -> list[Flow]:
    """Return the payments of a site for contracts, demand response, carbon, heat and water."""
    quarters = range(problem.quarters)
    mwh = {t: books.site(problem, site.id, t, "facility_mwh") for t in quarters}
    water_m3 = {t: books.site(problem, site.id, t, "water_l") / L_PER_M3 for t in quarters}
    return [
        *contract_flows(problem, d, site),
        *response_flows(problem, d, site),
        *carbon_flows(problem, d, site, mwh),
        *heat_flows(site, books.heat_sources(problem, site.id)),
        *water_flows(site, water_m3),
    ]


def _unserved(problem: PlanningProblem, d: Decisions) -> list[Flow]:
    """Return the price of the demand that a plan leaves unserved."""
    return [
        Flow(
            t,
            FlowGroup.UNSERVED,
            c.id,
            c.unmet_usd * d.unmet.get((c.id, t), 0.0),
            asset=AssetClass.OTHER,
            shared=Sharing(Driver.USER, user=c.id),
        )
        for c in problem.demands
        if c.unmet_usd is not None
        for t in range(problem.quarters)
    ]


def overlap_days(first_day: float, days: float, t: int) -> float:
    """Return the days of a run in a quarter.

    Examples
    --------
    >>> overlap_days(0.0, 100.0, 0), overlap_days(0.0, 100.0, 1)
    (91.3125, 8.6875)
    """
    begin, end = t * DAYS_PER_QUARTER, (t + 1) * DAYS_PER_QUARTER
    return max(0.0, min(first_day + days, end) - max(first_day, begin))
