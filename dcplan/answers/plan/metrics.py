"""Metrics of an audited plan, computed only from the audit's accounts."""

from __future__ import annotations

import math
from collections import defaultdict

from dcplan.answers.plan.calendar import calendar_date
from dcplan.answers.plan.sustainability.embodied import embodied_metrics
from dcplan.answers.plan.tables.queue import queue_metrics
from dcplan.answers.plan.tables.site import matched_years
from dcplan.answers.plan.workloads import workload_metrics, workloads_of
from dcplan.catalog.loader import Catalog
from dcplan.catalog.schema import System
from dcplan.economics.cash_flow import FlowGroup, npv_usd, totals_usd
from dcplan.planning.audit.books.books import Accounts
from dcplan.planning.audit.measures import (
    after_tax,
    cloud_carbon_t,
    delivered_pflop_days,
    used_accelerators,
)
from dcplan.planning.audit.onsite import carbon_t
from dcplan.planning.audit.rent.flows import rented_usd_per_hour
from dcplan.planning.audit.rent.use import rented_hours
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.problem.work.terms import PFLOPS, RunOption
from dcplan.planning.solve.solved import Solved
from dcplan.result import Metric
from dcplan.specs.plan import metrics as specs
from dcplan.units import (
    DAYS_PER_MONTH,
    DAYS_PER_QUARTER,
    HOURS_PER_DAY,
    KW_PER_MW,
    TOKENS_PER_KTOKEN,
)


def metrics_of(solved: Solved, catalog: Catalog) -> dict[str, Metric]:
    """Return all metrics of a plan; an empty mapping without a plan."""
    if solved.audit is None or solved.decisions is None:
        return {}
    problem, d = solved.problem, solved.decisions
    return {
        **money_metrics(solved, catalog),
        **_power(solved.audit.books, problem),
        **_carbon(solved.audit.books, problem, d),
        **_matching(problem, d, solved.audit.books),
        **solver_metrics(solved),
        **_hardware(problem, d, solved),
        **specs.CLOUD_HOURS(_cloud_hours(problem, d)),
        **_work(problem, d, solved),
        **workload_metrics(workloads_of(problem, d, solved.audit.books)),
        **queue_metrics(solved.audit.queues),
    }


def money_metrics(solved: Solved, catalog: Catalog) -> dict[str, Metric]:
    """Return net present cost and the undiscounted sum of each kind of cost."""
    if solved.audit is None or solved.decisions is None:
        return {}
    totals = totals_usd(solved.audit.books.flows)
    changes = _price_bounds(solved.problem, solved.decisions, catalog)
    low, high = (totals[FlowGroup.CAPEX] + change for change in changes)
    return {
        **specs.NPV(solved.audit.npv_usd),
        **_after_tax(solved.problem, solved.audit.books),
        **specs.CAPEX(totals[FlowGroup.CAPEX], low=low, high=high),
        **specs.ENERGY(totals[FlowGroup.ENERGY]),
        **specs.OPEX(totals[FlowGroup.OPEX]),
        **specs.CLOUD(totals[FlowGroup.CLOUD]),
        **specs.AFTER(totals[FlowGroup.POST_HORIZON]),
        **specs.UNSERVED_COST(totals[FlowGroup.UNSERVED]),
        **specs.RESIDUAL(0.0 - totals[FlowGroup.RESIDUAL]),  # 0.0 - 0.0 has no minus sign
    }


def _after_tax(problem: PlanningProblem, books: Accounts) -> dict[str, Metric]:
    """Return the present cost after taxes and debt, if the scenario has them."""
    if problem.finance.financing is None:
        return {}
    return specs.AFTER_TAX_NPV(after_tax(problem, books.flows).npv_usd)


def solver_metrics(solved: Solved) -> dict[str, Metric]:
    """Return the proven gap and bound of the plan."""
    return {**specs.GAP(solved.gap_frac), **specs.BOUND(_known(solved.bound_usd))}


