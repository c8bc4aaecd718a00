"""Embodied carbon of what a plan may buy: values of catalog rows, and class values where they are blank."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from dcplan.catalog.schema import OnsitePower, Parameter, System
from dcplan.energy.embodied import Footprint
from dcplan.inputs.log import InputLog
from dcplan.provenance import Quantity

SERVER, NETWORK, STORAGE = (
    "embodied-server-kg-per-kw",
    "embodied-network-kg-per-kw",
    "embodied-storage-kg-per-tb",
)
BUILDING, POWER, COOLING = (
    "embodied-building-kg-per-kw",
    "embodied-power-kg-per-kw",
    "embodied-cooling-kg-per-kw",
)
PLANTS = {
    "turbine": "embodied-turbine-kg-per-kw",
    "engine": "embodied-engine-kg-per-kw",
    "fuel-cell": "embodied-fuel-cell-kg-per-kw",
    "nuclear": "embodied-nuclear-kg-per-kw",
    "geothermal": "embodied-geothermal-kg-per-kw",
}
"""Class value by kind of plant. A battery, PV and wind have none: their rows have values of their own."""


@dataclass(frozen=True)
class Footprints:
    """Embodied carbon of one unit of everything that a plan may buy; None or missing: no value is known."""

    systems: Mapping[str, Footprint] = field(default_factory=dict)
    """By row of the catalog kind systems: one unit."""
    plants: Mapping[str, Footprint] = field(default_factory=dict)
    """By row of the catalog kind onsite: one kW."""
    network_kw: Footprint | None = None
    """Switches and optics, by their power."""
    storage_tb: Footprint | None = None
    """Usable capacity."""
    building_kw: Footprint | None = None
    """Shell of a new hall, by facility power on the design day."""
    power_kw: Footprint | None = None
    """Power blocks, by rating."""
    cooling_kw: Footprint | None = None
    """Cooling and fit-out, by IT power of a hall."""
    given_tb: float = 0.0
    """Capacity of storage that the scenario gives."""


def footprints(
    systems: Iterable[System], plants: Iterable[OnsitePower], given_tb: float, log: InputLog
) -> Footprints:
    """Return the embodied carbon of systems, plants, network, storage, buildings, power and cooling."""
    found = {row.id: x for row in systems if (x := system_footprint(row, log)) is not None}
    built = {row.id: x for row in plants if (x := plant_footprint(row, log)) is not None}
    return Footprints(
        systems=found,
        plants=built,
        network_kw=class_value(NETWORK, log),
        storage_tb=class_value(STORAGE, log),
        building_kw=class_value(BUILDING, log),
        power_kw=class_value(POWER, log),
        cooling_kw=class_value(COOLING, log),
        given_tb=given_tb,
    )


def system_footprint(row: System, log: InputLog) -> Footprint | None:
    """Return the embodied carbon of one unit: that of the row, or the class value times rated power."""
    if row.embodied_kg is not None:
        log.take(f"systems.{row.id}.embodied_kg", row.embodied_kg)
        return _of(row.embodied_kg)
    if row.rated_kw is None:
        return None
    return class_value(SERVER, log).times(row.rated_kw.value)


def plant_footprint(row: OnsitePower, log: InputLog) -> Footprint | None:
    """Return the embodied carbon of one kW of a plant: that of the row, or the class value of its kind.

    None where the row has no value and its kind has no class.
    """
    if row.embodied_kg_per_kw is not None:
        log.take(f"onsite.{row.id}.embodied_kg_per_kw", row.embodied_kg_per_kw)
        return _of(row.embodied_kg_per_kw)
    key = PLANTS.get(row.kind)
    return None if key is None else class_value(key, log)


def class_value(key: str, log: InputLog) -> Footprint:
    """Return a class value of the catalog with its bounds, for one kW or TB."""
    log.parameter("power", key)
    return _of(log.catalog.get("power", key, Parameter).value, by_class=True)


def _of(given: Quantity, *, by_class: bool = False) -> Footprint:
    low, high = given.bounds
    return Footprint(given.value, low, high, by_class)
