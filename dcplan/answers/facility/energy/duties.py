"""Battery of a hall by its duties: load swings of a job, peak shaving, bridging to generators."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dcplan.answers.facility.energy.year import year_of
from dcplan.answers.facility.resolve import ResolvedFacility
from dcplan.catalog.schema import OnsitePower, Parameter
from dcplan.energy.duties import Cells, Duty, Price, bridged, rating, shaved, split, together
from dcplan.errors import InputError, Place, Problem
from dcplan.inputs.cooling.setting import Performance
from dcplan.inputs.log import InputLog
from dcplan.inputs.power.cells import cells_of
from dcplan.inputs.power.plants import taken
from dcplan.result import Metric, Table
from dcplan.specs.facility import energy as specs
from dcplan.specs.facility.hall import SWING_EVENTS, SwingEventRow
from dcplan.units import KW_PER_MW

CELLS_OF = "lithium-battery-4h"
"""Catalog row whose round trip, failed modules and price count."""
POWER_SHARE = "battery-power-price-frac"
WITH, WITHOUT = "with", "without"


@dataclass(frozen=True)
class Kind:
    """The battery of a hall: what its cells give, and its price at the value and at all bounds."""

    cells: Cells
    price: Price
    bounds: tuple[Price, ...]

    def rated(self, duty: Duty) -> Duty:
        """Return the rating that a new battery needs for a duty."""
        return rating(duty, self.cells)


def battery_duties(
    resolved: ResolvedFacility, found: Performance, tables: Mapping[str, Table], log: InputLog
) -> tuple[dict[str, Table], dict[str, Metric], list[str]]:
    """Return the battery that the duties of the request need, duty by duty and together.

    The largest event of a job counts as its swings. A duty without a finite energy has a note.

    Raises
    ------
    InputError
        When the series of the load cannot be read, or no battery keeps its limit.
    """
    request, kind = resolved.request, _kind(log)
    swings, rows, notes = _swings(tables, kind)
    with_grid = [swings] if swings is not None else []
    without: list[Duty] = []
    if request.shave_to_mw is not None:
        duty = _shaved(resolved, found, request.shave_to_mw, kind.cells, log)
        with_grid.append(duty)
        rows.append(_row("peak shaving", WITH, duty, kind))
        if not duty.mw:
            notes.append(
                f"no hour of the load is above {request.shave_to_mw:g} MW: peak shaving needs no battery"
            )
    if request.bridge_s is not None:
        duty = bridged(found.peak_pue * resolved.it_mw, request.bridge_s)
        without.append(duty)
        rows.append(_row("bridging to generators", WITHOUT, duty, kind))
    if not with_grid and not without:
        return {}, {}, notes
    whole = together(with_grid, without)
    rows.append(_row("all duties", None, whole, kind))
    rated = kind.rated(whole)
    usd = [price.usd(rated) for price in kind.bounds]
    metrics = {
        **specs.BATTERY_MW(rated.mw),
        **specs.BATTERY_MWH(rated.mwh),
        **specs.BATTERY_USD(kind.price.usd(rated), low=min(usd), high=max(usd)),
    }
    return {specs.BATTERY_DUTIES.name: specs.BATTERY_DUTIES.table(rows)}, metrics, notes


def _kind(log: InputLog) -> Kind:
    row = log.catalog.get("onsite", CELLS_OF, OnsitePower)
    cells = cells_of(row, log)
    hours = taken(row, "hours", log)
    share = log.parameter("power", POWER_SHARE)
    price = split(taken(row, "capex_usd_per_kw", log), hours, share)
    shares = log.catalog.get("power", POWER_SHARE, Parameter).value.bounds
    bounds = tuple(split(usd, hours, s) for usd in row.capex_usd_per_kw.bounds for s in shares)
    return Kind(cells, price, bounds)


def _swings(
    tables: Mapping[str, Table], kind: Kind
) -> tuple[Duty | None, list[specs.BatteryDutyRow], list[str]]:
    """Return the duty of the largest events of a job, its rows, and what no battery does."""
    events: list[SwingEventRow] = (
        list(SWING_EVENTS.rows(tables[SWING_EVENTS.name])) if SWING_EVENTS.name in tables else []
    )
    if not events:
        return None, [], []
    known = [
        (e, Duty(e.store_mw, e.store_kwh / KW_PER_MW)) for e in events if e.store_kwh is not None
    ]
    mw, mwh = max(d.mw for _, d in known), max(d.mwh for _, d in known)
    rows = [
        _row(e.event, WITH, duty, kind, counts=mw == duty.mw or mwh == duty.mwh)
        for e, duty in known
    ]
    notes = []
    for event in (e for e in events if e.store_kwh is None):
        rows.append(
            specs.BatteryDutyRow(
                event.event, WITH, event.store_mw, None, None, None, None, counts=False
            )
        )
        notes.append(
            f"no battery gives a flat load at the {event.event}: set --ramp-limit-mw-per-s; the "
            "battery for all duties leaves this event out"
        )
    return Duty(mw, mwh), rows, notes


def _shaved(
    resolved: ResolvedFacility, found: Performance, limit_mw: float, cells: Cells, log: InputLog
) -> Duty:
    """Return the duty that keeps the grid at its limit over the load of a file, or of the hall."""
    try:
        return shaved(year_of(resolved, found, log).load_mw, limit_mw, cells.round_trip_frac)
    except ValueError as error:
        step = "raise --shave-to-mw, or add a source with --onsite"
        raise InputError(
            [Problem("DC062", str(error), Place("--shave-to-mw"), help=step)]
        ) from error


def _row(
    name: str, grid: str | None, duty: Duty, kind: Kind, *, counts: bool = True
) -> specs.BatteryDutyRow:
    rated = kind.rated(duty)
    usd = kind.price.usd(rated)
    return specs.BatteryDutyRow(name, grid, duty.mw, duty.mwh, rated.mw, rated.mwh, usd, counts)
