"""Warnings of a plan's answer."""

from __future__ import annotations

from collections import defaultdict
from decimal import ROUND_CEILING, Decimal
from typing import Any

from dcplan.answers.plan.headline import percent
from dcplan.answers.plan.tables.lead_times import late_notes
from dcplan.answers.plan.tables.network import choice_notes, span_notes, too_small
from dcplan.answers.plan.tables.work import interruption_notes
from dcplan.catalog.schema import CoolingOption, System
from dcplan.economics.cash_flow import AssetClass, FlowGroup
from dcplan.inputs.financing import PLANT_TAX, site_rate
from dcplan.inputs.heat_paths import tank_notes
from dcplan.inputs.training.speed import host_note
from dcplan.planning.audit.left import new_units, used_units
from dcplan.planning.goal import MONEY
from dcplan.planning.problem.work.jobs.slow_storage import lost_note
from dcplan.planning.problem.work.jobs.soonest import wait_months
from dcplan.planning.solve.solved import Solved
from dcplan.planning.solve.status import SolveStatus
from dcplan.result import Table
from dcplan.scenario.load import Question
from dcplan.specs.plan.money import BENCHMARKS, Inside
from dcplan.units import DAYS_PER_QUARTER, MONTHS_PER_QUARTER, money

MOSTLY_EMPTY = 0.5
"""Share of a fitted hall in use below which a note names it."""


def warnings_of(
    solved: Solved, question: Question, tables: dict[str, Table], gap: float
) -> list[dict[str, Any]]:
    """Return the warnings that accompany a plan."""
    given_pb = question.scenario.storage.usable_pb if question.scenario.storage else None
    choices = tables.get("storage_choices")
    kinds = {
        "note": [
            *solved.problem.warnings,
            *_no_work(solved),
            *_late_starts(solved),
            *_empty_halls(solved, question),
            *_larger_runs(solved),
            *_untaxed(solved, question),
            *span_notes(solved.decisions, question),
            *interruption_notes(solved.problem, solved.decisions),
            *(f"without an answer: {text}" for text in solved.lost),
        ],
        "given": [
            f"a given decision exceeds a limit: {text}"
            for text in (solved.audit.given if solved.audit else ())
        ],
        "lead": late_notes(tables["lead_times"]),
        "band": _outside(tables["benchmarks"]),
        "gap": _open_gap(solved, gap),
        "tank": _tanks(solved, question),
        "storage": too_small(tables["storage"], given_pb.value if given_pb else None),
        "host_memory": _offloaded(solved, question),
        "slow_storage": _slowed(solved, question),
        "tiers": choice_notes(choices) if choices else [],
    }
    return [{"code": code, "message": text} for code, texts in kinds.items() for text in texts]


def _no_work(solved: Solved) -> list[str]:
    """Return that no workload asks for anything, so that the cheapest plan buys nothing."""
    problem = solved.problem
    asked = problem.jobs or any(any(demand.wanted) for demand in problem.demands)
    if asked or problem.goal.measure not in MONEY:
        return []
    return [
        "no workload asks for anything within the horizon, so the plan buys nothing; give workloads "
        "(dcplan explain workloads)"
    ]


def _empty_halls(solved: Solved, question: Question) -> list[str]:
    """Return a note for each fitted hall of which work fills less than half at its peak."""
    modules = {
        f"{site.id}/{h.id}": h.modules for site in question.scenario.sites for h in site.halls
    }
    problem, d = solved.problem, solved.decisions
    if d is None or problem.finance.empty_hall_frac >= 1.0:
        return []
    found = []
    for hall in problem.halls:
        built = sum(new_units(problem, d, hall).values())
        used = used_units(problem, d, hall)
        if used < MOSTLY_EMPTY * built:
            given = modules.get(hall.id, 1)
            smaller = (
                f"more than its {given} `modules`, so that a part is smaller"
                if given > 1
                else "`modules` to build it in parts"
            )
            found.append(
                f"{hall.id}: {built * hall.it_mw:.3g} MW is fitted, and work fills "
                f"{used * hall.it_mw:.2g} MW of it at its peak; the rest keeps "
                f"{problem.finance.empty_hall_frac:.0%} of its book value. Give the hall {smaller}, "
                "or a smaller it_mw"
            )
    return found


