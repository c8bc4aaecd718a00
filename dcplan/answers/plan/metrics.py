"""Metrics of an audited plan, from the audit's accounts alone."""

from __future__ import annotations

import datetime as dt
import math
from collections import defaultdict

from dcplan.catalog.loader import Catalog
from dcplan.catalog.schema import System
from dcplan.economics.cash_flow import FlowGroup, npv_usd, totals_usd
from dcplan.planning.audit.cloud import rented_usd_per_hour
from dcplan.planning.audit.measures import cloud_carbon_t, delivered_pflop_days
from dcplan.planning.audit.onsite import carbon_t
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.terms import Menu
from dcplan.planning.problem.work.terms import PFLOPS, JobConfig
from dcplan.planning.solve.solved import Solved
from dcplan.result import Metric
from dcplan.units import (
    DAYS_PER_MONTH,
    DAYS_PER_QUARTER,
    HOURS_PER_DAY,
    HOURS_PER_QUARTER,
    KW_PER_MW,
    quarter_index,
)


def calendar_date(start: str, day: float) -> str:
    """Date of a day counted from the first day of a quarter.

    Examples
    --------
    >>> calendar_date("2027-Q1", 0.0), calendar_date("2027-Q2", 91.3125)
    ('2027-01-01', '2027-07-01')
    """
    index = quarter_index(start)
    first = dt.date(index // 4, 3 * (index % 4) + 1, 1)
    return (first + dt.timedelta(days=int(day))).isoformat()


def metrics_of(solved: Solved, catalog: Catalog) -> dict[str, Metric]:
    """All metric keys of a plan."""
    if solved.audit is None or solved.decisions is None:
        return {}
    menu, d, books = solved.menu, solved.decisions, solved.audit.books
    totals = totals_usd(books.flows)
    it, facility = books.total("it_mwh"), books.total("facility_mwh")
    quarters = range(menu.quarters)
    peak = {t: sum(books.site(menu, s.id, t, "facility_mw") for s in menu.sites) for t in quarters}
    peak_it = (
        max(sum(books.halls[h.id, t].rated_kw for h in menu.halls) for t in quarters) / KW_PER_MW
    )
    peak_el = (
        max(sum(books.halls[h.id, t].peak_kw for h in menu.halls) for t in quarters) / KW_PER_MW
    )
    carbon = sum(
        carbon_t(d, s, books.site(menu, s.id, t, "facility_mwh"), t)
        for s in menu.sites
        for t in quarters
    )
    bought = [(p, d.racks_ordered(p.key, menu.quarters - 1)) for p in menu.placements]
    # a footprint that is not published is not zero, and a sum without it would not be the plan's
    known = all(p.embodied_t is not None for p, n in bought if n)
    embodied = sum(n * (p.embodied_t or 0.0) for p, n in bought) if known else None
    low, high = (totals[FlowGroup.CAPEX] + change for change in _price_bounds(menu, d, catalog))
    m = {
        "cost.npv_usd": Metric(solved.audit.npv_usd, "USD", "Net present cost"),
        "cost.capex_usd": Metric(
            totals[FlowGroup.CAPEX],
            "USD",
            "Capital cost; low, high: bounds of system prices",
            low,
            high,
        ),
        "cost.energy_usd": Metric(totals[FlowGroup.ENERGY], "USD", "Energy and demand charges"),
        "cost.opex_usd": Metric(
            totals[FlowGroup.OPEX], "USD", "Maintenance, facility, staff, lease"
        ),
        "cost.cloud_usd": Metric(totals[FlowGroup.CLOUD], "USD", "Rented accelerators"),
        "cost.after_usd": Metric(
            totals[FlowGroup.AFTER],
            "USD",
            "Commitments paid after the horizon; in the net present cost",
        ),
        "cost.unmet_usd": Metric(
            totals[FlowGroup.UNMET],
            "USD",
            "Value of demand that is not served; in the net present cost",
        ),
        "cost.residual_usd": Metric(
            -totals[FlowGroup.RESIDUAL], "USD", "Value left at the end of the horizon"
        ),
        "power.peak_facility_mw": Metric(
            max(peak.values()), "MW", "Facility peak on the design day"
        ),
        "power.peak_it_mw": Metric(peak_it, "MW", "IT peak (rated), network and storage included"),
        "power.peak_electrical_mw": Metric(
            peak_el, "MW", "Electrical design peak that breakers and busway carry"
        ),
        "power.annual_pue": Metric(facility / it if it else None, "", "PUE, energy weighted"),
        "water.annual_wue_l_per_kwh": Metric(
            books.total("water_l") / (it * KW_PER_MW) if it else None,
            "L/kWh",
            "Site water per IT kWh",
        ),
        "carbon.operational_t": Metric(carbon, "t", "Operational carbon of owned sites"),
        "carbon.with_cloud_t": Metric(
            _known(carbon + cloud_carbon_t(menu, d)),
            "t",
            "The same, and of rented accelerators (estimate)",
        ),
        "carbon.embodied_t": Metric(
            embodied,
            "t",
            "Embodied carbon of the systems bought; empty where one has no published footprint",
        ),
        "solver.gap_frac": Metric(solved.gap_frac, "", "Proven gap against the audited cost"),
        "solver.bound_usd": Metric(_known(solved.bound_usd), "USD", "No plan costs less"),
    }
    m |= _hardware(menu, d, solved)
    m["cloud.accelerator_hours"] = Metric(_cloud_hours(menu, d), "h", "Rented accelerator-hours")
    for run in d.runs:
        m |= _job(menu, d, solved, run)
    if any(c.unit == PFLOPS for c in menu.demands):
        m["compute.pflop_days"] = Metric(
            delivered_pflop_days(menu, d),
            "PFLOP-days",
            "Research delivered on its reference job over the horizon",
        )
    if d.runs:
        ends = [r.start_month * DAYS_PER_MONTH + r.finish_days for r in d.runs]
        m["time.finish_days"] = Metric(
            sum(ends), "days", "Sum of all runs' ends, counted from the plan's first day"
        )
    m |= {f"unmet.{j.id}": Metric(0.0, "", "Runs not done: every job must run") for j in menu.jobs}
    for demand in menu.demands:
        missing = sum(x for (c, _), x in d.unmet.items() if c == demand.id)
        m[f"unmet.{demand.id}"] = Metric(
            missing, f"{demand.unit} x quarters", "Demand given up at its price"
        )
    return m


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


def _price_bounds(menu: Menu, d: Decisions, catalog: Catalog) -> tuple[float, float]:
    """How much less and more the ordered racks cost at the low and high end of each system's
    price. [USD]
    """
    less = more = 0.0
    for p in menu.placements:
        n = d.racks_ordered(p.key, menu.quarters - 1)
        price = catalog.get("systems", p.system, System).price_usd
        if n and price and price.value:
            low, high = price.bounds
            less += n * p.price_usd * (low / price.value - 1)
            more += n * p.price_usd * (high / price.value - 1)
    return less, more


def _hardware(menu: Menu, d: Decisions, solved: Solved) -> dict[str, Metric]:
    racks: dict[str, int] = defaultdict(int)
    accelerators: dict[str, int] = defaultdict(int)
    for p in menu.placements:
        n = d.racks_ordered(p.key, menu.quarters - 1)
        n += sum(d.held_racks(x, menu.quarters - 1) for x in menu.held if x.key == p.key)
        if n:
            racks[p.system] += n * p.slots
            accelerators[p.system] += n * p.accelerators
    switches: dict[str, int] = defaultdict(int)
    if solved.audit:
        for h in menu.halls:
            for model, n in solved.audit.books.ordered_networks[
                h.id, menu.quarters - 1
            ].switches.items():
                switches[model] += n
    result = {
        "racks.total": Metric(sum(racks.values()), "", "Racks given, held and bought"),
        "accelerators.total": Metric(
            sum(accelerators.values()), "", "Accelerators given, held and bought"
        ),
        "switches.total": Metric(sum(switches.values()), "", "Compute fabric switches"),
    }
    for name, table in (("racks", racks), ("accelerators", accelerators), ("switches", switches)):
        result |= {
            f"{name}.{key}": Metric(n, "", f"{name.capitalize()}: {key}")
            for key, n in sorted(table.items())
        }
    return result


def _cloud_hours(menu: Menu, d: Decisions) -> float:
    research = sum(x * HOURS_PER_QUARTER for x in d.rented.values())
    return research + sum(r.accelerators * r.days * HOURS_PER_DAY for r in d.runs if r.on_cloud)


def owned_usd_per_accelerator_day(solved: Solved) -> float:
    """Net present cost of all that is owned over the accelerator-days that jobs and research use."""
    if solved.audit is None or solved.decisions is None:
        return 0.0
    d, menu = solved.decisions, solved.menu
    owned = [f for f in solved.audit.books.flows if f.group is not FlowGroup.CLOUD]
    used = (sum(d.training.values()) + sum(d.serving.values())) * DAYS_PER_QUARTER
    return npv_usd(owned, menu.finance.discount_rate) / used if used else 0.0


def _job(menu: Menu, d: Decisions, solved: Solved, run: JobConfig) -> dict[str, Metric]:
    key = f"train.{run.job}"
    start = run.start_month * DAYS_PER_MONTH
    if run.on_cloud:
        usd = run.accelerators * run.days * HOURS_PER_DAY * rented_usd_per_hour(menu, d, run.place)
    else:
        usd = run.accelerators * run.days * owned_usd_per_accelerator_day(solved)
    facts = run.outlook
    return {
        f"{key}.days": Metric(run.days, "days", "Length at the asked confidence"),
        f"{key}.days_p50": Metric(run.days_p50, "days", "Median length"),
        f"{key}.finish": Metric(
            calendar_date(menu.start, start + run.finish_days),
            "",
            "Finish date at the asked confidence, what may delay the start counted in",
        ),
        f"{key}.cost_usd": Metric(
            usd, "USD", "Its share of owned net present cost by accelerator-days, or its cloud bill"
        ),
        f"{key}.accelerators": Metric(run.accelerators, "", "Accelerators held, spares among them"),
        f"{key}.spares": Metric(run.spares, "", "Accelerators that stand by"),
        f"{key}.goodput_frac": Metric(
            facts["goodput_frac"],
            "",
            "Lasting progress over wall-clock time",
            facts["goodput_low_frac"],
            facts["goodput_high_frac"],
        ),
    }
