"""Lead times of plants that set the start of runs: no limit of a size binds there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from dcplan.answers.plan.calendar import quarter_at
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.problem.work.jobs.soonest import first_quarter
from dcplan.planning.problem.work.terms import RunOption
from dcplan.units import MONTHS_PER_QUARTER


@dataclass(frozen=True)
class PlantLead:
    """A run that starts in the quarter in which a plant of its site begins to serve."""

    job: str
    quarter: str
    site: str
    plants: tuple[str, ...]
    quarters: int
    """Lead time of the plants."""
    earlier: str
    """First quarter in which the hardware could serve with no lead time of these plants."""

    @property
    def words(self) -> str:
        """Return the lead time and the run whose start it sets."""
        names = " and ".join(self.plants)
        return f"the lead time of {names} at {self.site} sets the start of {self.job}"

    @property
    def note(self) -> dict[str, str]:
        """Return the same with its quarters, as a warning."""
        several = "s" if self.quarters > 1 else ""
        text = (
            f"{self.job} starts in {self.quarter}: {self.words}. It is {self.quarters} quarter{several}; "
            f"without it the run could start in {self.earlier}"
        )
        return {"code": "lead", "message": text}


def plant_leads(problem: PlanningProblem, d: Decisions) -> list[PlantLead]:
    """Return the runs whose first quarter is that of a plant: a battery for ramps, or own power."""
    found = (x for run in d.runs if not run.on_cloud for x in _of_run(problem, run))
    return list({x.job: x for x in found}.values())


def _of_run(problem: PlanningProblem, run: RunOption) -> Iterator[PlantLead]:
    start = first_quarter(problem, run)
    if run.start_month // MONTHS_PER_QUARTER != start:
        return
    site = problem.site(problem.hall(run.place).site)
    late = tuple(x.id for x in site.onsite if x.lead == start)
    at_once = tuple(replace(x, lead=0) if x.id in late else x for x in site.onsite)
    sites = tuple(replace(s, onsite=at_once) if s.id == site.id else s for s in problem.sites)
    earlier = first_quarter(replace(problem, sites=sites), run)
    if earlier < start:
        yield PlantLead(
            run.job, quarter_at(problem, start), site.id, late, start, quarter_at(problem, earlier)
        )
