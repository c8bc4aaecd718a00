"""Load of a site of an audited plan by hour: its racks, what of it does not pause, and its heat pump."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from dcplan.answers.plan.replay.shapes import YEAR_WEIGHTS, SiteShapes
from dcplan.planning.audit.books.books import Accounts
from dcplan.planning.audit.energy.utilities import heat_sold
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.terms import PlanningProblem, SiteTerms
from dcplan.units import HOURS_PER_QUARTER, KW_PER_MW

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Audited:
    """An audited plan."""

    problem: PlanningProblem
    decisions: Decisions
    books: Accounts


@dataclass(frozen=True)
class Load:
    """Load and water of the quarter's IT power, before anything pauses."""

    mw: Array
    level_mw: float
    """With the mean PUE of the hours of the year, and the plan's share of the season."""
    l_per_h: Array
    level_l_per_h: float
    """With the mean WUE of the hours of the year, and the plan's share of the season."""
    given_pue: bool
    """Whether a PUE of the scenario is the same in all seasons of the plan, and not in its hours."""
    idle_mw: Array
    """Load of the racks at idle power, with network, storage and losses of batteries."""

    def more_mw(self, mw: float) -> Load:
        """Return the load with constant power more, such as losses of batteries."""
        idle = self.idle_mw + mw
        return replace(self, mw=self.mw + mw, level_mw=self.level_mw + mw, idle_mw=idle)


def load_of(plan: Audited, site: SiteTerms, shapes: SiteShapes, hours: slice, t: int) -> Load:
    """Return load and water by hour."""
    size, season = YEAR_WEIGHTS[hours].size, plan.problem.season(t)
    mw, idle, water = np.zeros(size), np.zeros(size), np.zeros(size)
    level, level_water, given = 0.0, 0.0, False
    for hall in (h for h in plan.problem.halls if h.site == site.id):
        for key, mwh in plan.books.halls[hall.id, t].it_mwh_cooled.items():
            if mwh <= 0.0:
                continue
            shape, it_mw = shapes.halls[hall.id, *key], mwh / HOURS_PER_QUARTER
            mw += it_mw * shape.pue[hours]
            idle += (_idle_mw(plan, hall.id, *key, t) if key[1] else it_mw) * shape.pue[hours]
            of_year = plan.problem.cooled((hall.id, *key))
            level += it_mw * shape.mean_pue * of_year.pue_at(season) / of_year.pue
            given |= shape.by_hour and not of_year.pue_by_season
            water += it_mw * KW_PER_MW * shape.wue_l_per_kwh[hours]
            level_water += (
                it_mw * KW_PER_MW * shape.mean_wue_l_per_kwh * of_year.season_share(season)
            )
    return Load(mw, level, water, level_water, given, idle)


def _idle_mw(plan: Audited, hall: str, cooling: str, system: str, t: int) -> float:
    """Return the idle IT power of the racks of a system that are on, under a cooling option [MW]."""
    return sum(
        plan.decisions.powered(plan.problem, p.key, t) * p.idle_average_kw / KW_PER_MW
        for p in plan.problem.placements
        if (p.hall, p.cooling, p.system) == (hall, cooling, system)
    )


def pump_hours_mw(
    plan: Audited,
    site: SiteTerms,
    dry_c: Array | None,
    hours: slice,
    cut: npt.NDArray[np.bool_],
    t: int,
) -> Array:
    """Return the power of the heat pump by hour: the buyer takes heat in the coldest hours of the quarter.

    Hours in which the grid cuts power come last. Without weather all other hours are equal, and
    the first ones count.
    """
    weights = YEAR_WEIGHTS[hours]
    sold = heat_sold(site, plan.books.heat_sources(plan.problem, site.id)[t], t)
    if site.heat is None or not sold.electricity_mwh:
        return np.zeros(weights.size)
    cold = np.zeros(weights.size) if dry_c is None else dry_c[hours]
    order = np.lexsort((cold, cut))
    left_h = site.heat.hours_frac[t] * HOURS_PER_QUARTER
    before_h = np.cumsum(weights[order]) - weights[order]
    share = np.empty(weights.size)
    share[order] = np.clip((left_h - before_h) / weights[order], 0.0, 1.0)
    return np.asarray(share * (sold.electricity_mwh / left_h))
