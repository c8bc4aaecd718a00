"""Checks of work while the grid interrupts power: paused runs, and load that does not pause."""

from __future__ import annotations

from collections.abc import Iterable

from dcplan.planning.audit.accounts import overlap_days
from dcplan.planning.audit.check import Check
from dcplan.planning.audit.energy.battery import bridged_mw
from dcplan.planning.audit.onsite import plants_mw
from dcplan.planning.check_ids import CheckId
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.terms import Placement, PlanningProblem, SiteTerms
from dcplan.units import DAYS_PER_MONTH, DAYS_PER_QUARTER, KW_PER_MW, MONTHS_PER_QUARTER


def interruption_checks(
    problem: PlanningProblem, d: Decisions, racks_mw: dict[tuple[str, int], float]
) -> Iterable[Check]:
    """Check that runs which pause do so, and that other work has power in interruptions and calls.

    Parameters
    ----------
    problem : PlanningProblem
        The problem.
    d : Decisions
        Its plan.
    racks_mw : dict
        Rated power of the racks with cooling, by site and quarter. [MW]
    """
    for t in range(problem.quarters):
        yield from _paused(problem, d, t)
        for site in problem.sites:
            if not any(x.mw[t] for x in site.tranches) and site.response is None:
                continue
            load = max(
                always_on_mw(problem, d, site, month, period)
                for month in range(t * MONTHS_PER_QUARTER, (t + 1) * MONTHS_PER_QUARTER)
                for period in range(len(problem.periods))
            )
            if any(x.mw[t] for x in site.tranches):
                carried = sum(bridged_mw(d, site, x.id, t) for x in site.tranches)
                firm = site.utility_mw[t] + plants_mw(d, site, t) + carried
                yield Check(CheckId.FIRM_MW, site.id, t, load, firm)
            if site.response is not None:
                left = racks_mw[site.id, t] - d.enrolled.get((site.id, t), 0.0)
                yield Check(CheckId.CALLED_MW, site.id, t, load, left)


def _paused(problem: PlanningProblem, d: Decisions, t: int) -> Iterable[Check]:
    """Yield the accelerators that pause with their runs, and those that pause in the plan."""
    for hall, system in sorted({(r.place, r.system) for r in d.runs if r.cuts.hours_per_year}):
        need = sum(
            r.accelerators
            * (1.0 - r.training_frac)
            * overlap_days(r.start_month * DAYS_PER_MONTH, r.days, t)
            / DAYS_PER_QUARTER
            for r in d.runs
            if (r.place, r.system) == (hall, system)
        )
        got = sum(
            d.paused.get((*p.key, t), 0.0)
            for p in problem.placements
            if (p.hall, p.system) == (hall, system)
        )
        yield Check(CheckId.RUNS_PAUSE, f"{hall} {system}", t, need, got)


def always_on_mw(
    problem: PlanningProblem, d: Decisions, site: SiteTerms, month: int, period: int
) -> float:
    """Return the rated load of a site that does not pause, in a month and a period of the week [MW].

    It is that of runs which keep power, and of services.
    """
    t = month // MONTHS_PER_QUARTER
    places = [p for p in problem.placements if problem.hall(p.hall).site == site.id]
    halls = {p.hall for p in places}
    runs = sum(
        r.accelerators * r.kept_frac * accelerator_mw(problem, d, r.place, r.system, t)
        for r in d.runs
        if r.place in halls and r.start_month <= month < r.start_month + r.months
    )
    services = sum(
        d.reserved(x, p.key, t) * _each_mw(problem, p)
        for x in problem.demands
        if x.always_on and x.active(period)
        for p in places
    )
    return runs + services


def accelerator_mw(problem: PlanningProblem, d: Decisions, hall: str, system: str, t: int) -> float:
    """Return the rated power of one accelerator with its cooling on the design day [MW].

    A hall with several cooling options counts with the largest peak PUE of those in use.
    """
    return max(
        (
            _each_mw(problem, p)
            for p in problem.placements
            if (p.hall, p.system) == (hall, system) and d.racks(problem, p.key, t)
        ),
        default=0.0,
    )


def _each_mw(problem: PlanningProblem, place: Placement) -> float:
    peak_pue = problem.cooled(place.key).peak_pue
    return place.rated_kw / place.accelerators * peak_pue / KW_PER_MW
