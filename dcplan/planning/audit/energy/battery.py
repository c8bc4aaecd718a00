"""Batteries and enrolled load, recomputed: losses, carried interruptions, the mean of a busy day."""

from __future__ import annotations

from collections.abc import Iterable

from dcplan.economics.cash_flow import AssetClass, Driver, Flow, FlowGroup, Goods, Sharing, Unit
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.energy import BatteryTerms, OnsiteTerms
from dcplan.planning.problem.terms import PlanningProblem, SiteTerms
from dcplan.units import HOURS_PER_QUARTER, KW_PER_MW, MONTHS_PER_QUARTER, QUARTERS_PER_YEAR


def losses_mwh(d: Decisions, site: SiteTerms, t: int) -> dict[str, float]:
    """Return the losses of each battery in a quarter, from daily shaving and interruptions [MWh]."""
    found = {}
    for x in site.onsite:
        if x.battery is not None:
            events = sum(
                x.battery.event_loss_h(y) * d.bridged.get((site.id, x.id, y.id, t), 0.0)
                for y in site.tranches
            )
            shaved = d.onsite_mw.get((site.id, x.id, t), 0.0)
            found[x.id] = x.battery.shaving_loss_h * shaved + events
    return found


def bridged_mw(d: Decisions, site: SiteTerms, tranche: str, t: int) -> float:
    """Return the power of a tranche that batteries carry through its interruptions [MW]."""
    return sum(mw for (s, _, y, q), mw in d.bridged.items() if (s, y, q) == (site.id, tranche, t))


def busy_mw(
    problem: PlanningProblem, d: Decisions, site: SiteTerms, facility_mwh: float, t: int
) -> float:
    """Return the mean load of a day on which all racks that may train do so [MW]."""
    total = facility_mwh / HOURS_PER_QUARTER
    for key, kw in problem.training_kw_over_idle.items():
        hall, place = problem.hall(key[0]), problem.placed[key]
        racks = d.powered(problem, key, t) if hall.site == site.id else 0
        if racks:
            each = (place.training_kw - place.idle_average_kw) / place.accelerators
            now = each * d.training.get((*key, t), 0.0) + sum(
                place.serving_kw(c) * d.serving.get((c.id, *key, t), 0.0) for c in problem.demands
            )
            pue = problem.cooled(key).pue_at(problem.season(t))
            total += pue / KW_PER_MW * (kw * racks - now)
    return total


def used_mw(
    d: Decisions, site: SiteTerms, plant: OnsiteTerms, battery: BatteryTerms, t: int
) -> float:
    """Return the power that a battery has for the peak that it shaves and the tranches that it carries [MW]."""
    carried = [(y.event_h, d.bridged.get((site.id, plant.id, y.id, t), 0.0)) for y in site.tranches]
    shaved = (battery.peak_h, d.onsite_mw.get((site.id, plant.id, t), 0.0))
    return sum(battery.mw_per_mw(hours) * mw for hours, mw in [shaved, *carried])


def response_flows(problem: PlanningProblem, d: Decisions, site: SiteTerms) -> Iterable[Flow]:
    """Yield the payments of the grid for enrolled load, as a negative cost."""
    if site.response is None:
        return
    for t in range(problem.quarters):
        mw = d.enrolled.get((site.id, t), 0.0)
        usd = -mw * site.response.usd_per_mw_year[t] / QUARTERS_PER_YEAR
        if usd:
            months = Goods("demand-response", mw * KW_PER_MW * MONTHS_PER_QUARTER, Unit.KW_MONTH)
            line, other, use = "demand response", AssetClass.OTHER, Sharing(Driver.ENERGY)
            yield Flow(
                t, FlowGroup.ENERGY, line, usd, site.id, asset=other, shared=use, goods=months
            )
