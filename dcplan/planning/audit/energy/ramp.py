"""Battery that runs need under the ramp limit of a site, recomputed from their racks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from dcplan.planning.audit.accounts import overlap_days
from dcplan.planning.audit.check import Check
from dcplan.planning.audit.energy.battery import used_mw
from dcplan.planning.audit.onsite import units_serving
from dcplan.planning.check_ids import CheckId
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.terms import PlanningProblem, SiteTerms
from dcplan.planning.problem.work.terms import RunOption
from dcplan.units import DAYS_PER_MONTH, KW_PER_MW


def ramp_checks(problem: PlanningProblem, d: Decisions) -> Iterable[Check]:
    """Check that the battery of each site with a ramp limit carries the falls of the largest run of a quarter."""
    for site in problem.sites:
        if site.ramp is None:
            continue
        for t in range(problem.quarters):
            need = max((_rated_mw(problem, d, site, x, t) for x in _runs(d, site, t)), default=0.0)
            if need:
                yield Check(CheckId.RAMP_MW, site.id, t, need, _free_mw(d, site, t))


def _runs(d: Decisions, site: SiteTerms, t: int) -> list[list[RunOption]]:
    """Return the parts of each run that a site has in a quarter."""
    found: dict[str, list[RunOption]] = defaultdict(list)
    for i, run in enumerate(d.runs):
        here = not run.on_cloud and run.place.split("/")[0] == site.id
        if here and overlap_days(run.start_month * DAYS_PER_MONTH, run.days, t) > 0.0:
            found[run.part.run if run.part else f"{i}"].append(run)
    return list(found.values())


def _rated_mw(
    problem: PlanningProblem, d: Decisions, site: SiteTerms, parts: list[RunOption], t: int
) -> float:
    """Return the rated power of the battery for a run [MW]."""
    ramp, high, idle = site.ramp, 0.0, 0.0
    for run in parts:
        each = [
            (p.rated_kw / p.accelerators, p.idle_average_kw / p.accelerators)
            for p in problem.placements
            if (p.hall, p.system) == (run.place, run.system) and d.racks(problem, p.key, t)
        ]
        rated, low = max(each, key=lambda x: x[0] - x[1], default=(0.0, 0.0))
        high += run.accelerators * rated / KW_PER_MW
        idle += run.accelerators * low / KW_PER_MW
    if ramp is None:
        return 0.0
    return ramp.rated_mw(high, idle, parts[0].step_time_s)


def _free_mw(d: Decisions, site: SiteTerms, t: int) -> float:
    """Return the rated power of a site's battery that has no other use [MW]."""
    plant = next((x for x in site.onsite if site.ramp and x.id == site.ramp.battery), None)
    if plant is None or plant.battery is None:
        return 0.0
    used = used_mw(d, site, plant, plant.battery, t) / plant.battery.available_frac
    return units_serving(d, site, plant, t) * plant.unit_mw - used
