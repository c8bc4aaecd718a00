"""Table of the candidate sites of a plan: power, prices, cooling, carbon, land, and what each costs."""

from __future__ import annotations

from collections.abc import Mapping

from dcplan.answers.plan.calendar import quarter_at
from dcplan.answers.plan.sites.compare import Compared, candidates, chosen, why
from dcplan.catalog.schema import Site as CatalogSite
from dcplan.economics.cash_flow import FlowGroup
from dcplan.fabric.user_path import user_rtt_s
from dcplan.inputs.cloud_prices import great_circle_km
from dcplan.inputs.log import InputLog
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.terms import CoolingTerms, PlanningProblem, SiteTerms
from dcplan.planning.solve.solved import Solved
from dcplan.result import Table
from dcplan.scenario.load import Question
from dcplan.specs.plan.places import candidates as specs
from dcplan.units import MILLI, QUARTERS_PER_YEAR

SHOWN = frozenset({FlowGroup.CAPEX, FlowGroup.ENERGY, FlowGroup.OPEX})
"""Kinds of cost with a column of their own."""
NOT_SOLVED = "plan with --compare-sites"


def sites_table(
    solved: Solved, question: Question, log: InputLog, found: Mapping[str, Compared]
) -> dict[str, Table]:
    """Return the table of candidate sites; none with fewer than two."""
    problem, d = solved.problem, solved.decisions
    able = candidates(problem)
    if d is None or len(able) < 2:
        return {}
    used = chosen(problem, d)
    rows = (
        _row(problem, d, problem.site(s), question, log, used=s in used, found=found.get(s))
        for s in able
    )
    return {specs.SITES.name: specs.SITES.table(rows)}


def _row(
    problem: PlanningProblem,
    d: Decisions,
    site: SiteTerms,
    question: Question,
    log: InputLog,
    *,
    used: bool,
    found: Compared | None,
) -> specs.SiteRow:
    given = next(s for s in question.scenario.sites if s.id == site.id)
    cooling = _cooling(problem, d, site)
    financing = problem.finance.financing
    terms = financing.at(site.id) if financing is not None else None
    power = next((t for t, mw in enumerate(site.utility_mw) if mw > 0), None)
    parts = found.parts if found else {}
    return specs.SiteRow(
        site=site.id,
        chosen=used,
        change_usd=found.change_usd if found else None,
        change_low_usd=found.low_usd if found else None,
        only_here_npv_usd=found.alone_usd if found else None,
        only_here_usd_per_accelerator_hour=found.usd_per_accelerator_hour if found else None,
        break_even_usd_per_kwh=found.break_even_usd_per_kwh if found else None,
        capex_change_usd=parts.get(FlowGroup.CAPEX),
        energy_change_usd=parts.get(FlowGroup.ENERGY),
        opex_change_usd=parts.get(FlowGroup.OPEX),
        other_change_usd=sum(x for g, x in parts.items() if g not in SHOWN) if parts else None,
        why=why(found, used=used) if found else NOT_SOLVED,
        utility_mw=site.utility_mw[-1],
        powered_from=None if power is None else quarter_at(problem, power),
        interruptible_mw=sum(x.mw[-1] for x in site.tranches),
        interrupted_h_per_year=max((x.hours_per_year for x in site.tranches), default=0.0),
        redundancy=site.redundancy,
        energy_usd_per_kwh=sum(site.usd_per_kwh) / problem.quarters,
        demand_usd_per_kw_month=site.demand_usd_per_kw_month,
        lease_usd_per_kw_month=site.lease_usd_per_kw_month[0]
        if site.lease_usd_per_kw_month
        else None,
        pue=cooling.pue,
        wue_l_per_kwh=cooling.wue_l_per_kwh if cooling.water_known else None,
        grid_g_per_kwh=site.grid_g_per_kwh,
        land_price_usd=site.land_usd,
        land_usd=given.land_usd.value if given.land_usd else None,
        land_tax_usd_per_year=site.land_tax_usd_per_quarter * QUARTERS_PER_YEAR,
        sales_tax_frac=terms.sales_tax_frac if terms else 0.0,
        property_tax_frac_per_year=terms.property_tax_frac_per_year if terms else 0.0,
        farthest_users_rtt_ms=_farthest_ms(given.location, question, log),
    )


def _cooling(problem: PlanningProblem, d: Decisions, site: SiteTerms) -> CoolingTerms:
    """Return the cooling of the site's most units in the last quarter, or its lowest PUE if unused."""
    last = problem.quarters - 1
    options = [
        (d.fitted.get((h.id, c.id, last), 0), c)
        for h in problem.halls
        if h.site == site.id
        for c in h.coolings
    ]
    return max(options, key=lambda x: (x[0], -x[1].pue))[1]


def _farthest_ms(location: str, question: Question, log: InputLog) -> float | None:
    """Return the round trip to the farthest users of services with regions; None without any [ms]."""
    places = {
        region.location
        for service in question.scenario.workloads.inference
        for region in service.regions
    }
    rows = {key: log.catalog.get("sites", key, CatalogSite) for key in (location, *places)}
    here = rows[location]
    return max(
        (
            user_rtt_s(
                great_circle_km((here.lat, here.lon), (rows[key].lat, rows[key].lon)),
                log.parameter("network", "user-route-factor"),
                log.parameter("network", "fibre-us-per-km"),
                log.parameter("network", "last-mile-rtt-ms") * MILLI,
            )
            / MILLI
            for key in places
        ),
        default=None,
    )
