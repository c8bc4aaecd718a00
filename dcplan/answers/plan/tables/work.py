"""Runs and demands of a plan."""

from __future__ import annotations

from dcplan.answers.plan.calendar import calendar_date, quarter_at
from dcplan.planning.audit.energy.interrupted import accelerator_mw
from dcplan.planning.audit.measures import served
from dcplan.planning.audit.work.pools import active_in, pool_nodes
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.problem.work.terms import DemandTerms, RunOption
from dcplan.result import Table
from dcplan.specs.plan import decided
from dcplan.specs.plan import work as specs
from dcplan.units import DAYS_PER_MONTH, DAYS_PER_QUARTER, MONTHS_PER_QUARTER


def jobs(problem: PlanningProblem, d: Decisions) -> Table:
    """Return each run: place, accelerators, speed and duration."""
    return decided.JOBS.table(
        decided.JobRow(
            job=r.job,
            place=r.place,
            system=r.system,
            accelerators=r.accelerators,
            training_accelerators=r.used,
            spare_accelerators=r.spares,
            idle_accelerators=r.accelerators - r.used - r.spares,
            precision=r.precision,
            start_quarter=quarter_at(
                problem, int(r.start_month * DAYS_PER_MONTH // DAYS_PER_QUARTER)
            ),
            days_p50=r.days_p50,
            confidence_frac=_confidence(problem, r.job),
            days=r.days,
            mfu_frac=r.mfu_frac,
            goodput_frac=r.outlook["goodput_frac"],
            step_time_s=r.step_time_s,
            layout=" ".join(f"{k}={v}" for k, v in r.layout.items()),
        )
        for r in _by_start(d)
    )


def spare_pools(problem: PlanningProblem, d: Decisions) -> Table:
    """Return the spare nodes that runs share, by hall, system and quarter."""
    shared = [r for r in d.runs if r.pooled_nodes]
    rows = []
    for place, system in dict.fromkeys((r.place, r.system) for r in shared):
        here = [r for r in shared if (r.place, r.system) == (place, system)]
        for t in range(problem.quarters):
            months = range(t * MONTHS_PER_QUARTER, (t + 1) * MONTHS_PER_QUARTER)
            active = max((active_in(here, m) for m in months), key=_nodes)
            if active:
                rows.append(_pool_row(problem, active, t))
    return specs.SPARE_POOLS.table(rows)


def _nodes(runs: list[RunOption]) -> int:
    return sum(r.pooled_nodes for r in runs)


def _pool_row(problem: PlanningProblem, active: list[RunOption], t: int) -> specs.SparePoolRow:
    return specs.SparePoolRow(
        place=active[0].place,
        system=active[0].system,
        quarter=quarter_at(problem, t),
        runs=len(active),
        nodes=_nodes(active),
        spare_nodes=pool_nodes(problem, active),
        own_spare_nodes=sum(pool_nodes(problem, [r]) for r in active),
    )


def schedule(problem: PlanningProblem, d: Decisions) -> Table:
    """Return the finish date of each run, and the share of each cause in its variance."""
    return specs.SCHEDULE.table(_schedule_row(problem, r) for r in _by_start(d))


def _schedule_row(problem: PlanningProblem, r: RunOption) -> specs.ScheduleRow:
    facts, start = r.outlook, r.start_month * DAYS_PER_MONTH
    return specs.ScheduleRow(
        job=r.job,
        goodput_frac=facts["goodput_frac"],
        interruptions=facts["stops_per_day"] * r.days_p50,
        checkpoint_interval_s=facts["checkpoint_interval_s"],
        spares=r.spares,
        serves_from=calendar_date(problem.start, r.serving_quarter * DAYS_PER_QUARTER),
        planned_start=calendar_date(problem.start, start),
        days_p50=r.days_p50,
        confidence_frac=_confidence(problem, r.job),
        days=r.days,
        power_cut_days=r.lost_days if r.cuts.hours_per_year else None,
        start_delay_days=facts["end_p50_days"] - r.days_p50,
        finish_p50=calendar_date(problem.start, start + facts["end_p50_days"]),
        finish=calendar_date(problem.start, start + r.finish_days),
        step_time_frac=facts.get("variance_step_time", 0.0),
        production_frac=facts.get("variance_production", 0.0),
        failure_rates_frac=facts.get("variance_failure_rates", 0.0),
        failures_frac=facts.get("variance_failures", 0.0),
        delivery_frac=facts.get("variance_delivery", 0.0),
        energization_frac=facts.get("variance_energisation", 0.0),
    )


def interruption_notes(problem: PlanningProblem, d: Decisions | None) -> list[str]:
    """Return a note for each run that loses time to interruptions: how much, and what it gains."""
    notes = []
    for run in d.whole_runs if d else ():
        if d is None or not run.cuts.hours_per_year:
            continue
        site = problem.hall(run.part.place if run.part else run.place).site
        cuts = run.cuts
        how = f"goes on at {cuts.power_frac:.0%} of its power" if cuts.power_frac else "pauses"
        notes.append(
            f"{run.job} loses {run.lost_days:.1f} of its {run.days:.0f} days, because it {how} in the "
            f"{cuts.hours_per_year:g} h a year in which the grid takes back power of {site}; "
            f"{_with_firm_power(problem, d, run, site)}"
        )
    return notes


def _with_firm_power(problem: PlanningProblem, d: Decisions, run: RunOption, site: str) -> str:
    """Return when firm power of the grid alone could carry a run."""
    start = run.start_month // MONTHS_PER_QUARTER
    parts = [x for x in d.runs if x.job == run.job]
    mw = sum(x.accelerators * accelerator_mw(problem, d, x.place, x.system, start) for x in parts)
    firm = problem.site(site).utility_mw
    when = next((t for t in range(problem.quarters) if min(firm[t:]) >= mw), None)
    load = f"its {mw:,.1f} MW"
    if when is None:
        return f"firm power carries {load} in no quarter of the horizon"
    if when <= start:
        return f"firm power could carry {load} too, and the interruptions cost no more"
    months = (when - start) * MONTHS_PER_QUARTER
    return f"firm power carries {load} from {quarter_at(problem, when)}, {months} months later"


def demand(problem: PlanningProblem, d: Decisions) -> Table:
    """Return each workload and its supply, average of the week in the scenario's units."""
    rows = []
    asked = {x.workload_id: x.scenario_unit[0] for x in problem.required}
    for t in range(problem.quarters):
        for workload, unit in asked.items():
            parts = [x for x in problem.required if x.workload_id == workload]
            sums = [_amounts(problem, d, x, t) for x in parts]
            required, owned, rented, unserved = (sum(x) for x in zip(*sums, strict=True))
            rows.append(
                specs.DemandRow(
                    quarter=quarter_at(problem, t),
                    demand=workload,
                    unit=unit,
                    required=required,
                    owned=owned,
                    rented=rented,
                    unserved=unserved,
                )
            )
    return specs.DEMAND.table(rows)


def _amounts(
    problem: PlanningProblem, d: Decisions, part: DemandTerms, t: int
) -> tuple[float, float, float, float]:
    """Return asked, owned, rented and unserved amounts of a demand, weighted by its hours."""
    each = part.scenario_unit[1] * part.hours_frac
    owned, rented = served(problem, d, part, t)
    unserved = d.unmet.get((part.id, t), 0.0)
    return part.wanted[t] * each, owned * each, rented * each, unserved * each


def _confidence(problem: PlanningProblem, job: str) -> float:
    return next(j.confidence for j in problem.jobs if j.id == job)


def _by_start(d: Decisions) -> list[RunOption]:
    return sorted(d.whole_runs, key=lambda r: (r.start_month, r.job))
