"""Quarters of an audited plan by hour, from its accounts and the shapes of its sites."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dcplan.answers.plan.replay.given import PRICES
from dcplan.answers.plan.replay.load import Audited, Load, load_of, pump_hours_mw
from dcplan.answers.plan.replay.shapes import YEAR_WEIGHTS, SiteShapes
from dcplan.economics.cash_flow import FlowGroup, Unit
from dcplan.energy.cuts import cut_hours
from dcplan.energy.plants import Plant, mean_mw, planned_out
from dcplan.energy.replay import (
    GRID,
    Part,
    PlantHours,
    Replay,
    SiteQuarter,
    replayed,
    with_other_load,
)
from dcplan.errors import InputError, Place, Problem
from dcplan.inputs.power.weather import hours_of_quarter
from dcplan.planning.audit.energy.battery import bridged_mw, losses_mwh
from dcplan.planning.audit.energy.contracts import signed
from dcplan.planning.audit.onsite import interruptible_use_mw, limit_mw, units_serving
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.energy import OnsiteTerms
from dcplan.planning.problem.terms import SiteTerms
from dcplan.units import (
    HOURS_PER_QUARTER,
    KW_PER_MW,
    QUARTERS_PER_YEAR,
    TYPICAL_YEAR_HOURS,
    quarter_index,
)

Array = npt.NDArray[np.float64]
OVER_FRAC = 1e-9
"""Share of a limit that is rounding."""


@dataclass(frozen=True)
class QuarterHours:
    """One quarter of a site by hour, with what the hours do not change."""

    t: int
    hours: slice
    """Hours of the typical calendar year."""
    replay: Replay
    weights: Array
    usd_per_mwh: Array
    kept_usd: float
    """Energy that neither the grid tariff nor a plant of the site bills, as planned."""
    pump_mw: Array
    """Power of the heat pump on the connection of the site."""
    planned_peak_mw: float
    limit_mw: float
    planned_water_l: float
    water_parts_l: dict[Part, float]
    given_pue: bool

    @property
    def water_l(self) -> float:
        """Water by hour."""
        return self.planned_water_l + sum(self.water_parts_l.values())

    @property
    def peak_mw(self) -> float:
        """Highest load of an hour."""
        return float((self.replay.load_mw + self.pump_mw).max())

    @property
    def over_limit_h(self) -> float:
        """Hours with a load above the limit."""
        over = self.replay.load_mw + self.pump_mw > self.limit_mw * (1.0 + OVER_FRAC)
        return float(self.weights[over].sum())


def quarter_hours(
    plan: Audited, site: SiteTerms, shapes: SiteShapes, t: int, *, as_given: bool
) -> QuarterHours:
    """Return a quarter of a site by hour.

    Raises
    ------
    InputError
        When the prices of a file cannot have the plan's mean.
    """
    problem, books = plan.problem, plan.books
    hours = hours_of_quarter((quarter_index(problem.start) + t) % QUARTERS_PER_YEAR)
    weights = YEAR_WEIGHTS[hours]
    peak, mwh, water = (
        books.site(problem, site.id, t, what) for what in ("facility_mw", "facility_mwh", "water_l")
    )
    lost_mw = sum(losses_mwh(plan.decisions, site, t).values()) / HOURS_PER_QUARTER
    load = load_of(plan, site, shapes, hours, t).more_mw(lost_mw)
    usd = site.usd_per_kwh[t] * KW_PER_MW
    prices = _prices(shapes.prices, usd, hours, site.id, as_given=as_given)
    pump_peak = books.site(problem, site.id, t, "pump_mw")
    uses = interruptible_use_mw(plan.decisions, site, peak + pump_peak, mwh, t)
    grid = site.utility_mw[t] + sum(uses.values())
    open_mw = _called(
        plan, site, load.mw, grid - _cut_mw(plan.decisions, site, uses, load.mw, t), t
    )
    pump = pump_hours_mw(plan, site, shapes.dry_c, hours, open_mw < grid, t)
    shared = np.zeros(pump.size) if site.heat and site.heat.own_grid_connection else pump
    quarter = SiteQuarter(
        weights=weights,
        planned_mw=mwh / HOURS_PER_QUARTER + lost_mw,
        level_mw=load.level_mw,
        load_mw=load.mw,
        planned_usd_per_mwh=usd,
        level_usd_per_mwh=float(np.average(prices, weights=weights)),
        usd_per_mwh=prices,
        kg_co2_per_mwh=site.grid_g_per_kwh,
        grid_mw=np.maximum(grid - shared, 0.0),
        open_mw=np.maximum(open_mw - shared, 0.0),
        plants=(
            *(
                plant_hours(plan, site, x, shapes, hours, t)
                for x in site.onsite
                if x.battery is None and units_serving(plan.decisions, site, x, t)
            ),
            *_contract_hours(plan, site, grid, hours, t),
        ),
        kept_mw=load.idle_mw if site.pauses_idle else None,
    )
    found = with_other_load(replayed(quarter), quarter, pump)
    return QuarterHours(
        t,
        hours,
        found,
        weights,
        prices,
        _kept_usd(plan, site, t),
        shared,
        peak + pump_peak,
        limit_mw(plan.decisions, site, t),
        water,
        _water_parts_l(load, found, weights, water),
        load.given_pue,
    )


def _water_parts_l(
    load: Load, found: Replay, weights: Array, planned_l: float
) -> dict[Part, float]:
    """Return the parts of the difference in water: weather, and work that an interruption moves."""
    work = np.divide(found.load_mw, load.mw, out=np.ones(weights.size), where=load.mw > 0.0)
    steps = [
        planned_l,
        load.level_l_per_h * HOURS_PER_QUARTER,
        float(load.l_per_h @ weights),
        float((load.l_per_h * work) @ weights),
    ]
    parts = (Part.WEATHER, Part.PUE, Part.INTERRUPTIONS)
    return dict(zip(parts, np.diff(steps).tolist(), strict=True))


def _prices(
    given: Array | None, usd_per_mwh: float, hours: slice, site: str, *, as_given: bool
) -> Array:
    """Return the price of each hour: of the file, with the plan's mean unless ``as_given``."""
    weights = YEAR_WEIGHTS[hours]
    if given is None:
        return np.full(weights.size, usd_per_mwh)
    own = given[hours]
    mean = float(np.average(own, weights=weights))
    if as_given:
        return own
    if mean <= 0.0:
        cause = f"the mean of a quarter of the prices of {site} is {mean:,.2f} USD/MWh, not above 0"
        step = "they cannot be scaled to the plan's price: give --prices-as-given"
        raise InputError([Problem("DC062", cause, Place(PRICES), help=step)])
    return np.asarray(own * (usd_per_mwh / mean))


