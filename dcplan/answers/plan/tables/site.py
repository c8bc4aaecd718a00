"""Halls, power and plants of a plan's sites."""

from __future__ import annotations

from dcplan.answers.plan.calendar import quarter_at
from dcplan.planning.audit.books.books import Accounts
from dcplan.planning.audit.energy.contracts import Matched, matched, output_mwh, signed, years_of
from dcplan.planning.audit.onsite import interruptible_use_mw, plants_mw, units_serving
from dcplan.planning.audit.upgrades import capacity, works_begin
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.energy import contract_usd
from dcplan.planning.problem.energy import output_mwh as unit_mwh
from dcplan.planning.problem.terms import PlanningProblem, SiteTerms
from dcplan.result import Table
from dcplan.specs.plan.places import site as specs
from dcplan.units import KW_PER_MW


def halls(problem: PlanningProblem, d: Decisions, books: Accounts) -> Table:
    """Return the contents of each hall type in the last quarter."""
    rows = []
    last = problem.quarters - 1
    for h in problem.halls:
        a, most = books.halls[h.id, last], capacity(d, h, last)
        fitted = {c.id: d.fitted.get((h.id, c.id, last), 0) for c in h.coolings}
        rows.append(
            specs.HallRow(
                hall=h.id,
                units_fitted=", ".join(f"{n} x {c}" for c, n in fitted.items() if n) or "not used",
                racks=a.racks,
                positions=most.racks * a.units,
                hall_mw=a.hall_kw / KW_PER_MW,
                limit_mw=most.it_mw * a.units,
                liquid_mw=a.liquid_kw / KW_PER_MW,
                air_mw=a.air_kw / KW_PER_MW,
            )
        )
    return specs.HALLS.table(rows)


def power(problem: PlanningProblem, d: Decisions, books: Accounts) -> Table:
    """Return the power of each site by quarter: load, supply and generation."""
    rows = []
    for s in problem.sites:
        for t in range(problem.quarters):
            load = books.site(problem, s.id, t, "load_mw")
            mwh = books.site(problem, s.id, t, "facility_mwh")
            rows.append(
                specs.PowerRow(
                    site=s.id,
                    quarter=quarter_at(problem, t),
                    it_mw=books.site(problem, s.id, t, "rated_kw") / KW_PER_MW,
                    facility_mw=books.site(problem, s.id, t, "facility_mw"),
                    heat_pump_mw=books.site(problem, s.id, t, "pump_mw") if s.heat else None,
                    utility_mw=s.utility_mw[t],
                    interruptible_mw=sum(interruptible_use_mw(d, s, load, mwh, t).values()),
                    onsite_mw=plants_mw(d, s, t),
                    electrical_peak_mw=books.site(problem, s.id, t, "peak_kw") / KW_PER_MW,
                    energy_mwh=mwh,
                    power_blocks=d.blocks.get((s.id, t), 0),
                )
            )
    return specs.POWER.table(rows)


def onsite(problem: PlanningProblem, d: Decisions) -> Table:
    """Return cost and generation of each plant on site, in quarters with either."""
    rows = []
    for s in problem.sites:
        for o in s.onsite:
            for t in range(problem.quarters):
                n, mwh = d.onsite.get((s.id, o.id, t), 0), d.onsite_mwh.get((s.id, o.id, t), 0.0)
                units = units_serving(d, s, o, t)
                usd = mwh * o.usd_per_mwh + units * contract_usd(o, problem.start, t)
                able = None if not o.weather else units * unit_mwh(o, problem.start, t)
                if n or mwh or able:
                    rows.append(
                        specs.OnsiteRow(
                            site=s.id,
                            source=o.id,
                            quarter=quarter_at(problem, t),
                            units_ordered=n,
                            serve_from=quarter_at(problem, t + o.lead) if n else None,
                            ordered_mw=n * o.unit_mw,
                            capex_usd=n * o.usd,
                            generated_mwh=mwh,
                            curtailed_mwh=None if able is None else able - mwh,
                            energy_usd=problem.finance.level(t) * usd,
                        )
                    )
    return specs.ONSITE.table(rows)


def upgrades(problem: PlanningProblem, d: Decisions) -> Table:
    """Return the upgrades that a plan orders, with their dates and what their works stop."""
    rows = []
    for h in problem.halls:
        before = h.start
        for x in h.upgrades:
            begin = works_begin(d, h, x)
            if begin is not None and before is not None:
                works = range(begin, min(begin + x.works, problem.quarters))
                stopped = {
                    t: sum(n for (g, _, _, q), n in d.stopped.items() if (g, q) == (h.id, t))
                    for t in works
                }
                rows.append(
                    specs.UpgradeRow(
                        hall=h.id,
                        upgrade=x.id,
                        order_quarter=quarter_at(problem, begin - x.lead),
                        works_from=quarter_at(problem, begin),
                        serves_from=quarter_at(problem, begin + x.works),
                        cooling=x.cooling or None,
                        it_before_mw=before.it_mw,
                        it_after_mw=x.after.it_mw,
                        out_of_service_frac=x.out_frac,
                        racks_stopped=max(stopped.values(), default=0),
                        capex_usd=x.usd,
                    )
                )
            before = x.after
    return specs.UPGRADES.table(rows)


def contract_tables(problem: PlanningProblem, d: Decisions, books: Accounts) -> dict[str, Table]:
    """Return the tables of contracts and of matching; none in a scenario without contracts."""
    if not any(s.contracts for s in problem.sites):
        return {}
    return {
        "contracts": _contracts(problem, d),
        "matching": specs.MATCHING.table(
            _row(problem, site, year.start, found)
            for site in problem.sites
            for year, found in matched_years(problem, d, books, site)
        ),
    }


def _contracts(problem: PlanningProblem, d: Decisions) -> Table:
    rows = []
    for s in problem.sites:
        for x in s.contracts:
            for t in range(problem.quarters):
                steps = signed(d, s, x, t)
                if not steps:
                    continue
                made = output_mwh(problem, d, s, x, t)
                used = d.contract_mwh.get((s.id, x.id, t), 0.0)
                usd = made * x.usd_per_mwh[t] + used * x.delivery_usd_per_mwh[t]
                rows.append(
                    specs.ContractRow(
                        site=s.id,
                        contract=x.id,
                        quarter=quarter_at(problem, t),
                        signed_mw=d.contracted.get((s.id, x.id, t), 0) * x.step_mw,
                        contracted_mw=steps * x.step_mw,
                        output_mwh=made,
                        used_mwh=used,
                        surplus_mwh=made - used,
                        energy_usd=usd - (made - used) * x.surplus_usd_per_mwh[t],
                    )
                )
    return specs.CONTRACTS.table(rows)


def matched_years(
    problem: PlanningProblem, d: Decisions, books: Accounts, site: SiteTerms
) -> list[tuple[range, Matched]]:
    """Return the years of a site with their carbon-free energy."""
    loads = {t: books.site(problem, site.id, t, "facility_mwh") for t in range(problem.quarters)}
    return [
        (year, matched(problem, d, site, {t: loads[t] for t in year})) for year in years_of(problem)
    ]


def _row(problem: PlanningProblem, site: SiteTerms, first: int, found: Matched) -> specs.MatchedRow:
    return specs.MatchedRow(
        site=site.id,
        first_quarter=quarter_at(problem, first),
        energy_mwh=found.load_mwh,
        carbon_free_mwh=found.clean_mwh,
        matched_annual_frac=found.annual_frac,
        matched_hourly_frac=found.hourly_frac,
        location_t=found.location_t,
        market_t=found.market_t,
    )
