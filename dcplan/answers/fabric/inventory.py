"""Cables and devices of a network, listed individually for operators' inventories."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from dcplan.answers.fabric.built import Built, build
from dcplan.answers.fabric.devices.side_cables import SideCable, side_cables
from dcplan.answers.fabric.devices.types import Model, maker, short_model
from dcplan.answers.fabric.request import FabricRequest
from dcplan.answers.fabric.resolve import ResolvedFabric, resolve
from dcplan.catalog.loader import load as load_catalog
from dcplan.catalog.schema import DeviceType, Switch
from dcplan.errors import InputError, Place, Problem
from dcplan.fabric.floor.lengths import stock
from dcplan.fabric.floor.schedule import Cable, name, schedule
from dcplan.inputs.log import InputLog
from dcplan.inputs.network_parts import switch_units
from dcplan.result import Result
from dcplan.specs.request import made
from dcplan.specs.verb import verb

INFINIBAND = {200.0: "infiniband-hdr", 400.0: "infiniband-ndr", 800.0: "infiniband-xdr"}
ETHERNET = {
    1.0: "1000base-t",
    10.0: "10gbase-x-sfpp",
    25.0: "25gbase-x-sfp28",
    100.0: "100gbase-x-qsfp28",
    200.0: "200gbase-x-qsfp56",
    400.0: "400gbase-x-osfp",
    800.0: "800gbase-x-osfp",
    1600.0: "1.6tbase-x-osfp1600",
}


@dataclass(frozen=True)
class Cabled:
    """A cable with its catalog row, kind (fiber, dac, acc, aec, aoc) and glass."""

    cable: Cable
    part: str
    kind: str
    glass: str | None


@dataclass(frozen=True)
class Inventory:
    """Cables, and the devices and racks that they connect."""

    cables: Iterable[Cabled]
    models: Mapping[str, Model]
    """Device models by tier."""
    rack_units: float
    """Height of every rack. [U]"""
    trays: Mapping[str, int] = field(default_factory=dict)
    """Devices in every rack of nodes that no cable of the list reaches: kind -> how many."""
    side_switches: Mapping[str, int] = field(default_factory=dict)
    """Switches of the side networks: kind -> how many."""
    feed_volt: float = 0.0
    """Line voltage of a rack feed; 0 without feeds."""
    feed_load_frac: float = 1.0
    """Highest load of a feed over its rating."""
    side_cables: Iterable[SideCable] = ()
    """Cables of the side networks."""


@verb(FabricRequest, "fabric")
def cables(request: FabricRequest) -> Iterator[Cabled]:
    """Yield every cable of a network with both ends, in constant memory.

    Raises
    ------
    InputError
        As :func:`dcplan.answers.fabric.answer.fabric`; also for networks without a cable list
        (pairs, scheduled fabrics, dragonflies, tori).
    """
    return _cables(_built(*_resolved(request)))


def inventory(result: Result) -> Inventory:
    """Return the cables of a saved answer's network, and its device models.

    Raises
    ------
    InputError
        When the answer is not from ``fabric``, or its network has no cable list.
    """
    kept = result.scenario.get("fabric")
    if result.verb != "fabric" or not isinstance(kept, Mapping) or not kept:
        cause = f"a result of {result.verb or 'another program'} has no network with a cable list"
        raise InputError(
            [Problem("DC050", cause, Place("RESULT"), help="dcplan fabric ... -f json -o RESULT")]
        )
    resolved, log = _resolved(made(FabricRequest, kept, "fabric"))
    height = log.parameter("facility", "rack-units")
    built = _built(resolved, log)
    models = _used(_models(resolved, log), built)
    trays, sides = _trays(resolved, log, models), _sides(built, log, models)
    volt, load_frac = (
        log.parameter("network", key) for key in ("rack-feed-volt", "rack-feed-load-frac")
    )
    listed = side_cables(built, models, _compute_switches(built), log)
    return Inventory(_cables(built), models, height, trays, sides, volt, load_frac, listed)


def _compute_switches(built: Built) -> list[tuple[str, str]]:
    """Return the compute switches by name, with their kind."""
    hall, counts = built.hall, built.network.counts
    if hall is None:
        return []
    one = "p" if built.network.plan.planes == hall.copies else "r"
    return [
        (name(kind, number, copy, hall.copies, one), kind)
        for kind, every in (("leaf", counts.leaf), ("spine", counts.spine), ("core", counts.core))
        for copy in range(hall.copies)
        for number in range(every // hall.copies)
    ]


def _resolved(request: FabricRequest) -> tuple[ResolvedFabric, InputLog]:
    catalog = load_catalog(tuple(Path(c) for c in request.catalogs))
    return resolve(request, catalog), InputLog(catalog)


def _built(resolved: ResolvedFabric, log: InputLog) -> Built:
    built = None if resolved.topology == "torus" else build(resolved, log)
    if built is None or built.hall is None:
        kind = resolved.topology + ("" if resolved.topology == "torus" else " network")
        cause = f"a {kind} has no cable list, only cable counts"
        raise InputError([Problem("DC050", cause, Place("fabric"))])
    return built


def _cables(built: Built) -> Iterator[Cabled]:
    if built.hall is None:
        return iter(())
    return _cabled(built, schedule(built.hall, built.network.plan.planes))


def _cabled(built: Built, listed: Iterator[Cable]) -> Iterator[Cabled]:
    """Return each cable's part by its tier and stock length."""
    named: dict[tuple[str, int], tuple[str, str, str | None]] = {}
    for tier, choices in built.chosen.tiers.items():
        for c in choices:
            place = int(stock(np.array([c.stock_m]))[0])
            row = c.cable
            named[tier, place] = (row.id, row.kind, row.glass) if row else ("", "fiber", None)
    for cable in listed:
        yield Cabled(cable, *named.get((cable.tier, cable.stock), ("", "", None)))


