"""Choice of the transceiver or cable between two ports, by reach and request."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from dcplan.answers.fabric.resolve import ResolvedFabric
from dcplan.catalog.schema import Fabric, Optic, Switch
from dcplan.errors import InputError, Place, Problem
from dcplan.fabric.floor.lengths import STOCK_M, Lengths
from dcplan.fabric.media import Medium, pick
from dcplan.fabric.topology.networks import Network
from dcplan.inputs.log import InputLog
from dcplan.inputs.network_parts import MissingError
from dcplan.provenance import Quantity

LIGHT = ("transceiver",)
SWAPPED = ("lpo", "lro")
INSIDE = ("cpo",)
CORD = "mpo12-os2-cord"
"""Fiber of networks outside the catalog's families."""
SIDES = {"local": ("leaf", "leaf"), "global": ("leaf", "leaf")}
"""Ends of a dragonfly's links; for all others, the tier's name contains them."""


@dataclass(frozen=True)
class End:
    """Transceiver of one end, and links per transceiver."""

    row: Optic
    ports: int
    inside: bool = False
    """Whether it is a part of a co-packaged switch, which includes its price and power."""


@dataclass(frozen=True)
class Choice:
    """Cabling of one stock length of a tier."""

    stock_m: float
    links: int
    medium: Medium
    ends: tuple[End, End] | None
    """None for a cable with fixed ends."""
    cable: Optic | None
    """Fiber, or the cable itself."""
    links_each: int = 1
    """Links per cable."""


@dataclass(frozen=True)
class Fitted:
    """Transceivers and fiber for the links: from a family, or generic parts of the same speeds."""

    node: Optic
    leaf: Optic
    fiber: Optic | None
    family: str | None


