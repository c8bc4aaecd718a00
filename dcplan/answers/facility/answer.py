"""``dcplan facility``: PUE, water, cooling and power of one hall at one site."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path

from dcplan.answers.common.catalog_rows import named
from dcplan.answers.facility.energy.answer import onsite as onsite_power
from dcplan.answers.facility.energy.duties import battery_duties
from dcplan.answers.facility.equipment.electrical import electrical_table
from dcplan.answers.facility.equipment.mechanical import mechanical_table
from dcplan.answers.facility.equipment.rooms import rooms_tables
from dcplan.answers.facility.feasibility import holds
from dcplan.answers.facility.heat_rejection import lead_table, permit, plant_table
from dcplan.answers.facility.hours import hours_table
from dcplan.answers.facility.idle import refuse_idle
from dcplan.answers.facility.indicators import sustainability
from dcplan.answers.facility.metrics import metrics_of
from dcplan.answers.facility.notes import notes_of
from dcplan.answers.facility.options.compare import compared
from dcplan.answers.facility.options.retrofit import retrofitted
from dcplan.answers.facility.power import efficiency_table, oversubscribed
from dcplan.answers.facility.racks import floor_tables
from dcplan.answers.facility.request import FacilityRequest
from dcplan.answers.facility.resolve import ResolvedFacility, resolve
from dcplan.answers.facility.swings import swings
from dcplan.answers.facility.tables import (
    chain_table,
    heat_table,
    quarters_table,
    reported_table,
    warm_water_table,
)
from dcplan.catalog.loader import load as load_catalog
from dcplan.catalog.schema import CoolingOption, System
from dcplan.errors import EXIT_OK, InputError, Place, Problem
from dcplan.inputs.cooling.performance import performance
from dcplan.inputs.cooling.setting import Performance
from dcplan.inputs.heat_paths import tank_notes
from dcplan.inputs.log import InputLog
from dcplan.provenance import Quantity, Status
from dcplan.result import Metric, Result, Table
from dcplan.specs.facility import cooling, energy, hall
from dcplan.specs.sustainability import SUSTAINABILITY
from dcplan.specs.verb import verb
from dcplan.units import KW_PER_MW


@verb(FacilityRequest, "facility")
def facility(request: FacilityRequest) -> Result:
    """Return PUE, WUE, cooling plant and power chain of one hall.

    Raises
    ------
    InputError
        When a name is unknown, an amount is out of range, or the option cannot cool the system.
    """
    resolved, log = _resolved(request)
    refuse_idle(request)
    if request.compare:
        return compared(resolved, log)
    if request.retrofit:
        return retrofitted(resolved, log)
    option = _option(resolved, log)
    resolved = resolved.under(option, log)
    _record(option, resolved, log)
    return _answer(option, resolved, _performance(option, resolved, log), log)


def facility_hours(request: FacilityRequest) -> Table:
    """Return the hours of a year of one hall: temperatures, power by part, and water.

    Raises
    ------
    InputError
        When :func:`facility` refuses the request, or the option is not computed by hour.
    """
    resolved, log = _resolved(request)
    refuse_idle(request)
    option = _option(resolved, log)
    resolved = resolved.under(option, log)
    return hours_table(option, resolved, _performance(option, resolved, log), log)


def _resolved(request: FacilityRequest) -> tuple[ResolvedFacility, InputLog]:
    rules = (request.redundancy.lower(), request.other_redundancy.lower())
    request = replace(request, redundancy=rules[0], other_redundancy=rules[1])
    log = InputLog(load_catalog(tuple(Path(c) for c in request.catalogs)))
    return resolve(request, log), log


def _option(resolved: ResolvedFacility, log: InputLog) -> CoolingOption:
    """Resolve the cooling option of the request, and reject it if it does not fit the hall."""
    name = resolved.request.cooling
    if name is None:
        cause = "--cooling or --compare is required"
        raise InputError(
            [Problem("DC062", cause, Place("facility"), help="dcplan catalog list cooling")]
        )
    option = named(log.catalog, "cooling", name, CoolingOption, "--cooling")
    problems = holds(option, resolved, log)
    if problems:
        raise InputError(
            [Problem("DC061", cause, Place("--cooling"), help=remedy) for cause, remedy in problems]
        )
    return option


def _performance(option: CoolingOption, resolved: ResolvedFacility, log: InputLog) -> Performance:
    """Return the performance of the option at the site."""
    try:
        return performance(option, resolved.setting(option, log), log)
    except LookupError as error:
        raise InputError(
            [Problem("DC060", str(error), Place("facility"), help="--climate-zone or --epw")]
        ) from error


def _answer(
    option: CoolingOption, resolved: ResolvedFacility, found: Performance, log: InputLog
) -> Result:
    """Collect tables, metrics and warnings: those of every answer, and the requested ones."""
    request = resolved.request
    tables = _plain_tables(option, found, resolved, log)
    if request.oversubscription is not None:
        tables["oversubscription"] = oversubscribed(resolved, request.oversubscription, log)
    metrics = metrics_of(option, resolved, found, log)
    cdus = metrics.get(cooling.CDU_COUNT.key)
    placed, more = floor_tables(option, resolved, int(cdus.value or 0) if cdus else 0, log)
    tables, metrics = tables | placed, metrics | more
    tables |= _schedules(option, found, resolved, metrics, log)
    areas, more = rooms_tables(tables, metrics, log)
    tables, metrics = tables | areas, metrics | more
    warnings = notes_of(option, resolved, found, log)
    existing = int(metrics[hall.FLOOR_ACCELERATORS.key].value or 0) if placed else 0
    warnings += _empty(resolved, placed, existing)
    sold = log.catalog.find("systems", resolved.system.id, System) if resolved.system else None
    warnings += [{"code": "tank", "message": note} for note in tank_notes(option, sold)]
    if request.water_permit_m3_per_day is not None:
        day = metrics.get(cooling.PEAK_DAY_WATER.key)
        more, words = permit(resolved, request.water_permit_m3_per_day, day)
        metrics |= more
        warnings.append({"code": "water", "message": words})
    if request.onsite or request.utility_mw is not None:
        placed, more, said = _onsite(resolved, found, log)
        tables, metrics, warnings = tables | placed, metrics | more, warnings + said
    if request.job is not None:
        placed, more = swings(resolved, found, request.job, existing, log)
        tables, metrics = tables | placed, metrics | more
    placed, more, notes = battery_duties(resolved, found, tables, log)
    tables, metrics = tables | placed, metrics | more
    warnings += [{"code": "battery", "message": note} for note in notes]
    tables[SUSTAINABILITY.name] = sustainability(option, resolved, metrics, log)
    return Result(
        "facility",
        "ok",
        EXIT_OK,
        _headline(option, resolved, found, resolved.setting(option, log).supply_c),
        metrics=metrics,
        tables=tables,
        inputs=[asdict(row) for _, row in sorted(log.rows.items())],
        warnings=warnings,
    )


def _schedules(
    option: CoolingOption,
    found: Performance,
    resolved: ResolvedFacility,
    metrics: Mapping[str, Metric],
    log: InputLog,
) -> dict[str, Table]:
    """Return the equipment schedules; rows of racks and distribution units are those of the metrics."""
    rows, cdus = (
        int(metrics[key].value or 0) if key in metrics else 0
        for key in (hall.FLOOR_ROWS.key, cooling.CDU_COUNT.key)
    )
    return {
        "electrical_schedule": electrical_table(found, resolved, rows, log),
        "mechanical_schedule": mechanical_table(option, found, resolved, cdus, log),
    }


def _plain_tables(
    option: CoolingOption, found: Performance, resolved: ResolvedFacility, log: InputLog
) -> dict[str, Table]:
    """Return the tables of every answer, and lead times for a date of energization."""
    tables = {
        "heat": heat_table(option, resolved),
        "power_blocks": chain_table(found, resolved, log),
        "plant": plant_table(option, found, resolved, log),
        "power_chain": efficiency_table(resolved.request.ups, log),
        "reported_sites": reported_table(resolved, log),
    }
    if resolved.request.energization_date is not None:
        tables["lead_times"] = lead_table(resolved.request.energization_date, log)
    if found.modeled:
        tables["quarters"] = quarters_table(found)
        tables["warm_water"] = warm_water_table(option, resolved, log)
    return tables


def _empty(
    resolved: ResolvedFacility, placed: Mapping[str, Table], existing: int
) -> list[dict[str, str]]:
    if resolved.system is None or not placed or existing:
        return []
    words = (
        f"no {resolved.system.id} rack fits in {resolved.it_mw:g} MW after network and storage, "
        "so the rows have no compute racks"
    )
    return [{"code": "floor", "message": words}]


def _onsite(
    resolved: ResolvedFacility, found: Performance, log: InputLog
) -> tuple[dict[str, Table], dict[str, Metric], list[dict[str, str]]]:
    """Return the power sources of the hall; the year's carbon is theirs."""
    placed, metrics, notes = onsite_power(resolved, found, log)
    carbon = metrics[energy.ONSITE_CARBON.key].value
    if carbon is not None:
        label = "Operational CO2 of the year's energy, from the grid and from plants on site"
        metrics |= cooling.CARBON(carbon, label=label)
    return placed, metrics, [{"code": "onsite", "message": note} for note in notes]


