"""Metrics of a network: counts, bisection, price, failures."""

from __future__ import annotations

from dcplan.answers.fabric.bom import Totals
from dcplan.answers.fabric.built import Built
from dcplan.answers.fabric.media import Choice
from dcplan.answers.fabric.resolve import Asked
from dcplan.catalog.schema import Component
from dcplan.fabric.floor.lengths import Lengths
from dcplan.fabric.topology.direct import GROUP_SWITCHES
from dcplan.fabric.topology.networks import Network
from dcplan.inputs.log import Ledger
from dcplan.inputs.recovery import rates_for
from dcplan.reliability.rates import job_stops
from dcplan.result import Metric

GBPS_PER_TBPS = 1000.0


def bisection_gbps(asked: Asked, network: Network) -> float:
    """One way between two halves of the nodes: half of the narrowest tier that the halves meet in.

    Cores count where there is more than one pod; of a dragonfly the global links of pairs of groups
    on different sides, floor(G^2 / 4) of G (G - 1) / 2; of two joined switches all links between
    them.
    """
    c, planes = network.counts, asked.ports.planes
    nodes = asked.attached.nodes // 2 * asked.attached.nics_per_node * planes * asked.link_gbps
    if network.taper is not None:
        groups = c.leaf // GROUP_SWITCHES
        across = groups**2 // 4 / (groups * (groups - 1) / 2)
        return min(nodes, c.spine_core_links * across * asked.link_gbps)
    if c.leaf_spine_links and not c.spine:
        return min(nodes, c.leaf_spine_links * asked.between_gbps)
    pods = sum(p.pods for p in network.wiring.pods) if network.wiring else 1
    tiers = [c.leaf_spine_links] + ([c.spine_core_links] if pods > 1 else [])
    return min([nodes, *(n * asked.between_gbps / 2 for n in tiers if n)])


def counts_of(asked: Asked, network: Network) -> dict[str, Metric]:
    """Switches, links, bisection, paths."""
    c = network.counts
    if network.taper is not None:
        names = ("Switches", "Local links inside groups", "Global links between groups")
    else:
        names = (
            "Leaf switches",
            "Links between leaves and spines",
            "Links between spines and cores",
        )
    metrics = {
        "leaf": Metric(c.leaf, "", names[0]),
        "spine": Metric(c.spine, "", "Spine switches"),
        "core": Metric(c.core, "", "Core switches"),
        "switches": Metric(c.switches, "", "All switches"),
        "node_leaf_links": Metric(
            c.node_leaf_links, "", "Links between nodes and leaves, management among them"
        ),
        "leaf_spine_links": Metric(c.leaf_spine_links, "", names[1]),
        "spine_core_links": Metric(c.spine_core_links, "", names[2]),
        "bisection_tbps": Metric(
            bisection_gbps(asked, network) / GBPS_PER_TBPS,
            "Tb/s",
            "One way between two halves of the nodes",
        ),
    }
    if network.taper is not None:
        metrics["taper"] = Metric(network.taper, "", "Injection of a group over its global links")
        return metrics
    metrics["path_diversity"] = Metric(
        asked.ports.planes * (network.plan.leaf_up if network.plan.tiers > 1 else 1),
        "",
        "Shortest paths between two NICs of different leaves that share no link between switches",
    )
    return metrics


def failures(network: Network, ledger: Ledger) -> dict[str, Metric]:
    """How often a part of the network stops a job, by the rates that ``train`` and ``plan`` use;
    optics that fail.
    """
    c = network.counts
    links = c.node_leaf_links + c.leaf_spine_links + c.spine_core_links
    amounts = {"link": links, "switch": c.switches}
    metrics = {}
    for rate in rates_for(ledger.catalog, None):
        if rate.role not in amounts:
            continue
        row = ledger.catalog.get("components", rate.id, Component)
        ledger.take(f"components.{rate.id}.stops_per_year", row.stops_per_year)
        stops = job_stops([rate], amounts)
        metrics[f"{rate.role}_failures_per_day"] = Metric(
            stops.per_day,
            "1/day",
            f"Failures of a {rate.role} that stop a job spread over the network",
            stops.low_per_day,
            stops.high_per_day,
        )
    return metrics


def peak_kw(built: Built) -> dict[str, Metric]:
    """Most that switches and transceivers draw, where every switch has a maximum: what circuits
    are sized for.
    """
    rows = [line for line in built.bill if line.item.endswith("switches")]
    models = [
        m
        for m, fills in zip(built.asked.models, built.network.fills.tiers, strict=True)
        if m and fills
    ]
    inside = {m.max_includes_optics for m in models}
    if len(inside) > 1 or any(m.max_kw is None or m.cards for m in models):
        return {}
    total = sum(
        m.max_kw.value * line.count for m, line in zip(models, rows, strict=True) if m.max_kw
    )
    optics = [x for x in built.bill if x.item.startswith("transceivers")]
    if inside == {True}:
        optics = [x for x in optics if x.item.startswith("transceivers in nodes")]
    total += sum(x.kw for x in optics) + sum(x.kw for x in built.bill if "cables" in x.item)
    return {"peak_kw": Metric(total, "kW", "Switches at their maximum, optics counted once")}


def prices(built: Built) -> dict[str, Metric]:
    """Sums of the bill, and of what stands beside it."""
    t = built.totals
    if t is None:
        return {}
    b = Totals.of(built.extras)
    metrics = peak_kw(built) | {
        "transceivers": Metric(t.transceivers, "", "Transceivers at switches and nodes"),
        "power_kw": Metric(
            t.kw, "kW", "Switches at typical power and transceivers at their maximum"
        ),
        "capex_usd": Metric(
            t.price.value,
            "USD",
            "Switches, transceivers and cables; NICs are the nodes' own",
            t.price.low,
            t.price.high,
        ),
        "beside_usd": Metric(
            b.price.value,
            "USD",
            "Spare transceivers, patch panels and network racks",
            b.price.low,
            b.price.high,
        ),
        "installed_usd": Metric(
            t.price.value + b.price.value + sum(p.usd or 0.0 for p in built.beside),
            "USD",
            "All of it: with storage and management networks, spares, panels and racks",
        ),
        "installed_kw": Metric(
            t.kw + sum(p.kw or 0.0 for p in built.beside), "kW", "All networks, typical switches"
        ),
        "rack_units": Metric(t.rack_units, "U", "Switches"),
        "weight_kg": Metric(t.kg, "kg", "Switches and cables whose weight is known"),
        "cable_km": Metric(
            sum(_cable_m(x, built.chosen.tiers.get(tier, [])) for tier, x in built.lengths.items())
            / 1000.0,
            "km",
            "Cable paths with slack, before rounding up to stock lengths; a cable of several links counts once",
        ),
    }
    gbps = bisection_gbps(built.asked, built.network)
    if gbps:
        metrics["usd_per_bisection_gbps"] = Metric(
            t.price.value / gbps, "USD", "Price of one Gb/s of bisection"
        )
    if built.asked.accelerators:
        each = built.asked.accelerators
        metrics["usd_per_accelerator"] = Metric(
            t.price.value / each, "USD", "Network of one accelerator"
        )
        metrics["w_per_accelerator"] = Metric(
            t.kw / each * 1000.0, "W", "Network of one accelerator"
        )
    return metrics


def _cable_m(tier: Lengths, choices: list[Choice]) -> float:
    """Metres of cables where some carry several links; choices are known by stock length alone."""
    metres = sum(c.links * c.stock_m for c in choices)
    return tier.total_m * (
        sum(c.links / c.links_each * c.stock_m for c in choices) / metres if metres else 1.0
    )
