"""Indicators of a plan by site and calendar year, from its accounts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dcplan.answers.common.indicators import WATER, Known, Report, rows_of
from dcplan.answers.plan.calendar import quarter_at
from dcplan.catalog.schema import OnsitePower
from dcplan.catalog.schema import Site as CatalogSite
from dcplan.catalog.schema.place import RENEWABLE_KINDS
from dcplan.energy.embodied import embodied
from dcplan.energy.indicators import SiteYear
from dcplan.planning.audit.books.books import Accounts
from dcplan.planning.audit.energy.contracts import Matched, matched, output_mwh
from dcplan.planning.audit.energy.embodied import bought
from dcplan.planning.audit.energy.utilities import HeatSold, heat_sold
from dcplan.planning.audit.onsite import generated_mwh, stacks_kg
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.terms import PlanningProblem, SiteTerms
from dcplan.result import Table
from dcplan.scenario.load import Question
from dcplan.scenario.schema import Site
from dcplan.specs.sustainability import SUSTAINABILITY
from dcplan.units import KG_PER_TONNE, L_PER_M3, MJ_PER_KWH, QUARTERS_PER_YEAR


@dataclass(frozen=True)
class Planned:
    """A plan with its accounts, and the scenario that it answers."""

    problem: PlanningProblem
    decisions: Decisions
    books: Accounts
    question: Question


def sustainability(plan: Planned) -> Table:
    """Return the indicators of each site in each calendar year of a plan."""
    given = {s.id: s for s in plan.question.scenario.sites}
    return SUSTAINABILITY.table(
        row
        for site in plan.problem.sites
        for year, quarters in calendar_years(plan.problem)
        for row in rows_of(_report(plan, site, given[site.id], year, quarters))
    )


def calendar_years(problem: PlanningProblem) -> Iterator[tuple[str, list[int]]]:
    """Yield the calendar years of a plan with their quarters; the first and the last may have fewer."""
    found: dict[str, list[int]] = {}
    for t in range(problem.quarters):
        found.setdefault(quarter_at(problem, t).partition("-")[0], []).append(t)
    yield from found.items()


def _report(
    plan: Planned, site: SiteTerms, given: Site, year: str, quarters: Sequence[int]
) -> Report:
    problem, d, books = plan.problem, plan.decisions, plan.books

    def total(what: str) -> float:
        return sum(books.site(problem, site.id, t, what) for t in quarters)

    loads = {t: books.site(problem, site.id, t, "facility_mwh") for t in quarters}
    carbon = matched(problem, d, site, loads)
    dry = _unknown_water(plan, site, quarters)
    water_m3 = None if dry else total("water_l") / L_PER_M3
    grid = _grid_known(plan, given)
    stacks_t = sum(stacks_kg(d, site, t) for t in quarters) / KG_PER_TONNE
    ppa, own = _renewable(plan, site, quarters, sum(loads.values()))
    sold = _sold(plan, site, quarters)
    found = SiteYear(
        it_mwh=total("it_mwh"),
        total_mwh=sum(loads.values()),
        water_m3=water_m3,
        ppa_mwh=ppa,
        own_mwh=own,
        reused_mwh=sold.reused_mwh,
        carbon_t=carbon.location_t if grid else None,
    )
    fewer = len(quarters) < QUARTERS_PER_YEAR
    base = Report(
        year,
        site.id,
        found,
        installed_it_kw=max(books.site(problem, site.id, t, "rated_kw") for t in quarters),
        part=f"{len(quarters)} of 4 quarters are in the plan" if fewer else "",
        floor_m2=_floor(given),
        stressed_m3=_stressed(given, water_m3),
        capital_t=_capital(plan, site, quarters),
        **(_heat(site, sold) if site.heat else {}),
        water=f"the water of {dry} is unknown" if dry else WATER,
        **(_scope2(carbon, stacks_t) if grid else {}),
    )
    return _with_fuel(plan, site, quarters, base, stacks_t)


def _scope2(carbon: Matched, stacks_t: float) -> dict[str, Any]:
    """Return scope 2 by location and by market: without what plants on the site emit."""
    return {
        "location_t": Known(carbon.location_t - stacks_t, "energy of the grid times its carbon"),
        "market_t": Known(
            carbon.market_t - stacks_t,
            "residual mix times energy of the grid less carbon-free contracts",
        ),
    }


def _sold(plan: Planned, site: SiteTerms, quarters: Sequence[int]) -> HeatSold:
    """Return the waste heat that a site sells in some quarters."""
    sources = plan.books.heat_sources(plan.problem, site.id)
    total = HeatSold()
    for t in quarters:
        total = total.plus(heat_sold(site, sources[t], t))
    return total


def _heat(site: SiteTerms, sold: HeatSold) -> dict[str, Any]:
    """Return what the rows of reused heat say: its temperature, and where none is sold, why."""
    if not sold.reused_mwh:
        why = f"{site.id} sells no heat in the year: no liquid-cooled rack works, or the price is too low"
        return {"heat": why, "heat_c": Known(None, why)}
    basis = (
        f"heat of liquid-cooled racks sold in the hours with demand; {sold.delivered_mwh:,.0f} MWh reach "
        f"the buyer with {sold.electricity_mwh:,.0f} MWh of electricity of the heat pump, which is not in E_DC"
    )
    mean = "facility water that returns from the racks, weighted by energy"
    return {"heat": basis, "heat_c": Known(sold.mean_c, mean)}


def _unknown_water(plan: Planned, site: SiteTerms, quarters: Sequence[int]) -> str:
    """Return the cooling options in use whose water the catalog does not know."""
    used = {
        c.id
        for hall in plan.problem.halls
        if hall.site == site.id
        for c in hall.coolings
        if not c.water_known
        and any(plan.decisions.fitted.get((hall.id, c.id, t), 0) for t in quarters)
    }
    return ", ".join(sorted(used))


def _grid_known(plan: Planned, given: Site) -> bool:
    """Return whether scenario or catalog has the carbon of the grid."""
    row = plan.question.catalog.get("sites", given.location, CatalogSite)
    found = (given.carbon.grid_g_per_kwh, row.grid_g_per_kwh, row.grid_lifecycle_g_per_kwh)
    return any(x is not None for x in found)


def _renewable(
    plan: Planned, site: SiteTerms, quarters: Sequence[int], load_mwh: float
) -> tuple[float, float]:
    """Return the energy of carbon-free contracts, up to that of the grid, and of renewable plants [MWh]."""
    problem, d, catalog = plan.problem, plan.decisions, plan.question.catalog
    clean = sum(
        output_mwh(problem, d, site, x, t)
        for x in site.contracts
        if x.carbon_free
        for t in quarters
    )
    grid = load_mwh - sum(generated_mwh(d, site, t) for t in quarters)
    rows = [catalog.get("onsite", o.id, OnsitePower) for o in site.onsite]
    renewable = [row.id for row in rows if row.kind in RENEWABLE_KINDS]
    own = sum(d.onsite_mwh.get((site.id, o, t), 0.0) for o in renewable for t in quarters)
    return min(clean, max(grid, 0.0)), own


def _floor(given: Site) -> Known:
    if given.floor_m2 is None:
        return Known(None, f"give sites.{given.id}.floor_m2")
    return Known(given.floor_m2.value, f"sites.{given.id}.floor_m2")


def _stressed(given: Site, water_m3: float | None) -> Known:
    key = f"sites.{given.id}.water.stressed"
    if given.water.stressed is None:
        return Known(None, f"give {key}")
    said = f"{key}: {str(given.water.stressed).lower()}"
    return Known(water_m3 if given.water.stressed else 0.0, said)


def _capital(plan: Planned, site: SiteTerms, quarters: Sequence[int]) -> Known:
    """Return the embodied carbon of what is bought for the site in the year."""
    goods = bought(plan.problem, plan.decisions, plan.books)
    lots = [x for x in goods if x.site == site.id and x.quarter in quarters]
    if not lots:
        return Known(0.0, "nothing is bought in the year")
    sums = embodied(x.total for x in lots if x.total is not None)
    unknown = sorted({x.item for x in lots if x.total is None})
    basis = f"{sums.low_t:,.0f} to {sums.high_t:,.0f} t, of which {sums.class_t:,.0f} t are class values"
    without = f"; without {', '.join(unknown)}" if unknown else ""
    return Known(sums.t, f"{basis}{without}")


def _with_fuel(
    plan: Planned, site: SiteTerms, quarters: Sequence[int], base: Report, stacks_t: float
) -> Report:
    """Return the report with scope 1 and fuel of plants that burn some."""
    fuel = 0.0
    for o in site.onsite:
        row = plan.question.catalog.get("onsite", o.id, OnsitePower)
        if row.heat_rate_gj_per_mwh is None:
            continue
        made = sum(plan.decisions.onsite_mwh.get((site.id, o.id, t), 0.0) for t in quarters)
        fuel += made * row.heat_rate_gj_per_mwh.value / MJ_PER_KWH
    if not fuel:
        return base
    return replace(
        base,
        scope1_t=Known(stacks_t, "fuel of plants on the site; diesel of backup tests is not in it"),
        fuel_mwh=Known(fuel, "lower heating value, fuel of plants on the site"),
    )
