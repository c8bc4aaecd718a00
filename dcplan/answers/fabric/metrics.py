"""Metrics of a network: counts, bisection, price, failures."""

from __future__ import annotations

from collections.abc import Sequence

from dcplan.answers.fabric.bom import OPTICS, Kind, Totals
from dcplan.answers.fabric.built import Built
from dcplan.answers.fabric.media.choice import Choice
from dcplan.answers.fabric.resolve import ResolvedFabric
from dcplan.answers.fabric.side_networks import Priced
from dcplan.catalog.schema import Component
from dcplan.fabric.floor.lengths import Lengths
from dcplan.fabric.topology.direct import GROUP_SWITCHES
from dcplan.fabric.topology.networks import Network
from dcplan.inputs.log import InputLog
from dcplan.inputs.recovery import rates_for
from dcplan.reliability.rates import job_stops
from dcplan.result import Metric
from dcplan.specs.fabric import network as specs
from dcplan.units import GBPS_PER_TBPS, METERS_PER_KM, W_PER_KW

FAILURES = {"link": specs.LINK_FAILURES, "switch": specs.SWITCH_FAILURES}


def bisection_gbps(resolved: ResolvedFabric, network: Network) -> float:
    """Return the bisection bandwidth, one way, between two halves of the nodes.

    It is half of the narrowest tier between the halves. Core links count if there is more than one
    pod. A dragonfly counts the global links between groups on different sides, floor(G^2 / 4) of G
    (G - 1) / 2; two connected switches count all links between them.
    """
    c, attached = network.counts, resolved.attached
    nics = attached.nodes // 2 * attached.nics_per_node * resolved.ports.planes
    nodes = nics * resolved.link_gbps
    if network.taper is not None:
        groups = c.leaf // GROUP_SWITCHES
        across = groups**2 // 4 / (groups * (groups - 1) / 2)
        return min(nodes, c.spine_core_links * across * resolved.link_gbps)
    if c.leaf_spine_links and not c.spine:
        return min(nodes, c.leaf_spine_links * resolved.between_gbps)
    pods = sum(p.pods for p in network.wiring.pods) if network.wiring else 1
    tiers = [c.leaf_spine_links] + ([c.spine_core_links] if pods > 1 else [])
    return min([nodes, *(n * resolved.between_gbps / 2 for n in tiers if n)])


def counts_of(resolved: ResolvedFabric, network: Network) -> dict[str, Metric]:
    """Return switches, links, bisection bandwidth and path diversity."""
    c, plan = network.counts, network.plan
    if network.taper is not None:
        leaf, local, far = "Switches", "Local links within groups", "Global links between groups"
    else:
        leaf = "Leaf switches"
        local, far = "Links between leaves and spines", "Links between spines and core switches"
    metrics = {
        **specs.LEAF(c.leaf, label=leaf),
        **specs.SPINE(c.spine),
        **specs.CORE(c.core),
        **specs.SWITCHES(c.switches),
        **specs.NODE_LEAF_LINKS(c.node_leaf_links),
        **specs.LEAF_SPINE_LINKS(c.leaf_spine_links, label=local),
        **specs.SPINE_CORE_LINKS(c.spine_core_links, label=far),
        **specs.BISECTION(bisection_gbps(resolved, network) / GBPS_PER_TBPS),
    }
    if network.taper is not None:
        return metrics | specs.TAPER(network.taper)
    paths = resolved.ports.planes * (plan.leaf_up if plan.tiers > 1 else 1)
    return metrics | specs.PATH_DIVERSITY(paths)


def failures(network: Network, log: InputLog) -> dict[str, Metric]:
    """Return how often a network failure interrupts a job.

    ``train`` and ``plan`` use the same rates; failures of optics count as link failures.
    """
    c = network.counts
    links = c.node_leaf_links + c.leaf_spine_links + c.spine_core_links
    amounts = {"link": links, "switch": c.switches}
    metrics: dict[str, Metric] = {}
    for rate in rates_for(log.catalog, None):
        if rate.role not in amounts:
            continue
        row = log.catalog.get("components", rate.id, Component)
        log.take(f"components.{rate.id}.stops_per_year", row.stops_per_year)
        stops = job_stops([rate], amounts)
        failed = FAILURES[rate.role]
        metrics |= failed(stops.per_day, low=stops.low_per_day, high=stops.high_per_day)
    return metrics