@dataclass
class Chosen:
    """Media of every tier, and notes on requests that could not be met."""

    tiers: dict[str, list[Choice]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def sides(tier: str) -> tuple[str, str]:
    """Return the lower and upper end of a tier's links."""
    if tier in SIDES:
        return SIDES[tier]
    lower, upper = tier.split("-")
    return lower, upper


def fitted(resolved: ResolvedFabric, log: InputLog) -> Fitted | None:
    """Return the optics of the network.

    In order of precedence: the requested family, a family with the same switch, generic parts at
    these speeds.
    """
    if resolved.family:
        own = _of_family(resolved.family, log)
        fits = own.node.rate_gbps.value == resolved.link_gbps
        node = own.node if fits else _class_part(resolved.link_gbps, resolved.protocol, log)
        return Fitted(node, own.leaf, own.fiber, own.family) if node else None
    if resolved.leaf is None:
        return None
    cage = _cage(resolved.leaf, resolved.link_gbps)
    rows = [
        f for f in log.catalog.table("fabrics", Fabric).values() if f.protocol == resolved.protocol
    ]
    for family in sorted(rows, key=lambda f: f.leaf != resolved.leaf.id if resolved.leaf else True):
        found = _of_family(family, log)
        if (found.node.rate_gbps.value, found.leaf.rate_gbps.value) == (resolved.link_gbps, cage):
            return found
    node, leaf = (_class_part(rate, resolved.protocol, log) for rate in (resolved.link_gbps, cage))
    return (
        Fitted(node, leaf, log.catalog.find("optics", CORD, Optic), None) if node and leaf else None
    )


def _class_part(gbps: float, protocol: str, log: InputLog) -> Optic | None:
    """Return a generic transceiver at a speed."""
    return next((r for r in _rows(log, LIGHT, gbps, protocol) if r.vendor == "industry"), None)


def _of_family(family: Fabric, log: InputLog) -> Fitted:
    fiber = _row(log, family.fiber) if family.fiber else None
    return Fitted(_row(log, family.node_optic), _row(log, family.leaf_optic), fiber, family.id)


def tier_choices(
    resolved: ResolvedFabric,
    parts: Fitted,
    found: dict[str, Lengths],
    network: Network,
    log: InputLog,
) -> Chosen:
    """Choose the media of every tier by stock length.

    Raises
    ------
    InputError
        When no medium in the catalog at that speed reaches the length.
    MissingError
        When a part has no price.
    """
    chosen = Chosen()
    problems: list[Problem] = []
    for tier, lengths in found.items():
        near = _near(resolved, parts, tier, network, log, chosen.notes)
        most = max(m.reach_m for m, *_ in near)
        chosen.tiers[tier] = []
        for i in np.flatnonzero(lengths.counts).tolist():
            meters = float(STOCK_M[i]) if i < STOCK_M.size else lengths.longest_m
            # media of the family or the request come first; parts with a longer reach only beyond
            # it
            media = near if meters <= most else (_far(resolved, parts, tier, log) or near)
            try:
                best = pick([m for m, *_ in media], meters)
            except ValueError as error:
                problems.append(_too_far(resolved, tier, meters, str(error), log))
                break
            medium, ends, cable, each = next(m for m in media if m[0] is best)
            chosen.tiers[tier].append(
                Choice(meters, int(lengths.counts[i]), medium, ends, cable, each)
            )
    if problems:
        raise InputError(problems)
    chosen.notes = sorted(set(chosen.notes))
    return chosen


Offer = tuple[Medium, tuple[End, End] | None, Optic | None, int]


def _link(resolved: ResolvedFabric, tier: str) -> float:
    return resolved.link_gbps if tier == "node-leaf" else resolved.between_gbps


def _cage(model: Switch | None, link: float) -> float:
    return max(model.cage_gbps.value if model and model.cage_gbps else link, link)


def _models(resolved: ResolvedFabric) -> dict[str, Switch | None]:
    return {"leaf": resolved.leaf, "spine": resolved.spine, "core": resolved.core}


def _near(
    resolved: ResolvedFabric,
    parts: Fitted,
    tier: str,
    network: Network,
    log: InputLog,
    notes: list[str],
) -> list[Offer]:
    """Return the family's transceivers, or the requested media."""
    ends = [_end(resolved, parts, tier, side, log) for side in sides(tier)]
    if resolved.request.media in SWAPPED:
        ends = [_swapped(resolved, end, log, notes) for end in ends]
    usual = _both(ends[0], ends[1], parts.fiber)
    if resolved.request.media == "family" and resolved.family:
        return [usual, *_named(resolved, resolved.family, tier, log)]
    if resolved.request.media not in ("reach", "aoc"):
        return [usual]
    own = _cables(resolved, parts, tier, network, log)
    near = own if resolved.request.media == "aoc" else [usual, *own]
    if not near:
        notes.append(f"{tier}: no active optical cable fits both ends, so transceivers are used")
    return near or [usual]


def _named(resolved: ResolvedFabric, family: Fabric, tier: str, log: InputLog) -> list[Offer]:
    """Return the family's cables that fill the cage of the upper end."""
    model = _models(resolved).get(sides(tier)[1])
    if model is not None and model.co_packaged:  # fiber alone
        return []
    upper = _cage(model, _link(resolved, tier))
    rows = [row for name in family.cables if (row := _row(log, name)).rate_gbps.value == upper]
    return [_own(row, max(round(upper / _link(resolved, tier)), 1)) for row in rows]


def _end(resolved: ResolvedFabric, parts: Fitted, tier: str, side: str, log: InputLog) -> End:
    """Return the transceiver that fits the cage of one end."""
    link = _link(resolved, tier)
    if side == "node":
        twin = parts.leaf.rate_gbps.value == resolved.ports_per_cage * link
        return (
            End(parts.leaf, resolved.ports_per_cage)
            if resolved.ports_per_cage > 1 and twin
            else End(parts.node, 1)
        )
    model = _models(resolved)[side]
    if model is not None and model.co_packaged:
        return _inside(model, log)
    cage = _cage(model, link)
    row = (
        parts.leaf
        if parts.leaf.rate_gbps.value == cage
        else _class_part(cage, resolved.protocol, log)
    )
    if row is None:
        msg = f"no {cage:g} Gb/s transceiver for the cages of {model.id if model else side}"
        raise MissingError(msg)
    return End(row, max(round(cage / link), 1))


def _inside(model: Switch, log: InputLog) -> End:
    """Return the optics inside a co-packaged switch, one for each port."""
    kinds = [r for r in log.catalog.table("optics", Optic).values() if r.kind in INSIDE]
    cage = model.cage_gbps.value if model.cage_gbps else 0.0
    if not kinds:
        msg = f"the catalog has no co-packaged optics for the reach of {model.id}"
        raise MissingError(msg)
    row = min(kinds, key=lambda r: abs(r.rate_gbps.value - cage))
    return End(row, 1, inside=True)


def _swapped(resolved: ResolvedFabric, end: End, log: InputLog, notes: list[str]) -> End:
    """Return the end in another technology, or unchanged if the catalog has none at that speed."""
    if end.inside:
        return end
    gbps = end.row.rate_gbps.value
    row = next(iter(_rows(log, (resolved.request.media,), gbps, resolved.protocol)), None)
    if row is None or row.price_usd is None:
        missing = f"the catalog has no {resolved.request.media} at {gbps:g} Gb/s"
        notes.append(f"{missing}, so {end.row.id} is used")
        return end
    return End(row, end.ports)


def _far(resolved: ResolvedFabric, parts: Fitted, tier: str, log: InputLog) -> list[Offer]:
    """Return transceivers of the same speeds and lanes with a longer reach."""
    usual = [_end(resolved, parts, tier, side, log) for side in sides(tier)]
    options = [
        [
            End(row, end.ports)
            for row in _rows(log, LIGHT, end.row.rate_gbps.value, resolved.protocol)
            if row.reach_m and row.price_usd and row.lane_gbps == end.row.lane_gbps
        ]
        if not end.inside
        else [end]
        for end in usual
    ]
    return [_both(a, b, parts.fiber) for a, b in itertools.product(*options)]


def _cables(
    resolved: ResolvedFabric, parts: Fitted, tier: str, network: Network, log: InputLog
) -> list[Offer]:
    """Return cables with fixed ends: one fills a switch's cage and splits to nodes.

    A cable with several links between switches needs as many links between the same two switches.
    InfiniBand has no retimed copper.
    """
    link = _link(resolved, tier)
    models = [_models(resolved).get(side) for side in sides(tier)]
    if any(m is not None and m.co_packaged for m in models):  # fiber alone
        return []
    lower, upper = (_cage(m, link) for m in models)
    each = max(round(upper / link), 1)
    if tier != "node-leaf" and (lower != upper or each > _parallel_links(network, tier)):
        return []
    kinds: tuple[str, ...] = (
        ("aoc",) if resolved.request.media == "aoc" else ("dac", "acc", "aec", "aoc")
    )
    if resolved.protocol == "infiniband":
        kinds = tuple(k for k in kinds if k != "aec")
    far_ends = each if tier == "node-leaf" and resolved.ports_per_cage != each else 1
    rows = [
        r
        for r in _rows(log, kinds, upper, resolved.protocol)
        if r.lane_gbps == parts.leaf.lane_gbps
    ]
    rows = [r for r in rows if r.split in (None, far_ends)]
    return [_own(row, each) for row in rows if row.price_usd and row.reach_m]


def _parallel_links(network: Network, tier: str) -> int:
    """Return the smallest number of links between two switches of a tier."""
    if tier != "leaf-spine" or network.wiring is None:
        return 1
    return min(network.plan.leaf_up // pod.spines for pod in network.wiring.pods)


def _rows(log: InputLog, kinds: Sequence[str], gbps: float, protocol: str) -> list[Optic]:
    return [
        row
        for row in log.catalog.table("optics", Optic).values()
        if row.kind in kinds
        and row.rate_gbps.value == gbps
        and (not row.protocols or protocol in row.protocols)
    ]


def _both(lower: End, upper: End, fiber: Optic | None) -> Offer:
    """Return transceivers at both ends, with the fiber."""
    ends = (lower, upper)
    bought = [end for end in ends if not end.inside]
    prices = [[x / end.ports for x in _price(end.row)] for end in bought]
    low, value, high = (sum(p[i] for p in prices) for i in range(3))
    kw = sum(power(end.row) / end.ports for end in bought)
    reach = min(end.row.reach_m.value if end.row.reach_m else 0.0 for end in ends)
    per_m = fiber.usd_per_m.value if fiber and fiber.usd_per_m else 0.0
    value += fiber.price_usd.value if fiber and fiber.price_usd else 0.0
    name = upper.row.id if lower.row is upper.row else f"{lower.row.id} + {upper.row.id}"
    return Medium(name, upper.row.kind, reach, value, low, high, kw, per_m), ends, fiber, 1


def _own(row: Optic, each: int) -> Offer:
    low, value, high = (u / each for u in _price(row))
    reach = row.reach_m.value if row.reach_m else 0.0
    return Medium(row.id, row.kind, reach, value, low, high, power(row) / each), None, row, each


def _price(row: Optic) -> tuple[float, float, float]:
    if row.price_usd is None:
        msg = f"no value for optics.{row.id}.price_usd"
        raise MissingError(msg)
    low, high = row.price_usd.bounds
    return low, row.price_usd.value, high


def power(row: Optic) -> float:
    """Return the power of one transceiver, or of a cable with both ends [kW]."""
    figure: Quantity | None = row.max_kw or row.typical_kw
    if figure is None:
        msg = f"no value for optics.{row.id}.max_kw"
        raise MissingError(msg)
    return figure.value


def _row(log: InputLog, name: str) -> Optic:
    row = log.catalog.find("optics", name, Optic)
    if row is None:
        msg = f"the catalog has no optic {name}"
        raise MissingError(msg)
    return row


def _too_far(
    resolved: ResolvedFabric, tier: str, meters: float, cause: str, log: InputLog
) -> Problem:
    """Report that no medium reaches, with a lower speed of the same switch or a shorter length."""
    speed = _link(resolved, tier)
    ports = {float(p) for p in resolved.leaf.ports} if resolved.leaf else set()
    slower = [
        (row.rate_gbps.value, row.id)
        for row in log.catalog.table("optics", Optic).values()
        if row.kind in LIGHT
        and row.reach_m
        and row.reach_m.value >= meters
        and row.price_usd
        and row.rate_gbps.value < speed
        and row.rate_gbps.value in ports
    ]
    if tier != "node-leaf" and slower:
        works, part = max(slower)
        help_text = f"use --uplink-gbps {works:g}: {part} reaches {meters:g} m"
    else:
        help_text = (
            "shorten the cables: --leaf-placement unit or rack, a larger --racks-per-row, or a shorter "
            "--cable-length-m"
        )
    return Problem("DC054", f"{tier} at {speed:g} Gb/s: {cause}", Place("fabric"), help=help_text)