def _cut_mw(d: Decisions, site: SiteTerms, uses: dict[str, float], load_mw: Array, t: int) -> Array:
    """Return interrupted power by hour: a quarter of a tranche's hours, from the highest load on.

    What batteries carry is not cut.
    """
    found = np.zeros(load_mw.size)
    for x in site.tranches:
        cut_h = min(x.hours_per_year / QUARTERS_PER_YEAR, float(load_mw.size))
        cut = cut_hours(cut_h, 1, int(load_mw.argmax()), load_mw.size, load_mw.size)
        found += np.where(cut, max(uses[x.id] - bridged_mw(d, site, x.id, t), 0.0), 0.0)
    return found


def _called(plan: Audited, site: SiteTerms, load_mw: Array, open_mw: Array, t: int) -> Array:
    """Return the power of the grid by hour, with calls of enrolled load from the highest load on."""
    if site.response is None:
        return open_mw
    hours = min(site.response.hours_per_year / QUARTERS_PER_YEAR, float(load_mw.size))
    called = cut_hours(hours, 1, int(load_mw.argmax()), load_mw.size, load_mw.size)
    left = np.maximum(load_mw - plan.decisions.enrolled.get((site.id, t), 0.0), 0.0)
    return np.where(called, np.minimum(open_mw, left), open_mw)


def plant_hours(
    plan: Audited, site: SiteTerms, x: OnsiteTerms, shapes: SiteShapes, hours: slice, t: int
) -> PlantHours:
    """Return the units of a plant in a quarter by hour."""
    d = plan.decisions
    planned = d.onsite_mwh.get((site.id, x.id, t), 0.0)
    units = units_serving(d, site, x, t)
    usd = plan.problem.finance.level(t) * x.usd_per_mwh
    if not x.firm:  # outages are in its profile
        mw = units * x.unit_mw * np.array(x.profile[hours])
        return PlantHours(x.id, planned, usd, x.g_per_kwh, mw, mw, mw, mw, by_weather=True)
    unit = shapes.units[x.id]
    needed = max(units - x.spare_units, 0)
    out = planned_out(units, unit.planned_out_h, shapes.mildest_hour, TYPICAL_YEAR_HOURS)[hours]
    one = x.unit_mw * unit.derated[hours]
    rated, derated, kept = needed * x.unit_mw, needed * one, np.minimum(needed, units - out) * one
    mean = mean_mw(Plant(needed, units, one, out, unit.forced_frac))
    return PlantHours(
        x.id, planned, usd, x.g_per_kwh, np.full(out.size, rated), derated, kept, mean
    )


def _contract_hours(
    plan: Audited, site: SiteTerms, grid_mw: float, hours: slice, t: int
) -> Iterator[PlantHours]:
    """Yield the contracts in force in a quarter by hour, within the power of the grid."""
    for x in site.contracts:
        steps = signed(plan.decisions, site, x, t)
        if steps:
            mw = np.minimum(steps * x.step_mw * np.array(x.profile[hours]), grid_mw)
            used, usd = (
                plan.decisions.contract_mwh.get((site.id, x.id, t), 0.0),
                x.used_usd_per_mwh(t),
            )
            yield PlantHours(*(x.id, used, usd, site.grid_g_per_kwh, mw, mw, mw, mw), by_grid=True)


def _kept_usd(plan: Audited, site: SiteTerms, t: int) -> float:
    """Return the cost of energy of other suppliers, such as contracts, which stays as planned.

    Of a contract through the grid it is the price of all output, less its sale: a used MWh costs the
    rest, which the hours change.
    """
    own = {GRID, *(x.id for x in site.onsite if not x.taken_usd_per_mwh)}
    by_hour = sum(
        x.used_usd_per_mwh(t) * plan.decisions.contract_mwh.get((site.id, x.id, t), 0.0)
        for x in site.contracts
    )
    kept = sum(
        flow.usd
        for flow in plan.books.flows
        if flow.group is FlowGroup.ENERGY
        and flow.site == site.id
        and flow.quarter == t
        and flow.goods is not None
        and flow.goods.unit is Unit.KWH
        and flow.goods.item not in own
    )
    return kept - by_hour
