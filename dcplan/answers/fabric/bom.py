"""Bill of materials of one network, line by line, with low and high prices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from dcplan.answers.fabric.bill.lines import FREE, Kind, Line, Price, price_of, status_of, value_of
from dcplan.answers.fabric.media.choice import Choice
from dcplan.answers.fabric.media.offers import SIDES, sides
from dcplan.answers.fabric.media.optics import power_kw
from dcplan.answers.fabric.resolve import ResolvedFabric
from dcplan.catalog.schema import Optic, Switch
from dcplan.fabric.bom import cages, node_cages
from dcplan.fabric.topology.networks import Network
from dcplan.fabric.topology.wiring import Fill
from dcplan.inputs.log import InputLog
from dcplan.inputs.network_parts import MissingError, switch_units
from dcplan.provenance import Quantity

TIERS = ("leaf", "spine", "core")
MANY = {"node": "nodes", "leaf": "leaves", "spine": "spines", "core": "cores"}
"""Plural names of the tiers."""


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
    price = price_of(log, f"{key}.price_usd", model.price_usd)
    kw = value_of(log, f"{key}.typical_kw", model.typical_kw or model.max_kw)
    kg = model.weight_kg.value if model.weight_kg else 0.0
    cards = cards_of(tier, model, fills, resolved)
    if cards:
        price = price.plus(price_of(log, f"{key}.card_usd", model.card_usd).times(cards))
        kw += cards * value_of(log, f"{key}.card_kw", model.card_kw)
        kg += cards * (model.card_kg.value if model.card_kg else 0.0)
        part = f"{model.id} with {cards} line cards"
    units = switch_units(model, log)
    status = status_of(model.price_usd)
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
    price = price_of(log, f"optics.{row.id}.price_usd", row.price_usd)
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
        status=status_of(row.price_usd),
        optic=row,
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
        status = status_of(c.cable.price_usd or c.cable.usd_per_m)
        if c.ends:
            price, kw = _cord(c.cable, c.stock_m, log), 0.0
        else:
            price_of(log, f"optics.{c.cable.id}.price_usd", c.cable.price_usd)
            one, kw = c.medium, c.medium.kw * c.links_each
            price = Price(one.low_usd, one.usd, one.high_usd).times(c.links_each)
        total = price.times(pieces)
        line = Line(Kind.CABLE, item, c.cable.id, pieces, total, kw * pieces, kg=kg, status=status)
        found.append(replace(line, optic=c.cable))
    return found


def _cord(row: Optic, meters: float, log: InputLog) -> Price:
    """Return the price of a fiber cord: ends plus length."""
    key = f"optics.{row.id}"
    ends = price_of(log, f"{key}.price_usd", row.price_usd) if row.price_usd else FREE
    return ends.plus(price_of(log, f"{key}.usd_per_m", row.usd_per_m).times(meters))