def _larger_runs(solved: Solved) -> list[str]:
    """Return a note for each run with more accelerators than its number of months needs."""
    problem, d = solved.problem, solved.decisions
    if d is None or solved.fixed is not None or problem.goal.measure not in MONEY:
        return []
    notes = []
    options = [x.whole for x in problem.run_options if x.leads]
    for run in d.whole_runs:
        same = (run.job, run.place, run.system, run.link, run.cuts, run.start_month, run.months)
        least = min(
            x.accelerators
            for x in options
            if (x.job, x.place, x.system, x.link, x.cuts, x.start_month, x.months) == same
        )
        if least < run.accelerators and not run.on_cloud:
            notes.append(
                f"{run.job} has {run.accelerators:,} accelerators, and {least:,} would need as many "
                "months: a hall keeps its book value only where work fills it, and that value is "
                "more than the additional racks cost. Set `finance.empty_hall_residual_frac: 1` if "
                "an empty hall keeps its value"
            )
    return notes


def _untaxed(solved: Solved, question: Question) -> list[str]:
    """Return notes where equipment bears property tax, and plants that are bought bear none.

    The lump of fixed operating cost contains the property tax of a facility. A site with named staff
    does not pay the lump, so its plants bear no property tax without a rate of their own.
    """
    scenario = question.scenario
    sites = {site.id: site for site in scenario.sites}
    bought: dict[tuple[bool, AssetClass], float] = defaultdict(float)
    for flow in solved.audit.books.flows if solved.audit is not None else ():
        if flow.asset not in PLANT_TAX or flow.group is not FlowGroup.CAPEX:
            continue
        site = sites[flow.site]
        rate = site_rate(scenario.finance, site, "property_tax_frac_per_year")
        own = site_rate(scenario.finance, site, PLANT_TAX[flow.asset])
        if rate is not None and rate[1].value and own is None:
            bought[site.staff is None and site.lease is None, flow.asset] += flow.usd
    found = []
    for inside in (True, False):
        assets = [asset for asset in PLANT_TAX if bought.get((inside, asset))]
        if not assets:
            continue
        total = money(sum(bought[inside, asset] for asset in assets))
        fields = ", ".join(f"{asset.value}_property_tax_frac_per_year" for asset in assets)
        found.append(
            "finance.tax.property_tax_frac_per_year counts on racks, storage and networks, not on "
            f"{', '.join(asset.value for asset in assets)} of USD {total}: "
            + (
                "their property tax is inside the fixed operating cost per kW, which the plan counts"
                if inside
                else f"they bear none; give finance.tax.{{{fields}}}"
            )
        )
    return found


def _outside(benchmarks: Table) -> list[str]:
    """Return a note for each unit cost or ratio outside its public range."""
    return [
        f"{row.figure}: {_plain(row.value)} is outside the public range of {_plain(row.low)} to "
        f"{_plain(row.high)} {row.unit}"
        for row in BENCHMARKS.rows(benchmarks)
        if row.inside == Inside.OUTSIDE
    ]