def side_networks(found: Sequence[Priced]) -> dict[str, Metric]:
    """Return the switches of each storage or management network."""
    metrics: dict[str, Metric] = {}
    for p in found:
        label = f"Switches of the {p.name} network"
        metrics |= specs.SIDE_SWITCHES(p.side.switches, p.name.replace("-", "_"), label=label)
    return metrics


def peak_kw(built: Built) -> dict[str, Metric]:
    """Return the maximum power of switches and transceivers, for the sizing of circuits.

    It is available if every switch has a maximum power, and at least the typical power of switches
    with the maximum of their transceivers: a maximum of a switch with optics may be measured with
    others than those of the network.
    """
    rows = [line for line in built.bill if line.kind is Kind.SWITCH]
    tiers = zip(built.resolved.models, built.network.fills.tiers, strict=True)
    models = [m for m, fills in tiers if m and fills]
    inside = {m.max_includes_optics for m in models}
    if len(inside) > 1 or any(m.max_kw is None or m.cards for m in models):
        return {}
    typical = Totals.of(built.bill).kw
    total = sum(
        m.max_kw.value * line.count for m, line in zip(models, rows, strict=True) if m.max_kw
    )
    counted = (Kind.NODE_OPTIC,) if inside == {True} else OPTICS
    optics = sum(x.kw for x in built.bill if x.kind in counted)
    cables = sum(x.kw for x in built.bill if x.kind is Kind.CABLE)
    return specs.PEAK_KW(max(total + (optics + cables), typical))


def installed_usd(built: Built) -> float:
    """Return the price of all networks with their ancillary equipment; 0 if unknown."""
    t, extras = built.totals, Totals.of(built.extras)
    if t is None:
        return 0.0
    return t.price.value + extras.price.value + sum(p.usd or 0.0 for p in built.side_networks)


def prices(built: Built) -> dict[str, Metric]:
    """Return sums of the bill of materials and of the ancillary equipment."""
    t, extras = built.totals, Totals.of(built.extras)
    if t is None:
        return {}
    price, low, high = t.price.value, t.price.low, t.price.high
    meters = sum(_cable_m(x, built.chosen.tiers.get(tier, [])) for tier, x in built.lengths.items())
    metrics = {
        **peak_kw(built),
        **specs.TRANSCEIVERS(t.transceivers),
        **specs.POWER_KW(t.kw),
        **specs.CAPEX_USD(price, low=low, high=high),
        **specs.ANCILLARY_USD(extras.price.value, low=extras.price.low, high=extras.price.high),
        **specs.INSTALLED_USD(installed_usd(built)),
        **specs.INSTALLED_KW(t.kw + sum(p.kw or 0.0 for p in built.side_networks)),
        **specs.RACK_UNITS(t.rack_units),
        **specs.WEIGHT_KG(t.kg),
        **specs.CABLE_KM(meters / METERS_PER_KM),
    }
    gbps = bisection_gbps(built.resolved, built.network)
    if gbps:
        metrics |= specs.USD_PER_BISECTION_GBPS(price / gbps)
    if built.resolved.accelerators:
        each = built.resolved.accelerators
        metrics |= specs.USD_PER_ACCELERATOR(price / each)
        metrics |= specs.W_PER_ACCELERATOR(t.kw / each * W_PER_KW)
    return metrics


def _cable_m(tier: Lengths, choices: list[Choice]) -> float:
    """Return the total cable length if some cables contain several links [m].

    Choices are identified by stock length.
    """
    meters = sum(c.links * c.stock_m for c in choices)
    return tier.total_m * (
        sum(c.links / c.links_each * c.stock_m for c in choices) / meters if meters else 1.0
    )
