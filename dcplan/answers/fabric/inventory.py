"""A saved ``fabric`` answer as devices and cables again, for the inventories of operators."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from dcplan.answers.fabric.answer import Cabled, cables
from dcplan.answers.fabric.request import Wish
from dcplan.answers.fabric.resolve import Asked, resolve
from dcplan.catalog.loader import load as load_catalog
from dcplan.catalog.schema import Switch, System
from dcplan.errors import InputError, Place, Problem
from dcplan.result import Result

INFINIBAND = {200.0: "infiniband-hdr", 400.0: "infiniband-ndr", 800.0: "infiniband-xdr"}
ETHERNET = {
    100.0: "100gbase-x-qsfp28",
    200.0: "200gbase-x-qsfp56",
    400.0: "400gbase-x-osfp",
    800.0: "800gbase-x-osfp",
    1600.0: "1.6tbase-x-osfp1600",
}


@dataclass(frozen=True)
class Model:
    """What a tier's devices are."""

    manufacturer: str
    model: str
    rack_units: float
    weight_kg: float | None
    lower_type: str
    """Interface type of ports towards nodes, and of a node's own."""
    upper_type: str


def interface_type(protocol: str, gbps: float) -> str:
    """NetBox's slug of a port; ``other`` where it has none.

    Examples
    --------
    >>> interface_type("infiniband", 400.0), interface_type("ethernet", 800.0), interface_type("slingshot", 200.0)
    ('infiniband-ndr', '800gbase-x-osfp', '200gbase-x-qsfp56')
    """
    table = INFINIBAND if protocol == "infiniband" else ETHERNET
    return table.get(gbps, "other")


def inventory(result: Result) -> tuple[Iterator[Cabled], dict[str, Model]]:
    """Cables of a saved answer's network, and what its devices are.

    Raises
    ------
    InputError
        When the answer is not one of ``fabric``, or its cables are not named one by one.
    """
    saved = result.scenario.get("fabric")
    flags = dict(saved) if isinstance(saved, Mapping) else {}
    if result.verb != "fabric" or not flags:
        cause = f"a {result.verb or 'foreign'} result has no network with named cables"
        raise InputError(
            [Problem("DC050", cause, Place("RESULT"), help="dcplan fabric ... -f json -o RESULT")]
        )
    catalogs = tuple(flags.pop("catalogs", ()))
    asked = resolve(Wish.of(flags), load_catalog(tuple(Path(c) for c in catalogs)))
    return cables(catalogs=catalogs, **flags), _models(asked)


def _models(asked: Asked) -> dict[str, Model]:
    near = interface_type(asked.protocol, asked.link_gbps)
    far = interface_type(asked.protocol, asked.between_gbps)
    found = {"manager": Model("Generic", "manager", 1.0, None, near, near)}
    system, hosts = asked.system, max(asked.attached.nodes // asked.wish.nodes, 1)
    units = system.rack_units.value if system and system.rack_units else 1.0
    kg = round(system.weight_kg.value / hosts, 2) if system and system.weight_kg else None
    name = (_model(system) if hosts == 1 else f"{_model(system)}, one tray") if system else "node"
    found["node"] = Model(
        (system and system.vendor) or "Generic", name, units if hosts == 1 else 1.0, kg, near, near
    )
    for tier, row in zip(("leaf", "spine", "core"), asked.models, strict=True):
        found[tier] = _switch(row, asked, near if tier == "leaf" else far, far)
    return found


def _model(row: System | Switch) -> str:
    """Name without its maker."""
    return row.name.removeprefix(f"{row.vendor} ") if row.vendor else row.name


def _switch(row: Switch | None, asked: Asked, lower: str, upper: str) -> Model:
    if row is None:
        return Model("Generic", f"{asked.ports.radix} ports", 2.0, None, lower, upper)
    units, kg = row.rack_units, row.weight_kg
    return Model(
        row.vendor or "Generic",
        _model(row),
        units.value if units else 2.0,
        kg.value if kg else None,
        lower,
        upper,
    )
