"""Expansion of a network by phases, and links between halls and sites."""

from __future__ import annotations

import itertools
from dataclasses import replace

from dcplan.answers.common.catalog_rows import named
from dcplan.answers.fabric.design import sized
from dcplan.answers.fabric.resolve import ResolvedFabric
from dcplan.catalog.schema import Optic
from dcplan.errors import InputError, Place, Problem
from dcplan.fabric.interconnect import Interconnect, Line, interconnect
from dcplan.fabric.topology.growth import phases
from dcplan.fabric.topology.networks import Network
from dcplan.inputs.log import InputLog
from dcplan.result import Metric, Table
from dcplan.specs.fabric import use as specs
from dcplan.units import METERS_PER_KM


def growth_table(resolved: ResolvedFabric) -> Table:
    """Return the purchases of each phase under two expansion methods.

    Raises
    ------
    InputError
        When sizes do not increase, or a size has no network.
    """
    hosts = resolved.attached.nodes // resolved.request.nodes
    sizes = [resolved.attached.nodes, *(n * hosts for n in resolved.request.growth_nodes)]
    if any(b <= a for a, b in itertools.pairwise(sizes)):
        cause = f"sizes must increase: {', '.join(str(n) for n in sizes)} nodes"
        raise InputError([Problem("DC050", cause, Place("--growth-nodes"))])
    steps = [(n, _of_size(resolved, n)) for n in sizes]
    if any(network.wiring is None for _, network in steps):
        cause = (
            f"growth of a {resolved.topology} network is not supported, because it has no cable "
            "list"
        )
        raise InputError([Problem("DC050", cause, Place("--growth-nodes"))])
    last = replace(resolved, ports=replace(resolved.ports, tiers=steps[-1][1].plan.tiers))
    settled = [(n, _of_size(last, n)) for n in sizes]
    return specs.EXPANSION.table(
        specs.ExpansionRow(
            method=phase.way,
            total_nodes=phase.nodes,
            leaf_switches_added=phase.leaf,
            spine_switches_added=phase.spine,
            core_switches_added=phase.core,
            node_links_added=phase.node_links,
            switch_links_added=phase.between_links,
            links_recabled=phase.recabled_links,
            switches_removed=phase.spare_switches,
            spine_ports_unused=phase.idle_spine_ports,
        )
        for phase in phases(steps, settled)
    )


def _of_size(resolved: ResolvedFabric, nodes: int) -> Network:
    return sized(replace(resolved, attached=replace(resolved.attached, nodes=nodes)))


def join(
    resolved: ResolvedFabric, bisection_gbps: float, log: InputLog
) -> tuple[Table, dict[str, Metric]]:
    """Return ports, fiber, lease and round-trip time of the links to another hall or site.

    The default capacity is a tenth of the network's bisection bandwidth.

    Raises
    ------
    InputError
        When the optic is unknown or does not reach; the error names one that does.
    """
    request = resolved.request
    air_km, gbps = request.site_link_km or 0.0, request.site_link_gbps or bisection_gbps / 10.0
    row = named(log.catalog, "optics", request.site_link_optic, Optic, "--site-link-optic")
    if gbps <= 0.0:
        cause = (
            "the network has no bisection bandwidth, so the capacity between the sites is unknown"
        )
        problem = Problem("DC050", cause, Place("--site-link-km"), help="--site-link-gbps 400")
        raise InputError([problem])
    route = air_km * log.parameter("network", "route-factor")
    try:
        found = interconnect(gbps, route, _line(row, log))
    except ValueError as error:
        cause = f"{row.id}: {error} ({air_km:g} km in a straight line is {route:g} km of fiber)"
        problem = Problem("DC054", cause, Place("--site-link-km"), help=_reaching(route, log))
        raise InputError([problem]) from error
    nic_gbps = resolved.attached.nodes * resolved.attached.nics_per_node * resolved.nic_gbps
    metrics = {
        **specs.SITE_LINK_RTT_US(found.rtt_us),
        **specs.SITE_LINK_CAPEX_USD(found.capex_usd),
        **specs.SITE_LINK_LEASE_USD(found.lease_usd_per_year),
        **specs.SITE_LINK_OVERSUBSCRIPTION(nic_gbps / found.gbps),
    }
    return specs.SITE_LINKS.table([_link_row(row, route, found)]), metrics


def _link_row(row: Optic, route_km: float, found: Interconnect) -> specs.SiteLinkRow:
    return specs.SiteLinkRow(
        port=row.id,
        gbps=found.gbps,
        route_km=route_km,
        links=found.links,
        ports=found.ports,
        fibre_pairs=found.fibre_pairs,
        amplifiers=found.amplifiers,
        capex_usd=found.capex_usd,
        lease_usd_per_year=found.lease_usd_per_year,
        power_kw=found.power_kw,
        rtt_us=found.rtt_us,
    )


def _reaching(route_km: float, log: InputLog) -> str:
    """Return the flag for an optic with sufficient reach."""
    rows = log.catalog.table("optics", Optic).values()
    able = [r.id for r in rows if (r.reach_amplified_m or r.reach_m) and _far_km(r) >= route_km]
    if able:
        return f"--site-link-optic {able[0]}"
    return "add a site between them, or use a long-haul line system (not supported)"


def _far_km(row: Optic) -> float:
    reach = row.reach_amplified_m or row.reach_m
    return reach.value / METERS_PER_KM if reach else 0.0


def _line(row: Optic, log: InputLog) -> Line:
    power = row.max_kw or row.typical_kw
    if row.price_usd is None or power is None or row.reach_m is None:
        cause = f"optics row {row.id} has no price, power or reach"
        raise InputError(
            [
                Problem(
                    "DC050",
                    cause,
                    Place("--site-link-optic"),
                    help="--site-link-optic coherent-400zr",
                )
            ]
        )
    return Line(
        port_gbps=row.rate_gbps.value,
        port_usd=log.take(f"optics.{row.id}.price_usd", row.price_usd),
        port_kw=log.take(f"optics.{row.id}.max_kw", power),
        plain_reach_km=log.take(f"optics.{row.id}.reach_m", row.reach_m) / METERS_PER_KM,
        amplified_reach_km=_far_km(row),
        pair_gbps=log.parameter("network", "wavelength-gbps-per-pair-max"),
        span_km=log.parameter("network", "amplifier-span-km"),
        amplifier_usd=log.parameter("network", "amplifier-usd"),
        mux_pair_usd=log.parameter("network", "mux-pair-usd"),
        lease_usd_per_pair_km_month=log.parameter("network", "fibre-lease-usd-per-pair-km-month"),
        fibre_us_per_km=log.parameter("network", "fibre-us-per-km"),
    )