def interface_type(protocol: str, gbps: float) -> str:
    """Return NetBox's slug of a port; ``other`` if it has none.

    Examples
    --------
    >>> interface_type("infiniband", 400.0), interface_type("ethernet", 800.0)
    ('infiniband-ndr', '800gbase-x-osfp')
    >>> interface_type("slingshot", 200.0)
    '200gbase-x-qsfp56'
    """
    table = INFINIBAND if protocol == "infiniband" else ETHERNET
    return table.get(gbps, "other")


def _models(resolved: ResolvedFabric, log: InputLog) -> dict[str, Model]:
    near = interface_type(resolved.protocol, resolved.link_gbps)
    far = interface_type(resolved.protocol, resolved.between_gbps)
    found = {"manager": Model("Generic", "manager", 1.0, None, near, near)}
    found["node"] = _node(resolved, near)
    for tier, row in zip(("leaf", "spine", "core"), resolved.models, strict=True):
        types = (near if tier == "leaf" else far, far)
        ports = _radix(resolved, tier)
        found[tier] = _switch(row, ports, f"{ports} ports", types, log)
    return found


def _used(models: Mapping[str, Model], built: Built) -> dict[str, Model]:
    """Return the models that the network has, without tiers that it lacks."""
    counts = built.network.counts
    lacks = {"spine": not counts.spine, "core": not counts.core}
    return {kind: model for kind, model in models.items() if not lacks.get(kind)}


def _node(resolved: ResolvedFabric, port_type: str) -> Model:
    """Return the model of a node: a system, or a tray of a rack-scale one."""
    system, hosts = resolved.system, max(resolved.attached.nodes // resolved.request.nodes, 1)
    if system is None:
        return Model("Generic", "node", 1.0, None, port_type, port_type)
    name = short_model(system.name, system.vendor, system.id)
    tray = hosts > 1
    kg = round(system.weight_kg.value / hosts, 2) if system.weight_kg else None
    units = system.rack_units.value if system.rack_units and not tray else 1.0
    power = system.rated_kw
    return Model(
        maker(system.vendor),
        f"{name} compute tray" if tray else name,
        units,
        kg,
        port_type,
        port_type,
        kw=power.value / hosts if power else 0.0,
    )


def _radix(resolved: ResolvedFabric, tier: str) -> int:
    ports = resolved.ports
    spine = ports.spine_radix or ports.radix
    return {"leaf": ports.radix, "spine": spine, "core": ports.core_radix or spine}[tier]


def _switch(
    row: Switch | None, ports: int, name: str, types: tuple[str, str], log: InputLog
) -> Model:
    """Return the model of a switch, with the library's names where it has the type."""
    units = switch_units(row, log)
    if row is None:
        return Model("Generic", name, units, None, *types, ports)
    kg, power = row.weight_kg.value if row.weight_kg else None, row.max_kw or row.typical_kw
    kw = power.value if power else 0.0
    library = log.catalog.find("device_types", row.id, DeviceType)
    if library is None:
        model = short_model(row.name, row.vendor, row.id)
        return Model(maker(row.vendor), model, units, kg, *types, ports, kw)
    kg = library.weight_kg.value if library.weight_kg else kg
    units = library.rack_units.value
    return Model(library.manufacturer, library.model, units, kg, *types, ports, kw, library)


def _trays(resolved: ResolvedFabric, log: InputLog, models: dict[str, Model]) -> dict[str, int]:
    """Return the trays that a rack-scale system has in addition to its nodes, and add their models."""
    found: dict[str, int] = {}
    for row in log.catalog.table("device_types", DeviceType).values():
        if resolved.system and resolved.system.id in row.systems and row.per_rack:
            kg = row.weight_kg.value if row.weight_kg else None
            models["tray"] = Model(
                row.manufacturer, row.model, row.rack_units.value, kg, "other", "other", library=row
            )
            found["tray"] = row.per_rack
    return found


def _sides(built: Built, log: InputLog, models: dict[str, Model]) -> dict[str, int]:
    """Return the switches of the side networks by kind, and add their models."""
    found: dict[str, int] = {}
    for one in built.side_networks:
        if one.side.switches:
            row = log.catalog.get("switches", one.model, Switch)
            kind = interface_type(row.protocol, one.gbps)
            models[one.name] = _switch(row, one.radix, one.model, (kind, kind), log)
            found[one.name] = one.side.switches
    return found
