"""Limits of plants, batteries, tranches and enrolled load of a site, checked for every quarter."""

from __future__ import annotations

import math
from collections.abc import Iterable

from dcplan.planning.audit.energy.battery import bridged_mw, busy_mw
from dcplan.planning.audit.onsite import (
    generated_mwh,
    interruptible_use_mw,
    units_serving,
    weather_mwh,
)
from dcplan.planning.check_ids import CheckId
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.terms import PlanningProblem, SiteTerms
from dcplan.units import HOURS_PER_QUARTER, KW_PER_MW


def limits(
    problem: PlanningProblem,
    d: Decisions,
    site: SiteTerms,
    t: int,
    peak_mw: float,
    facility_mwh: float,
    racks_mwh: float,
) -> Iterable[tuple[CheckId, str, float, float]]:
    """Yield check, place, use and limit for plants and tranches.

    The racks' energy with cooling limits the load to enroll: networks and storage stay on in a call.
    """
    able = weather_mwh(problem, d, site, facility_mwh, t)
    for o in site.onsite:
        units = units_serving(d, site, o, t)
        carried = o.unit_mw * max(units - o.spare_units, 0)
        made = d.onsite_mwh.get((site.id, o.id, t), 0.0)
        where = f"{site.id} {o.id}"
        yield CheckId.ONSITE_UNITS, where, units, o.most_units
        if o.battery is not None:
            continue
        yield CheckId.ONSITE_MWH, where, made, able.get(o.id, carried * HOURS_PER_QUARTER)
        if o.firm:
            yield CheckId.ONSITE_MW, where, d.onsite_mw.get((site.id, o.id, t), 0.0), carried
    if not (site.onsite or site.tranches or site.response):
        return
    uses = interruptible_use_mw(d, site, peak_mw, facility_mwh, t)
    grid = (site.utility_mw[t] + sum(uses.values())) * HOURS_PER_QUARTER
    yield CheckId.EXPORT_MWH, site.id, generated_mwh(d, site, t), facility_mwh
    yield CheckId.GRID_MWH, site.id, facility_mwh - generated_mwh(d, site, t), grid
    yield from _battery_limits(problem, d, site, t, peak_mw, facility_mwh)
    lost = sum(
        x.interrupted_frac * max(uses[x.id] - bridged_mw(d, site, x.id, t), 0.0)
        for x in site.tranches
    )
    if site.response is not None:
        enrolled, mean = d.enrolled.get((site.id, t), 0.0), racks_mwh / HOURS_PER_QUARTER
        most = min(site.response.max_mw, mean, peak_mw - sum(uses.values()))
        yield CheckId.ENROLLED_MW, site.id, enrolled, max(most, 0.0)
        lost += site.response.called_frac * enrolled
    rest = sum(
        d.paused.get((*p.key, t), 0.0)
        * p.rated_kw
        / p.accelerators
        * problem.cooled(p.key).peak_pue
        for p in problem.placements
        if problem.hall(p.hall).site == site.id
    )
    yield CheckId.PAUSED_MW, site.id, lost, rest / KW_PER_MW


def _battery_limits(
    problem: PlanningProblem,
    d: Decisions,
    site: SiteTerms,
    t: int,
    peak_mw: float,
    facility_mwh: float,
) -> Iterable[tuple[CheckId, str, float, float]]:
    """Yield check, place, use and limit of batteries: power, shaved peak, and what they carry."""
    over_mean = 0.0
    for x in site.onsite:
        battery, shaved = x.battery, d.onsite_mw.get((site.id, x.id, t), 0.0)
        if battery is None:
            continue
        carried = [(y.event_h, d.bridged.get((site.id, x.id, y.id, t), 0.0)) for y in site.tranches]
        used = sum(
            battery.mw_per_mw(hours) * mw for hours, mw in [(battery.peak_h, shaved), *carried]
        )
        able = units_serving(d, site, x, t) * x.unit_mw * battery.available_frac
        yield CheckId.BATTERY_MW, f"{site.id} {x.id}", used, able
        over_mean += battery.peak_over_mean * shaved if battery.peak_h or not shaved else math.inf
    if over_mean:
        room = peak_mw - busy_mw(problem, d, site, facility_mwh, t)
        yield CheckId.SHAVED_MW, site.id, over_mean, room
    for y in site.tranches:
        most = y.mw[t] if y.event_h is not None else 0.0
        yield CheckId.BRIDGED_MW, f"{site.id} {y.id}", bridged_mw(d, site, y.id, t), most
