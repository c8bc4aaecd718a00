"""Sizes of on-site sources at least annual cost, checked by hour."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dcplan.answers.facility.energy.plants import annual_usd, built, combined, outdoors, stored
from dcplan.answers.facility.energy.supply import BATTERY, Asked, Supply, supply_of
from dcplan.answers.facility.energy.year import Year
from dcplan.answers.facility.resolve import ResolvedFacility
from dcplan.catalog.schema import OnsitePower
from dcplan.energy.dispatch import Dispatch, dispatch
from dcplan.energy.sizing import Sizes, size_sources
from dcplan.energy.sizing_program import Option, Storage
from dcplan.errors import InputError, Place, Problem
from dcplan.inputs.energy import running_usd_per_mwh
from dcplan.inputs.log import InputLog
from dcplan.inputs.power.plants import derating

BLOCK_H = 2
"""Hours of one step of the sizing; the sizes are then dispatched by hour."""
MOST_ROUNDS = 5
TOLERANCE = 1e-6
"""Served share that may lack by hour."""
OVER = 1.1
"""Part of a lacking share by which the next round serves more."""
MARGIN_STEP = 0.01
"""Part of the load by which the next round has more."""
LEAST_MW = 1e-3
"""A smaller size is none."""


@dataclass(frozen=True)
class Sized:
    """Chosen ratings, the sources that are built, and their dispatch by hour."""

    rating_mw: dict[str, float]
    supply: Supply
    result: Dispatch
    served_frac: float
    """Served share of the load by hour."""
    margin_frac: float
    """Load in the sizing over the load of the hours, less 1."""


def sized(asked: Asked, resolved: ResolvedFacility, year: Year, log: InputLog) -> Sized:
    """Choose the sizes, build whole units of them, and dispatch the hours.

    A step of the sizing averages two hours. Where the hours are served less than asked, the sizes
    are chosen again for a larger share, or, at the whole load, for a load that is 1 % larger.

    Raises
    ------
    InputError
        When no sizes up to the powers of the request serve the share.
    """
    asked_frac = resolved.request.served_frac
    share, margin = asked_frac, 0.0
    load = float(year.load_mw @ year.weights)
    found: Sized | None = None
    for _ in range(MOST_ROUNDS):
        try:
            sizes = _sizes(asked, resolved, year, (share, 1.0 + margin), log)
        except InputError:
            if found is None:
                raise
            return found
        rating = _ratings(asked, sizes)
        mw = {name: x * _design(asked, name, year, resolved, log) for name, x in rating.items()}
        supply = supply_of(asked, mw, resolved, year, log)
        battery = combined({name: b for name, (_, _, b) in supply.batteries.items()})
        result = dispatch(year.load_mw, supply.sources, battery, hours=year.weights)
        served = 1.0 - result.short_mwh / load
        found = Sized(rating, supply, result, served, margin)
        lacking = asked_frac - served
        if lacking <= TOLERANCE:
            return found
        if share + lacking < 1.0:
            share += lacking * OVER
        else:
            share, margin = asked_frac, margin + MARGIN_STEP
    assert found is not None  # noqa: S101 - the first round sets it, or raises
    return found


def _ratings(asked: Asked, sizes: Sizes) -> dict[str, float]:
    found = {name: mw for name, mw in sizes.mw.items() if name in asked.rows}
    battery = _battery(asked)
    if battery is not None:
        found[battery.id] = sizes.battery_mw
    return {name: found[name] for name in asked.rows if found[name] >= LEAST_MW}


def _design(
    asked: Asked, name: str, year: Year, resolved: ResolvedFacility, log: InputLog
) -> float:
    """Return the power on the design day over the rating; 1 where a source is built by its rating."""
    row = asked.rows[name]
    if row.kind == BATTERY or name in asked.profiles:
        return 1.0
    return derating(row, outdoors(year, resolved), log)[1]


def _battery(asked: Asked) -> OnsitePower | None:
    found = [row for row in asked.rows.values() if row.kind == BATTERY]
    if len(found) > 1:
        cause = (
            f"the sizing knows one battery, and --onsite has {' and '.join(r.id for r in found)}"
        )
        raise InputError([Problem("DC062", cause, Place("--size-onsite"), help="keep one of them")])
    return found[0] if found else None


def _sizes(
    asked: Asked, resolved: ResolvedFacility, year: Year, served: tuple[float, float], log: InputLog
) -> Sizes:
    """Return sizes at least cost for a served share and a multiple of the load."""
    request = resolved.request
    battery = _battery(asked)
    options = [
        _option(row, asked, year, resolved, log)
        for row in asked.rows.values()
        if row.kind != BATTERY
    ]
    if asked.grid is not None:
        on = np.where(year.cut, 0.0, 1.0)
        limit, price = asked.utility_mw, asked.grid.usd_per_mwh
        options.append(Option(asked.grid.name, on, 0.0, price, limit, limit))
    storage = None
    if battery is not None:
        one = stored(battery, 1.0, log)
        storage = Storage(
            _yearly(battery, log) / one.mw,
            0.0,
            one.round_trip_frac,
            asked.mw[battery.id] * one.mw,
            one.mwh / one.mw,
        )
    try:
        return _unfailed(
            size_sources(
                year.load_mw * served[1],
                options,
                storage,
                min(served[0], 1.0),
                request.reserve_frac,
                BLOCK_H,
            ),
            stored(battery, 1.0, log).mw if battery is not None else 1.0,
        )
    except ValueError as error:
        step = "raise the MW in --onsite, or lower --served-frac or --reserve-frac"
        raise InputError(
            [Problem("DC062", str(error), Place("--size-onsite"), help=step)]
        ) from error


def _unfailed(sizes: Sizes, works_frac: float) -> Sizes:
    """Return the sizes with the battery's rating, of which a share has failed."""
    return Sizes(
        sizes.mw,
        sizes.battery_mw / works_frac,
        sizes.battery_mwh / works_frac,
        sizes.usd_per_year,
        sizes.served_frac,
    )


def _option(
    row: OnsitePower, asked: Asked, year: Year, resolved: ResolvedFacility, log: InputLog
) -> Option:
    yearly, price = _yearly(row, log), running_usd_per_mwh(row, log)
    if row.id in asked.profiles:
        shape = asked.profiles[row.id]
        yearly += price * float(shape.sum())
        return Option(row.id, shape, yearly, 0.0, asked.mw[row.id], dispatched=False)
    most = built(row, asked.mw[row.id], year, resolved, log)
    rating = most.mw if most.plant is None else most.mw * most.plant.needed / most.plant.units
    limit = asked.mw[row.id] / max(most.design_mw / rating, LEAST_MW)
    return Option(row.id, np.asarray(most.source.mw) / rating, yearly, price, limit)


def _yearly(row: OnsitePower, log: InputLog) -> float:
    """Return annual capital and fixed cost of one MW [USD]."""
    found = annual_usd(row, 1.0, log)
    if found is None:
        cause = f"{row.id} has no life_years in the catalog, so its capital has no annual cost"
        raise InputError(
            [Problem("DC062", cause, Place("--size-onsite"), help="add it in an overlay")]
        )
    return found
