"""Bill of materials of one network, line by line, with low and high prices."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import NamedTuple

from dcplan.answers.fabric.media.choice import Choice
from dcplan.answers.fabric.media.offers import SIDES, sides
from dcplan.answers.fabric.media.optics import power_kw
from dcplan.answers.fabric.resolve import ResolvedFabric
from dcplan.catalog.schema import Optic, Parameter, Switch
from dcplan.fabric.bom import cages, node_cages
from dcplan.fabric.topology.networks import Network
from dcplan.fabric.topology.wiring import Fill
from dcplan.inputs.log import InputLog
from dcplan.inputs.network_parts import MissingError, switch_units
from dcplan.provenance import Quantity

TIERS = ("leaf", "spine", "core")
MANY = {"node": "nodes", "leaf": "leaves", "spine": "spines", "core": "cores"}
"""Plural names of the tiers."""


class Kind(Enum):
    """Kind of a line in the bill of materials."""

    SWITCH = auto()
    NODE_OPTIC = auto()
    """Transceiver in a node."""
    SWITCH_OPTIC = auto()
    """Transceiver in a switch."""
    CABLE = auto()
    OTHER = auto()


OPTICS = (Kind.NODE_OPTIC, Kind.SWITCH_OPTIC)


class Price(NamedTuple):
    """A price with its bounds [USD]."""

    low: float
    value: float
    high: float

    def times(self, count: float) -> Price:
        """Return the price of several pieces."""
        return Price(self.low * count, self.value * count, self.high * count)

    def plus(self, other: Price) -> Price:
        """Return the sum of both prices, with summed bounds."""
        return Price(self.low + other.low, self.value + other.value, self.high + other.high)


FREE = Price(0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Line:
    """One kind of part; the values are for all pieces."""

    kind: Kind
    item: str
    part: str
    count: int
    price: Price
    kw: float = 0.0
    rack_units: float = 0.0
    kg: float = 0.0
    status: str = ""


@dataclass(frozen=True)
class Totals:
    """Sums of lines."""

    price: Price
    kw: float
    rack_units: float
    kg: float
    transceivers: int

    @classmethod
    def of(cls, lines: Iterable[Line]) -> Totals:
        """Sum lines."""
        rows = list(lines)
        return cls(
            functools.reduce(Price.plus, (row.price for row in rows), FREE),
            sum(row.kw for row in rows),
            sum(row.rack_units for row in rows),
            sum(row.kg for row in rows),
            sum(row.count for row in rows if row.kind in OPTICS),
        )


def switch_lines(resolved: ResolvedFabric, network: Network, log: InputLog) -> list[Line]:
    """Return switches of every tier; a chassis includes the line cards for its used ports.

    Raises
    ------
    MissingError
        When a switch has no price or no power.
    """
    found = []
    for tier, model, fills in zip(TIERS, resolved.models, network.fills.tiers, strict=True):
        count = sum(f.switches for f in fills)
        if not count:
            continue
        if model is None:
            msg = f"no {tier} switch model is selected"
            raise MissingError(msg)
        found.append(_switch(tier, model, fills, count, resolved, log))
    return found


def _switch(
    tier: str,
    model: Switch,
    fills: Sequence[Fill],
    count: int,
    resolved: ResolvedFabric,
    log: InputLog,
) -> Line:
    key, part = f"switches.{model.id}", model.id
    price = _price(log, f"{key}.price_usd", model.price_usd)
    kw = _value(log, f"{key}.typical_kw", model.typical_kw or model.max_kw)
    kg = model.weight_kg.value if model.weight_kg else 0.0
    cards = cards_of(tier, model, fills, resolved)
    if cards:
        price = price.plus(_price(log, f"{key}.card_usd", model.card_usd).times(cards))
        kw += cards * _value(log, f"{key}.card_kw", model.card_kw)
        kg += cards * (model.card_kg.value if model.card_kg else 0.0)
        part = f"{model.id} with {cards} line cards"
    units = switch_units(model, log)
    status = _status(model.price_usd)
    return Line(
        Kind.SWITCH,
        f"{tier} switches",
        part,
        count,
        price.times(count),
        kw * count,
        units * count,
        kg * count,
        status,
    )


def cards_of(tier: str, model: Switch, fills: Sequence[Fill], resolved: ResolvedFabric) -> int:
    """Return line cards of a chassis for the busiest switch of a tier; 0 for a fixed switch."""
    if model.cards is None:
        return 0
    down, up = (
        (resolved.link_gbps if tier == "leaf" else resolved.between_gbps),
        resolved.between_gbps,
    )
    each = [model.ports[f"{gbps:g}"] / model.cards for gbps in (down, up)]
    return max(math.ceil(f.down / each[0] + f.up / each[1] - 1e-9) for f in fills)


def link_lines(
    resolved: ResolvedFabric, network: Network, chosen: dict[str, list[Choice]], log: InputLog
) -> list[Line]:
    """Return transceivers and cables of every tier for its cable lengths."""
    found: list[Line] = []
    for tier, choices in chosen.items():
        found += _optics(resolved, network, tier, choices, log)
    for tier, choices in chosen.items():
        found += _cables(tier, choices, log)
    return found


def _optics(
    resolved: ResolvedFabric, network: Network, tier: str, choices: list[Choice], log: InputLog
) -> list[Line]:
    lower, upper = sides(tier)
    kinds: dict[str, list[Choice]] = {}
    for c in choices:
        if c.ends:
            kinds.setdefault(c.medium.id, []).append(c)
    placed = tier == "node-leaf" or bool(network.fills.spine)
    only = placed and len(kinds) == 1 and all(c.ends for c in choices)
    found = []
    for same in kinds.values():
        ends, links = same[0].ends, sum(c.links for c in same)
        if ends is None:
            continue
        counts = (math.ceil(links / ends[0].ports), math.ceil(links / ends[1].ports))
        if only:
            counts = _whole(resolved, network, tier, ends[0].ports, ends[1].ports)
        if lower == upper and not ends[0].inside:
            item = f"transceivers of {tier if tier in SIDES else 'leaf-leaf'} links"
            found.append(_optic(Kind.SWITCH_OPTIC, item, ends[0].row, sum(counts), log))
            continue
        for here, there, end, count in (
            (lower, upper, ends[0], counts[0]),
            (upper, lower, ends[1], counts[1]),
        ):
            if end.inside:  # the price and power of the switch include it
                continue
            item = f"transceivers in {MANY[here]} to {MANY[there]}"
            kind = Kind.NODE_OPTIC if here == "node" else Kind.SWITCH_OPTIC
            found.append(_optic(kind, item, end.row, count, log))
    return found


def _whole(
    resolved: ResolvedFabric, network: Network, tier: str, lower: int, upper: int
) -> tuple[int, int]:
    """Count cages if a tier has one kind of transceiver and each switch fills its own cages."""
    fills = network.fills
    down = {
        name: [Fill(f.switches, f.down, 0) for f in t]
        for name, t in zip(TIERS, fills.tiers, strict=True)
    }
    up = {
        name: [Fill(f.switches, 0, f.up) for f in t]
        for name, t in zip(TIERS, fills.tiers, strict=True)
    }
    below, above = sides(tier)
    if below == "node":
        managers = resolved.attached.management_links * resolved.ports.planes * network.parallel
        return node_cages(network.counts.node_leaf_links, managers, lower), cages(
            down[above], upper, 1
        )
    return cages(up[below], 1, lower), cages(down[above], upper, 1)


def _optic(kind: Kind, item: str, row: Optic, count: int, log: InputLog) -> Line:
    price = _price(log, f"optics.{row.id}.price_usd", row.price_usd)
    log.take(
        f"optics.{row.id}.max_kw", row.max_kw or row.typical_kw or Quantity(value=power_kw(row))
    )
    return Line(
        kind,
        item,
        row.id,
        count,
        price.times(count),
        power_kw(row) * count,
        status=_status(row.price_usd),
    )


def _cables(tier: str, choices: list[Choice], log: InputLog) -> list[Line]:
    found = []
    for c in choices:
        item = f"{tier} cables {c.stock_m:g} m"
        if c.cable is None:
            found.append(Line(Kind.CABLE, item, "fiber, no price", c.links, FREE))
            continue
        pieces = math.ceil(c.links / c.links_each)
        kg = (c.cable.kg_per_m.value if c.cable.kg_per_m else 0.0) * c.stock_m * pieces
        status = _status(c.cable.price_usd or c.cable.usd_per_m)
        if c.ends:
            price, kw = _cord(c.cable, c.stock_m, log), 0.0
        else:
            _price(log, f"optics.{c.cable.id}.price_usd", c.cable.price_usd)
            one, kw = c.medium, c.medium.kw * c.links_each
            price = Price(one.low_usd, one.usd, one.high_usd).times(c.links_each)
        total = price.times(pieces)
        found.append(
            Line(Kind.CABLE, item, c.cable.id, pieces, total, kw * pieces, kg=kg, status=status)
        )
    return found


def _cord(row: Optic, meters: float, log: InputLog) -> Price:
    """Return the price of a fiber cord: ends plus length."""
    key = f"optics.{row.id}"
    ends = _price(log, f"{key}.price_usd", row.price_usd) if row.price_usd else FREE
    return ends.plus(_price(log, f"{key}.usd_per_m", row.usd_per_m).times(meters))


def nic_lines(resolved: ResolvedFabric) -> list[Line]:
    """Return the NICs of the nodes; the systems include their price and power."""
    name = (
        resolved.system.nic
        if resolved.system and resolved.system.nic
        else f"{resolved.nic_gbps:g} Gb/s"
    )
    count = resolved.attached.nodes * resolved.attached.nics_per_node
    return [Line(Kind.OTHER, "NICs (included in the systems' price)", name, count, FREE)]


def extra_lines(
    lines: Sequence[Line], chosen: dict[str, list[Choice]], other_units: float, log: InputLog
) -> list[Line]:
    """Return ancillary equipment: spare optics, patch panels, network racks.

    Panels terminate both ends of fiber trunks between switches. Racks contain the network's
    switches, its panels and ``other_units`` of other networks' switches.
    """
    found = []
    frac, least = (
        log.parameter("network", key) for key in ("spare-optics-frac", "spare-optics-least")
    )
    kinds: dict[str, list[Line]] = {}
    for line in lines:
        if line.kind in OPTICS:
            kinds.setdefault(line.part, []).append(line)
    for part, same in kinds.items():
        count = sum(line.count for line in same)
        if not count:
            continue
        spare = max(math.ceil(count * frac), round(least))
        price = functools.reduce(Price.plus, (line.price for line in same)).times(spare / count)
        status = same[0].status
        found.append(Line(Kind.OTHER, "spare transceivers", part, spare, price, status=status))
    trunks = sum(
        c.links
        for tier, choices in chosen.items()
        if tier != "node-leaf"
        for c in choices
        if c.ends
    )
    found += _panels(trunks, log)
    units = sum(line.rack_units for line in (*lines, *found)) + other_units
    racks = math.ceil(units / log.parameter("network", "network-rack-units"))
    kg = log.parameter("network", "rack-kg") * racks
    price = _price(log, "network.rack-usd", _parameter(log, "rack-usd")).times(racks)
    part = f"{log.parameter('facility', 'rack-units'):g} U"
    found.append(Line(Kind.OTHER, "network racks", part, racks, price, kg=kg, status="estimate"))
    return found


def _panels(links: int, log: InputLog) -> list[Line]:
    """Return panels at both ends of the trunks between switches."""
    if not links:
        return []
    units = math.ceil(2 * links / log.parameter("network", "mpo-ports-per-panel-unit"))
    price = _price(log, "network.panel-usd-per-unit", _parameter(log, "panel-usd-per-unit")).times(
        units
    )
    part = "1 U of MPO-12"
    return [
        Line(Kind.OTHER, "patch panels", part, units, price, rack_units=units, status="estimate")
    ]


def _parameter(log: InputLog, key: str) -> Quantity:
    return log.catalog.get("network", key, Parameter).value


def _price(log: InputLog, key: str, quantity: Quantity | None) -> Price:
    value = _value(log, key, quantity)
    low, high = quantity.bounds if quantity else (value, value)
    return Price(low, value, high)


def _value(log: InputLog, key: str, quantity: Quantity | None) -> float:
    if quantity is None:
        msg = f"no value for {key}"
        raise MissingError(msg)
    return log.take(key, quantity)


def _status(quantity: Quantity | None) -> str:
    return (
        "" if quantity is None else ("estimate" if str(quantity.status) == "estimate" else "listed")
    )
