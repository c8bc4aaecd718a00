"""Transceivers and fiber of a network: those of a family, or generic parts of its speeds."""

from __future__ import annotations

from dataclasses import dataclass

from dcplan.answers.fabric.resolve import ResolvedFabric
from dcplan.catalog.schema import Fabric, Optic, Switch
from dcplan.inputs.log import InputLog
from dcplan.inputs.network_parts import MissingError, class_part
from dcplan.provenance import Quantity

CORD = "mpo12-os2-cord"
"""Fiber of networks outside the catalog's families."""


@dataclass(frozen=True)
class Fitted:
    """Transceivers and fiber for the links: from a family, or generic parts of the same speeds."""

    node: Optic
    leaf: Optic
    fiber: Optic | None
    family: str | None


def fitted(resolved: ResolvedFabric, log: InputLog) -> Fitted | None:
    """Return the optics of the network.

    In order of precedence: the requested family, a family with the same switch, generic parts at
    these speeds.
    """
    if resolved.family:
        return _of_family(resolved.family, log)
    if resolved.leaf is None:
        return None
    cage = cage_gbps(resolved.leaf, resolved.link_gbps)
    rows = [
        f for f in log.catalog.table("fabrics", Fabric).values() if f.protocol == resolved.protocol
    ]
    for family in sorted(rows, key=lambda f: f.leaf != resolved.leaf.id if resolved.leaf else True):
        found = _of_family(family, log)
        if (found.node.rate_gbps.value, found.leaf.rate_gbps.value) == (resolved.link_gbps, cage):
            return found
    leaf = class_part(log.catalog, cage, resolved.protocol)
    node = _node_part(resolved, leaf, log)
    return (
        Fitted(node, leaf, log.catalog.find("optics", CORD, Optic), None) if node and leaf else None
    )


def _node_part(resolved: ResolvedFabric, leaf: Optic | None, log: InputLog) -> Optic | None:
    """Return a generic transceiver of a link, or of the cage that carries several."""
    link = resolved.link_gbps
    rates = (link, link * resolved.ports_per_cage)
    return next(
        (row for r in rates if (row := class_part(log.catalog, r, resolved.protocol, leaf))), None
    )


def _of_family(family: Fabric, log: InputLog) -> Fitted:
    fiber = optic(log, family.fiber) if family.fiber else None
    return Fitted(optic(log, family.node_optic), optic(log, family.leaf_optic), fiber, family.id)


def cage_gbps(model: Switch | None, link: float) -> float:
    """Return the rate of the cages of a switch: at least that of a link."""
    return max(model.cage_gbps.value if model and model.cage_gbps else link, link)


def optic(log: InputLog, name: str) -> Optic:
    """Return the catalog's row of an optic.

    Raises
    ------
    MissingError
        When the catalog has none of that name.
    """
    row = log.catalog.find("optics", name, Optic)
    if row is None:
        msg = f"the catalog has no optic {name}"
        raise MissingError(msg)
    return row


def price_usd(row: Optic) -> tuple[float, float, float]:
    """Return the low, the usual and the high price of an optic.

    Raises
    ------
    MissingError
        When it has no price.
    """
    if row.price_usd is None:
        msg = f"no value for optics.{row.id}.price_usd"
        raise MissingError(msg)
    low, high = row.price_usd.bounds
    return low, row.price_usd.value, high


def power_kw(row: Optic) -> float:
    """Return the power of one transceiver, or of a cable with both ends [kW]."""
    figure: Quantity | None = row.max_kw or row.typical_kw
    if figure is None:
        msg = f"no value for optics.{row.id}.max_kw"
        raise MissingError(msg)
    return figure.value
