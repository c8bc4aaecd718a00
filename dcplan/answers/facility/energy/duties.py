"""Battery of a hall by its duties: load swings of a job, peak shaving, bridging to generators."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from dcplan.answers.facility.energy.year import Array, year_of
from dcplan.answers.facility.resolve import ResolvedFacility
from dcplan.catalog.schema import OnsitePower
from dcplan.energy.duties import Cells, Duty, bridged, rating, shaved, together
from dcplan.errors import InputError, Place, Problem
from dcplan.inputs.cooling import Performance
from dcplan.inputs.log import InputLog
from dcplan.inputs.power.plants import taken
from dcplan.inputs.power.series import read_hours
from dcplan.result import Metric, Table
from dcplan.specs.facility import energy as specs
from dcplan.specs.facility.hall import SWING_EVENTS, SwingEventRow
from dcplan.units import KW_PER_MW

CELLS_OF = "lithium-battery-4h"
"""Catalog row whose round trip and failed modules count."""
MOST_LOAD_MW = 1e5
WITH, WITHOUT = "with", "without"


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
    request, cells = resolved.request, _cells(log)
    swings, rows, notes = _swings(tables, cells)
    with_grid = [swings] if swings is not None else []
    without: list[Duty] = []
    if request.shave_to_mw is not None:
        duty = _shaved(resolved, found, request.shave_to_mw, cells, log)
        with_grid.append(duty)
        rows.append(_row("peak shaving", WITH, duty, cells))
    if request.bridge_s is not None:
        duty = bridged(found.peak_pue * resolved.it_mw, request.bridge_s)
        without.append(duty)
        rows.append(_row("bridging to generators", WITHOUT, duty, cells))
    if not with_grid and not without:
        return {}, {}, notes
    whole = together(with_grid, without)
    rows.append(_row("all duties", None, whole, cells))
    rated = rating(whole, cells)
    metrics = {**specs.BATTERY_MW(rated.mw), **specs.BATTERY_MWH(rated.mwh)}
    return {specs.BATTERY_DUTIES.name: specs.BATTERY_DUTIES.table(rows)}, metrics, notes


def _cells(log: InputLog) -> Cells:
    row = log.catalog.get("onsite", CELLS_OF, OnsitePower)
    depth, end, least = (
        log.parameter("power", f"battery-{name}") for name in ("depth-frac", "end-frac", "least-h")
    )
    works = 1.0 - taken(row, "forced_outage_frac", log)
    return Cells(depth, taken(row, "round_trip_frac", log), end, works, least)


def _swings(
    tables: Mapping[str, Table], cells: Cells
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
        _row(e.event, WITH, duty, cells, counts=mw == duty.mw or mwh == duty.mwh)
        for e, duty in known
    ]
    notes = []
    for event in (e for e in events if e.store_kwh is None):
        rows.append(
            specs.BatteryDutyRow(event.event, WITH, event.store_mw, None, None, None, counts=False)
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
        return shaved(_load_mw(resolved, found, log), limit_mw, cells.round_trip_frac)
    except ValueError as error:
        step = "raise --shave-to-mw, or add a source with --onsite"
        raise InputError(
            [Problem("DC062", str(error), Place("--shave-to-mw"), help=step)]
        ) from error


def _load_mw(resolved: ResolvedFacility, found: Performance, log: InputLog) -> Array:
    file = resolved.request.load_hours
    if file is None:
        return year_of(resolved, found, log).load_mw
    return read_hours(
        Path(file), (0.0, MOST_LOAD_MW), "load in MW", "give the site's power of each hour in MW"
    )


def _row(
    name: str, grid: str | None, duty: Duty, cells: Cells, *, counts: bool = True
) -> specs.BatteryDutyRow:
    rated = rating(duty, cells)
    return specs.BatteryDutyRow(name, grid, duty.mw, duty.mwh, rated.mw, rated.mwh, counts)