def _record(option: CoolingOption, resolved: ResolvedFacility, log: InputLog) -> None:
    """Log values of catalog rows that no formula reads directly."""
    system, weather = resolved.system, resolved.where.climate
    if system and system.liquid_frac:
        log.take(f"systems.{system.id}.liquid_frac", system.liquid_frac)
    if option.room_air_frac:
        used = Quantity(value=resolved.air_frac(option), status=Status.DERIVED)
        own = used.value == option.room_air_frac.value
        key = f"cooling.{option.id}.room_air_frac" if own else "facility.room_air_frac"
        log.take(key, option.room_air_frac if own else used)
    for name in ("air_share_frac", "liquid_share_frac"):
        log.take(f"cooling.{option.id}.{name}", getattr(option, name))
    if weather:
        log.text("facility.weather", weather.place, Status.CATALOG)
        for name in ("design_dry_c", "design_wet_c"):
            log.take(
                f"facility.{name}", Quantity(value=getattr(weather, name), status=Status.DERIVED)
            )


def _headline(
    option: CoolingOption, resolved: ResolvedFacility, found: Performance, supply_c: float | None
) -> str:
    water = f", WUE {found.wue_l_per_kwh.value:.2f} L/kWh" if found.wue_l_per_kwh else ""
    water += (
        (f", facility water at {supply_c:g} °C") if found.modeled and supply_c is not None else ""
    )
    if option.model == "dry" and found.peak_chilled:
        heat_mw = found.peak_chilled * resolved.it_mw
        heat = f"{heat_mw:,.1f} MW" if heat_mw >= 1.0 else f"{heat_mw * KW_PER_MW:,.0f} kW"
        water += f", trim chillers for {heat} of heat"
    interval = "P5 to P95" if found.modeled else "catalog range"
    return (
        f"{option.id} at {resolved.where.name} with {resolved.it_mw:,g} MW of IT: annual PUE "
        f"{found.pue.value:.3f} ({interval} {found.pue.low:.3f} to {found.pue.high:.3f}), PUE "
        f"{found.peak_pue:.3f} on the design day{water}"
    )