def _plain(value: float) -> str:
    """Write a unit cost in full, a ratio with three digits."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


SAME_PLAN = "more time would give the same plan"


def accepting(gap_frac: float) -> str:
    """Return the step that accepts a reached gap, rounded up to two digits.

    Examples
    --------
    >>> accepting(0.00712), accepting(0.0989)
    ('accept this gap with --gap 0.0072', 'accept this gap with --gap 0.099')
    """
    exact = Decimal(gap_frac)
    last = Decimal(1).scaleb(exact.adjusted() - 1)
    return f"accept this gap with --gap {exact.quantize(last, ROUND_CEILING).normalize():f}"


def _open_gap(solved: Solved, gap: float) -> list[str]:
    """Explain a gap above the requested one."""
    found = []
    if solved.ended and solved.gap_frac > gap:
        same = f"{SAME_PLAN}: {accepting(solved.gap_frac)}"
        again = "a longer --time-limit may help" if solved.timed else same
        found.append(f"the proven gap is {percent(solved.gap_frac)}: {solved.ended}; {again}")
    elif solved.status == SolveStatus.LIMIT and solved.gap_frac > gap:
        found.append(
            f"the proven gap is {percent(solved.gap_frac)}, {percent(gap)} was requested: the time "
            "limit ended the search; give a longer --time-limit or a larger --gap"
        )
    return found


def _offloaded(solved: Solved, question: Question) -> list[str]:
    """Return a note for each own system with an unknown host memory that a run offloads to."""
    notes = dict[str, None]()
    for run in solved.decisions.runs if solved.decisions else ():
        if "offload" in run.layout and not run.on_cloud:
            system = question.catalog.get("systems", run.system, System)
            notes |= {host_note(system): None} if system.host_dram_gb is None else {}
    return list(notes)


def _slowed(solved: Solved, question: Question) -> list[str]:
    """Return the days that runs lose to a storage of given capacity."""
    runs, storage = (
        solved.decisions.whole_runs if solved.decisions else (),
        question.scenario.storage,
    )
    notes = (lost_note(r.job, r.outlook, r.days, r.step_time_s, storage) for r in runs)
    return [note for note in notes if note]


def _tanks(solved: Solved, question: Question) -> list[str]:
    """Return what the buyer of immersion tanks must know, for each system in them."""
    d, find, notes = solved.decisions, question.catalog.get, dict[str, None]()
    bought = {*d.fleet, *((h, c, k) for h, c, k, _ in d.ordered)} if d else set()
    for p in sorted((p for p in solved.problem.placements if p.key in bought), key=lambda p: p.key):
        option = find("cooling", p.cooling, CoolingOption)
        system = find("systems", p.system, System)
        if option.tank is None:
            continue
        if p.fan_frac:
            before = p.rated_kw / p.nodes / (1.0 - p.fan_frac)
            notes[
                f"{p.system} in {option.id}: without fans, {p.rated_kw / p.nodes:.4g} kW instead "
                f"of {before:.4g} kW of rated power; the price of its racks includes the "
                f"conversion, USD {p.conversion_usd:,.0f} for each server"
            ] = None
        liters, each = option.tank.fluid_l.value, option.tank.fluid_usd_per_l.value
        notes[
            f"{option.id}: the price of cooling and fit-out includes tanks and fluid, "
            f"{liters:,.0f} L or about USD {liters * each:,.0f} for each tank; a tank occupies "
            f"{option.tank.rack_positions} rack positions"
        ] = None
        notes |= dict.fromkeys(tank_notes(option, system))
    return list(notes)


def _late_starts(solved: Solved) -> list[str]:
    """Return a note for each start date set by the horizon or by limits rather than by demand."""
    problem, d = solved.problem, solved.decisions
    horizon_end = problem.quarters * DAYS_PER_QUARTER
    notes = []
    for run in d.whole_runs if d and solved.fixed is None else ():
        job = next(j for j in problem.jobs if j.id == run.job)
        late, waits = run.start_month - job.first_month, wait_months(problem, run)
        if waits:
            notes.append(
                f"{run.job} starts {waits} months after own hardware could serve it: no plan starts "
                "all runs without a deadline at once, and in this one they wait as few months in "
                "all as they must; budget, power, supply or other work is short"
            )
        elif not job.may_wait and late >= 2 * MONTHS_PER_QUARTER:
            notes.append(
                f"{run.job} starts {late} months after its planned quarter, because no own hardware "
                "that can run it serves earlier (lead times, halls, links, power or supply)"
            )
        elif job.may_wait and job.end_day >= horizon_end and late >= 2 * MONTHS_PER_QUARTER:
            why = "" if run.on_cloud else ", and hardware bought later has a higher residual value"
            earlier = "" if job.dated else ", or leave out `may_wait` to start at once"
            notes.append(
                f"{run.job} starts {late} months after its earliest start: the objective does not "
                f"reward an early finish{why}; "
                f"set `deadline` to require an earlier finish{earlier}"
            )
    return notes