def _power(books: Accounts, problem: PlanningProblem) -> dict[str, Metric]:
    """Return the peaks over all sites, and PUE and WUE weighted by energy."""
    quarters = range(problem.quarters)
    it, facility = books.total("it_mwh"), books.total("facility_mwh")
    peak = max(
        sum(books.site(problem, s.id, t, "facility_mw") for s in problem.sites) for t in quarters
    )
    rated = max(sum(books.halls[h.id, t].rated_kw for h in problem.halls) for t in quarters)
    electrical = max(sum(books.halls[h.id, t].peak_kw for h in problem.halls) for t in quarters)
    return {
        **specs.PEAK_FACILITY(peak),
        **specs.PEAK_IT(rated / KW_PER_MW),
        **specs.PEAK_ELECTRICAL(electrical / KW_PER_MW),
        **specs.ANNUAL_PUE(facility / it if it else None),
        **specs.ANNUAL_WUE(books.total("water_l") / (it * KW_PER_MW) if it else None),
    }


def _carbon(books: Accounts, problem: PlanningProblem, d: Decisions) -> dict[str, Metric]:
    """Return operational carbon of owned sites and rent, and embodied carbon of purchases."""
    carbon = sum(
        carbon_t(d, s, books.site(problem, s.id, t, "facility_mwh"), t)
        for s in problem.sites
        for t in range(problem.quarters)
    )
    return {
        **specs.OPERATIONAL_CARBON(carbon),
        **specs.CARBON_WITH_CLOUD(_known(carbon + cloud_carbon_t(problem, d))),
        **embodied_metrics(problem, d, books),
    }


def _matching(problem: PlanningProblem, d: Decisions, books: Accounts) -> dict[str, Metric]:
    """Return matching and market-based carbon of all sites; none in a scenario without contracts."""
    if not any(s.contracts for s in problem.sites):
        return {}
    each = [x for site in problem.sites for _, x in matched_years(problem, d, books, site)]
    load = sum(x.load_mwh for x in each)
    annual = sum(min(x.clean_mwh, x.load_mwh) for x in each)
    return {
        **specs.MARKET_CARBON(sum(x.market_t for x in each)),
        **specs.MATCHED_ANNUAL(annual / load if load else None),
        **specs.MATCHED_HOURLY(sum(x.hourly_mwh for x in each) / load if load else None),
    }


def _work(problem: PlanningProblem, d: Decisions, solved: Solved) -> dict[str, Metric]:
    """Return durations and finish dates of runs, delivered research and unserved demand."""
    found: dict[str, Metric] = {}
    for run in d.whole_runs:
        found |= _job(problem, d, solved, run)
    if any(c.unit == PFLOPS for c in problem.demands):
        found |= specs.COMPUTE(delivered_pflop_days(problem, d))
    if d.runs:
        found |= specs.TOTAL_COMPLETION(
            sum(r.start_month * DAYS_PER_MONTH + r.finish_days for r in d.whole_runs)
        )
    for job in problem.jobs:
        found |= specs.UNSERVED_RUNS(0.0, job.id)
    missing: dict[str, float] = defaultdict(float)
    for demand in problem.required:
        own = sum(x for (c, _), x in d.unmet.items() if c == demand.id)
        # the unmet amount of a service is sized for its peak; the metric is the mean
        mean = demand.scenario_unit[1] / TOKENS_PER_KTOKEN if demand.load else 1.0
        missing[demand.workload_id] += demand.hours_frac * mean * own
    units = {x.workload_id: x.unit for x in problem.required}
    for workload, value in missing.items():
        found |= specs.UNSERVED(value, workload, unit=f"{units[workload]} x quarters")
    return found


def _known(value: float) -> float | None:
    """Return a number, or None for NaN."""
    return None if math.isnan(value) else value


