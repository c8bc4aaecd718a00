"""Immersion tanks of a hall: count, fluid, conversion of servers, ride-through, notes."""

from __future__ import annotations

from dcplan.answers.facility.resolve import ResolvedFacility
from dcplan.catalog.schema import CoolingOption, System
from dcplan.catalog.schema.place import Tank
from dcplan.facility.immersion import fluid_usd, tank_ride_through_s
from dcplan.inputs.heat_paths import conversion, is_converted
from dcplan.inputs.log import InputLog
from dcplan.result import Metric
from dcplan.specs.facility import tanks as specs


def tank_metrics(
    option: CoolingOption, resolved: ResolvedFacility, tanks: int, nodes: int, log: InputLog
) -> dict[str, Metric]:
    """Return the metrics of the tanks; nothing for an option without them.

    ``resolved.system`` is the server as it runs in the tank, ``nodes`` is the number of servers
    in one tank.
    """
    tank, system, key = option.tank, resolved.system, f"cooling.{option.id}.tank"
    if tank is None or system is None or system.rated_kw is None:
        return {}
    liters = log.take(f"{key}.fluid_l", tank.fluid_l)
    price = log.take(f"{key}.fluid_usd_per_l", tank.fluid_usd_per_l)
    low, high = (tanks * x for x in tank.fluid_l.bounds)
    node_kw = system.rated_kw.value
    metrics = {
        **specs.TANKS(tanks),
        **specs.POSITIONS(tanks * tank.rack_positions),
        **specs.NODE_KW(node_kw, low=system.rated_kw.low, high=system.rated_kw.high),
        **specs.TANK_KW(node_kw * nodes),
        **specs.FLUID(tanks * liters, low=low, high=high),
        **specs.FLUID_USD(fluid_usd(tanks, liters, price)),
    }
    if system.weight_kg is not None:
        filled = log.take(f"{key}.filled_kg", tank.filled_kg)
        metrics |= specs.TANK_KG(filled + nodes * system.weight_kg.value)
    return (
        metrics
        | _ride_through(tank, node_kw * nodes, log)
        | _converted(option, resolved, tanks * nodes, log)
    )


def _ride_through(tank: Tank, heat_kw: float, log: InputLog) -> dict[str, Metric]:
    """Return the ride-through of a full single-phase tank; a boiling fluid has none of this kind."""
    if tank.phase == "two" or heat_kw <= 0.0:
        return {}
    rise = log.parameter("facility", "coolant-rise-k")
    each = log.parameter("facility", "tank-fluid-heat-kj-per-l-k")
    low, value, high = (
        tank_ride_through_s(liters, heat_kw, each, rise)
        for liters in (tank.fluid_l.bounds[0], tank.fluid_l.value, tank.fluid_l.bounds[1])
    )
    label = f"{specs.RIDE_THROUGH.meaning}, until its fluid is {rise:g} K warmer"
    return specs.RIDE_THROUGH(value, low=low, high=high, label=label)


def _converted(
    option: CoolingOption, resolved: ResolvedFacility, servers: int, log: InputLog
) -> dict[str, Metric]:
    """Return the power in air and the price of conversion of servers that are converted."""
    row = _air_row(resolved, log)
    if row is None or row.rated_kw is None or not is_converted(row, option):
        return {}
    change = conversion(row, option, log)
    return specs.NODE_AIR_KW(row.rated_kw.value) | specs.CONVERSION_USD(change.usd * servers)


def _air_row(resolved: ResolvedFacility, log: InputLog) -> System | None:
    """Return the row of the system as the maker sells it."""
    system = resolved.system
    return None if system is None else log.catalog.get("systems", system.id, System)
