"""Cables and devices of a network, listed individually for operators' inventories."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dcplan.answers.fabric.built import Built, build
from dcplan.answers.fabric.request import FabricRequest
from dcplan.answers.fabric.resolve import ResolvedFabric, resolve
from dcplan.catalog.loader import load as load_catalog
from dcplan.catalog.schema import Switch, System
from dcplan.errors import InputError, Place, Problem
from dcplan.fabric.floor.lengths import stock
from dcplan.fabric.floor.schedule import Cable, schedule
from dcplan.inputs.log import InputLog
from dcplan.inputs.network_parts import switch_units
from dcplan.result import Result
from dcplan.specs.request import made, verb

INFINIBAND = {200.0: "infiniband-hdr", 400.0: "infiniband-ndr", 800.0: "infiniband-xdr"}
ETHERNET = {
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
class Model:
    """Device model of a tier."""

    manufacturer: str
    model: str
    rack_units: float
    weight_kg: float | None
    lower_type: str
    """Interface type of ports to nodes, and of a node's ports."""
    upper_type: str


@dataclass(frozen=True)
class Inventory:
    """Cables, and the devices and racks that they connect."""

    cables: Iterable[Cabled]
    models: Mapping[str, Model]
    """Device models by tier."""
    rack_units: float
    """Height of every rack. [U]"""


@verb(FabricRequest, "fabric")
def cables(request: FabricRequest) -> Iterator[Cabled]:
    """Yield every cable of a network with both ends, in constant memory.

    Raises
    ------
    InputError
        As :func:`dcplan.answers.fabric.answer.fabric`; also for networks without a cable list
        (pairs, scheduled fabrics, dragonflies, tori).
    """
    return _cables(*_resolved(request))


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
    return Inventory(_cables(resolved, log), _models(resolved, log), height)


def _resolved(request: FabricRequest) -> tuple[ResolvedFabric, InputLog]:
    catalog = load_catalog(tuple(Path(c) for c in request.catalogs))
    return resolve(request, catalog), InputLog(catalog)


def _cables(resolved: ResolvedFabric, log: InputLog) -> Iterator[Cabled]:
    built = None if resolved.topology == "torus" else build(resolved, log)
    if built is None or built.hall is None:
        kind = resolved.topology + ("" if resolved.topology == "torus" else " network")
        cause = f"a {kind} has no cable list, only cable counts"
        raise InputError([Problem("DC050", cause, Place("fabric"))])
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
    system, hosts = resolved.system, max(resolved.attached.nodes // resolved.request.nodes, 1)
    units = system.rack_units.value if system and system.rack_units else 1.0
    kg = round(system.weight_kg.value / hosts, 2) if system and system.weight_kg else None
    name = (_model(system) if hosts == 1 else f"{_model(system)}, one tray") if system else "node"
    found["node"] = Model(
        (system and system.vendor) or "Generic", name, units if hosts == 1 else 1.0, kg, near, near
    )
    for tier, row in zip(("leaf", "spine", "core"), resolved.models, strict=True):
        found[tier] = _switch(row, resolved, (near if tier == "leaf" else far, far), log)
    return found


def _model(row: System | Switch) -> str:
    """Return the name without the vendor."""
    return row.name.removeprefix(f"{row.vendor} ") if row.vendor else row.name


def _switch(
    row: Switch | None, resolved: ResolvedFabric, types: tuple[str, str], log: InputLog
) -> Model:
    units = switch_units(row, log)
    if row is None:
        return Model("Generic", f"{resolved.ports.radix} ports", units, None, *types)
    kg = row.weight_kg.value if row.weight_kg else None
    return Model(row.vendor or "Generic", _model(row), units, kg, *types)