def _price_bounds(problem: PlanningProblem, d: Decisions, catalog: Catalog) -> tuple[float, float]:
    """Return the cost changes of the ordered racks at the low and high price bounds [USD]."""
    less = more = 0.0
    for p in problem.placements:
        n = d.racks_ordered(p.key, problem.quarters - 1)
        price = catalog.get("systems", p.system, System).price_usd
        if n and price and price.value:
            low, high = price.bounds
            less += n * p.price_usd * (low / price.value - 1)
            more += n * p.price_usd * (high / price.value - 1)
    return less, more


def _hardware(problem: PlanningProblem, d: Decisions, solved: Solved) -> dict[str, Metric]:
    """Return racks, accelerators and switches, in total and by model."""
    racks: dict[str, int] = defaultdict(int)
    accelerators: dict[str, int] = defaultdict(int)
    for p in problem.placements:
        n = d.racks_ordered(p.key, problem.quarters - 1)
        n += sum(
            d.existing_racks(x, problem.quarters - 1) for x in problem.existing if x.key == p.key
        )
        if n:
            racks[p.system] += n * p.racks
            accelerators[p.system] += n * p.accelerators
    switches: dict[str, int] = defaultdict(int)
    if solved.audit:
        for h in problem.halls:
            for model, n in solved.audit.books.ordered_networks[
                h.id, problem.quarters - 1
            ].switches.items():
                switches[model] += n
    result = {
        **specs.ALL_RACKS(sum(racks.values())),
        **specs.ALL_ACCELERATORS(sum(accelerators.values())),
        **specs.ALL_SWITCHES(sum(switches.values())),
    }
    for spec, name, counts in (
        (specs.RACKS, "Racks", racks),
        (specs.ACCELERATORS, "Accelerators", accelerators),
        (specs.SWITCHES, "Switches", switches),
    ):
        for key, n in sorted(counts.items()):
            result |= spec(n, key, label=f"{name}: {key}")
    return result


def _cloud_hours(problem: PlanningProblem, d: Decisions) -> float:
    """Return accelerator-hours rented for demands and runs [h]."""
    return sum(rented_hours(problem, d, o.id) for o in problem.offers)


def owned_usd_per_accelerator_day(solved: Solved) -> float:
    """Return the net present cost of owned hardware per accelerator-day in use."""
    if solved.audit is None or solved.decisions is None:
        return 0.0
    d, problem = solved.decisions, solved.problem
    owned = [f for f in solved.audit.books.flows if f.group is not FlowGroup.CLOUD]
    used = used_accelerators(problem, d) * DAYS_PER_QUARTER
    return npv_usd(owned, problem.finance.discount_rate) / used if used else 0.0


def _job(
    problem: PlanningProblem, d: Decisions, solved: Solved, run: RunOption
) -> dict[str, Metric]:
    """Return duration, finish date, cost and goodput of one run."""
    job, facts = run.job, run.outlook
    level = next(f"{j.confidence:.0%}" for j in problem.jobs if j.id == job)
    start = run.start_month * DAYS_PER_MONTH
    if run.on_cloud:
        usd = (
            run.accelerators * run.days * HOURS_PER_DAY * rented_usd_per_hour(problem, d, run.place)
        )
    else:
        usd = run.accelerators * run.days * owned_usd_per_accelerator_day(solved)
    return {
        **specs.DAYS(run.days, job, label=f"Duration at {level} confidence"),
        **specs.DAYS_P50(run.days_p50, job),
        **specs.FINISH(
            calendar_date(problem.start, start + run.finish_days),
            job,
            label=f"Finish date at {level} confidence, including possible delays of the start",
        ),
        **specs.JOB_COST(usd, job),
        **specs.JOB_ACCELERATORS(run.accelerators, job),
        **specs.SPARES(run.spares, job),
        **specs.GOODPUT(
            facts["goodput_frac"],
            job,
            low=facts["goodput_low_frac"],
            high=facts["goodput_high_frac"],
        ),
    }
