"""Balance of asked against available, by quarter and workload, of an infeasible scenario."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dcplan.answers.plan.calendar import quarter_at
from dcplan.planning.decision_specs import RUN
from dcplan.planning.explain.shortages import JOB_RUNS, Relaxed
from dcplan.planning.keys import Key
from dcplan.planning.limits import DEMAND_MET
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.problem.work.terms import DemandTerms, RunOption
from dcplan.specs.no_plan import BalanceRow
from dcplan.units import KW_PER_MW, MONTHS_PER_QUARTER

FEW = 1e-6
"""Share below which something counts as not served."""
ACCELERATORS, RUNS = "accelerators", "run"


def balance_rows(
    problem: PlanningProblem, part: PlanningProblem, served: Relaxed
) -> list[BalanceRow]:
    """Return the balance of every quarter, in which a workload asks for something.

    Parameters
    ----------
    problem : PlanningProblem
        The infeasible problem.
    part : PlanningProblem
        The same without the jobs and demands that nothing can serve.
    served : Relaxed
        What the limits allow in the part.
    """
    rows = [*_jobs(problem, part, served), *_demands(problem, part, served)]
    return [row for _, row in sorted(rows, key=lambda pair: pair[0])]


def _jobs(
    problem: PlanningProblem, part: PlanningProblem, served: Relaxed
) -> Iterator[tuple[int, BalanceRow]]:
    able = {job.id for job in part.jobs}
    for job in problem.jobs:
        if job.id not in able:
            t = min(job.first_month // MONTHS_PER_QUARTER, problem.quarters - 1)
            yield t, _row(problem, t, job.id, (1.0, 0.0), RUNS, 0.0)
            continue
        share = min(max(1.0 - served.lacks.get(Key(JOB_RUNS, (job.id,)), 0.0), 0.0), 1.0)
        option = _option(part, job.id, served)
        count = option.whole.accelerators
        mw = count * _mw_each(part, option)
        for t in _quarters_of(option, problem.quarters):
            amounts = (float(count), share * count)
            yield t, _row(problem, t, job.id, amounts, ACCELERATORS, share * mw)


def _option(problem: PlanningProblem, job: str, served: Relaxed) -> RunOption:
    """Return the run option that the relaxation uses, or the one with the fewest accelerators."""
    mine = [(i, c) for i, c in enumerate(problem.run_options) if c.job == job and c.leads]
    used = [(served.values.get(Key(RUN.variable, (i,)), 0.0), c) for i, c in mine]
    most, option = max(used, key=lambda pair: pair[0])
    return option if most > FEW else min((c for _, c in mine), key=lambda c: c.accelerators)


def _quarters_of(option: RunOption, quarters: int) -> range:
    last = option.start_month + option.months - 1
    return range(
        option.start_month // MONTHS_PER_QUARTER, min(last // MONTHS_PER_QUARTER + 1, quarters)
    )


def _mw_each(problem: PlanningProblem, option: RunOption) -> float:
    """Return the facility power of one accelerator of a run; 0 for a rented one [MW]."""
    places = [(option.place, p.cooling, option.system) for p in problem.placements]
    return min((_place_mw(problem, key) for key in places if _known(problem, key)), default=0.0)


def _known(problem: PlanningProblem, key: tuple[str, str, str]) -> bool:
    return any(p.key == key for p in problem.placements)


def _place_mw(problem: PlanningProblem, key: tuple[str, ...]) -> float:
    """Return the facility power of one accelerator on the design day [MW]."""
    place = next(p for p in problem.placements if p.key == key)
    pue = problem.cooled(place.key).peak_pue
    return place.rated_kw * pue / place.accelerators / KW_PER_MW


def _demands(
    problem: PlanningProblem, part: PlanningProblem, served: Relaxed
) -> Iterator[tuple[int, BalanceRow]]:
    able = {x.id for x in part.required}
    loads = dict.fromkeys(x.load_id for x in problem.required if x.unmet_usd is None)
    for load in loads:
        mine = [x for x in problem.required if x.load_id == load and x.unmet_usd is None]
        for t in range(problem.quarters):
            wanted = [x for x in mine if x.wanted[t] > 0]
            if not wanted:
                continue
            worst = max(wanted, key=lambda x: (_missing(x, t, served, able), x.wanted[t]))
            lost = _missing(worst, t, served, able)
            field, size = worst.scenario_unit
            asked = worst.wanted[t] * size
            mw = _served_mw(part, worst, t, served) if worst.id in able else 0.0
            yield t, _row(problem, t, load, (asked, (1.0 - lost) * asked), field, mw)


def _missing(demand: DemandTerms, t: int, served: Relaxed, able: set[str]) -> float:
    """Return the share of a demand that is not served."""
    if demand.id not in able:
        return 1.0
    lack = served.lacks.get(Key(DEMAND_MET.row, (demand.id, t)), 0.0)
    return min(lack / demand.wanted[t], 1.0)


def _served_mw(problem: PlanningProblem, demand: DemandTerms, t: int, served: Relaxed) -> float:
    """Return the facility power of the owned accelerators that serve a demand [MW]."""
    parts = {x.id for x in problem.demand_parts(demand.id)}
    return sum(
        value * _place_mw(problem, key.ids[1:4])
        for key, value in served.values.items()
        if key.name == "serving" and key.ids[0] in parts and key.ids[-1] == t
    )


def _row(
    problem: PlanningProblem,
    t: int,
    workload: str,
    amounts: Sequence[float],
    unit: str,
    available_mw: float,
) -> BalanceRow:
    asked, available = amounts
    some = available > FEW * asked
    return BalanceRow(
        quarter_at(problem, t),
        workload,
        asked,
        available,
        max(asked - available, 0.0),
        unit,
        available_mw * asked / available if some else None,
        available_mw if some else None,
    )
