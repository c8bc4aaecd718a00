"""Media that fit both ends of a tier: transceivers with fiber, and cables with fixed ends."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from dcplan.answers.fabric.media.optics import Fitted, cage_gbps, optic, power_kw, price_usd
from dcplan.answers.fabric.resolve import ResolvedFabric
from dcplan.catalog.schema import Fabric, Optic, Switch
from dcplan.fabric.media import Medium
from dcplan.fabric.topology.networks import Network
from dcplan.inputs.log import InputLog
from dcplan.inputs.network_parts import (
    LIGHT,
    MissingError,
    class_part,
    links_per_cord,
    node_transceiver,
    optics_of,
)

SWAPPED = ("lpo", "lro")
INSIDE = ("cpo",)
MOST_SPLIT = 2
"""Far ends of a cable whose catalog row names none: it is sold straight and split in two."""
SIDES = {"local": ("leaf", "leaf"), "global": ("leaf", "leaf")}
"""Ends of a dragonfly's links; for all others, the tier's name contains them."""


@dataclass(frozen=True)
class End:
    """Transceiver of one end, and links per transceiver."""

    row: Optic
    ports: int
    inside: bool = False
    """Whether it is a part of a co-packaged switch, which includes its price and power."""


Offer = tuple[Medium, tuple[End, End] | None, Optic | None, float]
"""A medium, its transceivers, its fiber or cable, and the links of one cable."""


def sides(tier: str) -> tuple[str, str]:
    """Return the lower and upper end of a tier's links."""
    if tier in SIDES:
        return SIDES[tier]
    lower, upper = tier.split("-")
    return lower, upper


def link_gbps(resolved: ResolvedFabric, tier: str) -> float:
    """Return the rate of a link of a tier."""
    return resolved.link_gbps if tier == "node-leaf" else resolved.between_gbps


def _models(resolved: ResolvedFabric) -> dict[str, Switch | None]:
    return {"leaf": resolved.leaf, "spine": resolved.spine, "core": resolved.core}


