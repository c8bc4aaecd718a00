"""Payments for energy, demand charges, staff, maintenance and leases."""

from __future__ import annotations

from dcplan.economics.cash_flow import (
    AssetClass,
    Charge,
    Driver,
    Flow,
    FlowGroup,
    Goods,
    Sharing,
    Unit,
)
from dcplan.planning.audit.books.books import Accounts
from dcplan.planning.audit.energy.contracts import tariff_mwh
from dcplan.planning.audit.onsite import generated_mw
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.terms import PlanningProblem, SiteTerms
from dcplan.units import KW_PER_MW, MONTHS_PER_QUARTER


def running(problem: PlanningProblem, d: Decisions, books: Accounts) -> list[Flow]:
    """Return the payments for the energy and the operation of every site, by quarter."""
    flows = []
    for site in problem.sites:
        for t in range(problem.quarters):
            mwh = books.site(problem, site.id, t, "facility_mwh")
            kwh = Goods("grid", tariff_mwh(d, site, mwh, t) * KW_PER_MW, Unit.KWH)
            usd = kwh.quantity * site.usd_per_kwh[t]
            energy, grid = FlowGroup.ENERGY, AssetClass.GRID_ENERGY
            use = Sharing(Driver.ENERGY)
            flows.append(Flow(t, energy, "energy", usd, site.id, asset=grid, shared=use, goods=kwh))
            used = any(books.halls[h.id, t].units for h in problem.halls if h.site == site.id)
            flows += _of_site(problem, d, books, site, t, used=used)
    return [f for f in flows if f.usd]


def _of_site(
    problem: PlanningProblem, d: Decisions, books: Accounts, site: SiteTerms, t: int, *, used: bool
) -> list[Flow]:
    """Return the payments for the operation of a site in a quarter; ``used`` if it has halls in use."""
    flows, level = [], problem.finance.level(t)

    def pay(group: FlowGroup, line: str, usd: float, by: Driver, goods: Goods, *place: str) -> None:
        use, other = Sharing(by, place), AssetClass.OTHER
        flows.append(Flow(t, group, line, usd, site.id, asset=other, shared=use, goods=goods))

    if site.demand_usd_per_kw_month > 0:
        peak = books.site(problem, site.id, t, "load_mw") - generated_mw(d, site, t)
        billed = max(peak, site.minimum_take_frac * site.utility_mw[t] if used else 0.0)
        months = Goods("grid", billed * KW_PER_MW * MONTHS_PER_QUARTER, Unit.KW_MONTH)
        usd = level * months.quantity * site.demand_usd_per_kw_month
        pay(FlowGroup.ENERGY, Charge.DEMAND, usd, Driver.PEAK, months)
    if used:
        months = Goods("staff", MONTHS_PER_QUARTER, Unit.SITE_MONTH)
        pay(FlowGroup.OPEX, Charge.STAFF, level * site.staff_usd_per_quarter, Driver.RATED, months)
        months = Goods("land", MONTHS_PER_QUARTER, Unit.SITE_MONTH)
        pay(FlowGroup.OPEX, Charge.LAND_TAX, site.land_tax_usd_per_quarter, Driver.RATED, months)
    for place in problem.placements:
        hall = problem.hall(place.hall)
        if hall.site != site.id:
            continue
        n = d.racks(problem, place.key, t)
        if n:
            usd = level * n * place.maintenance_usd_per_quarter
            months = Goods(place.system, n * MONTHS_PER_QUARTER, Unit.RACK_MONTH, hall.id)
            pay(FlowGroup.OPEX, Charge.MAINTENANCE, usd, Driver.HOURS, months, *place.key)
            kw = d.powered(problem, place.key, t) * place.rated_kw
            usd = level * kw * site.opex_usd_per_kw_quarter
            months = Goods(place.system, kw * MONTHS_PER_QUARTER, Unit.KW_MONTH, hall.id)
            pay(FlowGroup.OPEX, Charge.FACILITY, usd, Driver.RATED, months, *place.key)
    if site.lease_usd_per_kw_month:
        for hall in (h for h in problem.halls if h.site == site.id):
            kw = books.halls[hall.id, t].units * hall.it_mw * KW_PER_MW
            usd = kw * site.lease_usd_per_kw_month[t] * MONTHS_PER_QUARTER
            months = Goods("lease", kw * MONTHS_PER_QUARTER, Unit.KW_MONTH, hall.id)
            pay(FlowGroup.OPEX, Charge.LEASE, usd, Driver.RATED, months, hall.id)
    return flows