def near_offers(
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
    upper = cage_gbps(model, link_gbps(resolved, tier))
    rows = [row for name in family.cables if (row := optic(log, name)).rate_gbps.value == upper]
    return [_own(row, max(round(upper / link_gbps(resolved, tier)), 1)) for row in rows]


def _end(resolved: ResolvedFabric, parts: Fitted, tier: str, side: str, log: InputLog) -> End:
    """Return the transceiver that fits the cage of one end."""
    link = link_gbps(resolved, tier)
    if side == "node":
        return _node_end(resolved, parts, link, log)
    model = _models(resolved)[side]
    if model is not None and model.co_packaged:
        return _inside(model, link, log)
    cage = cage_gbps(model, link)
    row = (
        parts.leaf
        if parts.leaf.rate_gbps.value == cage
        else class_part(log.catalog, cage, resolved.protocol)
    )
    if row is None:
        msg = f"no {cage:g} Gb/s transceiver for the cages of {model.id if model else side}"
        raise MissingError(msg)
    return End(row, max(round(cage / link), 1))


def _node_end(resolved: ResolvedFabric, parts: Fitted, link: float, log: InputLog) -> End:
    """Return the transceiver of a NIC, which carries all links of its cage."""
    own = (parts.leaf, parts.node)
    each = resolved.ports_per_cage
    return End(*node_transceiver(log.catalog, own, resolved.protocol, link, each))


def _inside(model: Switch, link: float, log: InputLog) -> End:
    """Return the optics inside a co-packaged switch, one for each port."""
    kinds = [r for r in log.catalog.table("optics", Optic).values() if r.kind in INSIDE]
    cage = model.cage_gbps.value if model.cage_gbps else 0.0
    if not kinds:
        msg = f"the catalog has no co-packaged optics for the reach of {model.id}"
        raise MissingError(msg)
    row = min(kinds, key=lambda r: abs(r.rate_gbps.value - cage))
    return End(row, max(round(row.rate_gbps.value / link), 1), inside=True)


def _swapped(resolved: ResolvedFabric, end: End, log: InputLog, notes: list[str]) -> End:
    """Return the end in another technology, or unchanged if the catalog has none at that speed."""
    if end.inside:
        return end
    gbps = end.row.rate_gbps.value
    row = next(
        iter(optics_of(log.catalog, (resolved.request.media,), gbps, resolved.protocol)), None
    )
    if row is None or row.price_usd is None:
        missing = f"the catalog has no {resolved.request.media} at {gbps:g} Gb/s"
        notes.append(f"{missing}, so {end.row.id} is used")
        return end
    return End(row, end.ports)


def far_offers(resolved: ResolvedFabric, parts: Fitted, tier: str, log: InputLog) -> list[Offer]:
    """Return transceivers of the same speeds and lanes with a longer reach."""
    usual = [_end(resolved, parts, tier, side, log) for side in sides(tier)]
    options = [
        [
            End(row, end.ports)
            for row in optics_of(log.catalog, LIGHT, end.row.rate_gbps.value, resolved.protocol)
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
    link = link_gbps(resolved, tier)
    models = [_models(resolved).get(side) for side in sides(tier)]
    if any(m is not None and m.co_packaged for m in models):  # fiber alone
        return []
    lower, upper = (cage_gbps(m, link) for m in models)
    each = max(round(upper / link), 1)
    if tier != "node-leaf" and (lower != upper or each > _parallel_links(network, tier)):
        return []
    kinds: tuple[str, ...] = (
        ("aoc",) if resolved.request.media == "aoc" else ("dac", "acc", "aec", "aoc")
    )
    if resolved.protocol == "infiniband":
        kinds = tuple(k for k in kinds if k != "aec")
    far_ends = max(each // resolved.ports_per_cage, 1) if tier == "node-leaf" else 1
    rows = [
        r
        for r in optics_of(log.catalog, kinds, upper, resolved.protocol)
        if r.lane_gbps == parts.leaf.lane_gbps
    ]
    either = None if far_ends <= MOST_SPLIT else far_ends
    rows = [r for r in rows if r.split in (either, far_ends)]
    return [_own(row, each) for row in rows if row.price_usd and row.reach_m]


def _parallel_links(network: Network, tier: str) -> int:
    """Return the smallest number of links between two switches of a tier."""
    if tier != "leaf-spine" or network.wiring is None:
        return 1
    return min(network.plan.leaf_up // pod.spines for pod in network.wiring.pods)


def _both(lower: End, upper: End, fiber: Optic | None) -> Offer:
    """Return transceivers at both ends, with the fiber; links of one connector share a cord."""
    ends = (lower, upper)
    shared = links_per_cord([(end.row, end.ports) for end in ends])
    bought = [end for end in ends if not end.inside]
    prices = [[x / end.ports for x in price_usd(end.row)] for end in bought]
    low, value, high = (sum(p[i] for p in prices) for i in range(3))
    kw = sum(power_kw(end.row) / end.ports for end in bought)
    reach = min(end.row.reach_m.value if end.row.reach_m else 0.0 for end in ends)
    per_m = (fiber.usd_per_m.value if fiber and fiber.usd_per_m else 0.0) / shared
    value += (fiber.price_usd.value if fiber and fiber.price_usd else 0.0) / shared
    name = upper.row.id if lower.row is upper.row else f"{lower.row.id} + {upper.row.id}"
    medium = Medium(name, upper.row.kind, reach, value, low, high, kw, per_m)
    return medium, ends, fiber, shared


def _own(row: Optic, each: int) -> Offer:
    low, value, high = (u / each for u in price_usd(row))
    reach = row.reach_m.value if row.reach_m else 0.0
    return Medium(row.id, row.kind, reach, value, low, high, power_kw(row) / each), None, row, each
