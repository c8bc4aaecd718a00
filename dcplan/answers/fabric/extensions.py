"""Growth of a network by phases, and links between halls and sites."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import astuple, replace

from dcplan.answers.common.catalog_rows import named
from dcplan.answers.fabric.design import sized
from dcplan.answers.fabric.resolve import Asked
from dcplan.catalog.schema import Optic
from dcplan.errors import InputError, Place, Problem
from dcplan.fabric.interconnect import Line, interconnect
from dcplan.fabric.topology.growth import phases
from dcplan.inputs.log import Ledger
from dcplan.result import Metric, Table

COLUMNS = (
    "way",
    "nodes_in_all",
    "leaf_added",
    "spine_added",
    "core_added",
    "node_links_added",
    "links_between_added",
    "links_recabled",
    "switches_left_over",
    "spine_ports_idle",
)


def growth_table(asked: Asked, later: Sequence[int]) -> Table:
    """What each phase buys, two ways.

    Raises
    ------
    InputError
        When sizes do not grow, or a size has no network.
    """
    hosts = asked.attached.nodes // asked.wish.nodes
    sizes = [asked.attached.nodes, *(n * hosts for n in later)]
    if any(b <= a for a, b in itertools.pairwise(sizes)):
        cause = f"sizes must grow: {', '.join(str(n) for n in sizes)} nodes"
        raise InputError([Problem("DC050", cause, Place("--growth-nodes"))])
    steps = [(n, sized(replace(asked, attached=replace(asked.attached, nodes=n)))) for n in sizes]
    if any(network.wiring is None for _, network in steps):
        cause = f"growth of a {asked.topology} network is not supported: its cables are not named one by one"
        raise InputError([Problem("DC050", cause, Place("--growth-nodes"))])
    last = replace(asked, ports=replace(asked.ports, tiers=steps[-1][1].plan.tiers))
    settled = [(n, sized(replace(last, attached=replace(asked.attached, nodes=n)))) for n in sizes]
    return Table(COLUMNS, tuple(astuple(phase) for phase in phases(steps, settled)))


METRES_PER_KM = 1000.0


def unsupported(cause: str) -> InputError:
    """A request that is plainly not supported."""
    return InputError([Problem("DC050", cause, Place("fabric"))])


def join(
    asked: Asked, air_km: float, gbps: float, port: str, ledger: Ledger
) -> tuple[Table, dict[str, Metric]]:
    """Ports, fibre, lease and round trip of a capacity over a distance.

    Raises
    ------
    InputError
        When the optic is unknown or does not reach; the message names one that does.
    """
    rows = ledger.catalog.table("optics", Optic)
    row = named(ledger.catalog, "optics", port, Optic, "--join-port")
    if not 0 < air_km <= 20_000 or not 0 < gbps <= 1e9:
        raise InputError(
            [Problem("DC050", f"{gbps:g} Gb/s over {air_km:g} km", Place("--join-km"))]
        )
    route = air_km * ledger.parameter("network", "route-factor")
    line = _line(row, ledger)
    try:
        found = interconnect(gbps, route, line)
    except ValueError as error:
        able = [
            r.id
            for r in rows.values()
            if (r.reach_amplified_m or r.reach_m) and _far_km(r) >= route
        ]
        cause = f"{row.id}: {error} ({air_km:g} km of air line are {route:g} km of fibre)"
        mend = (
            f"--join-port {able[0]}"
            if able
            else "a site between them, or a long-haul line system (not sized)"
        )
        raise InputError([Problem("DC053", cause, Place("--join-km"), help=mend)]) from error
    columns = (
        "port",
        "gbps",
        "route_km",
        "links",
        "ports",
        "fibre_pairs",
        "amplifiers",
        "capex_usd",
        "lease_usd_per_year",
        "power_kw",
        "rtt_us",
    )
    cells = (
        row.id,
        found.gbps,
        route,
        found.links,
        found.ports,
        found.fibre_pairs,
        found.amplifiers,
        found.capex_usd,
        found.lease_usd_per_year,
        found.power_kw,
        found.rtt_us,
    )
    ratio = (
        asked.attached.nodes
        * asked.attached.nics_per_node
        * asked.link_gbps
        * asked.ports.planes
        / found.gbps
    )
    metrics = {
        "join.rtt_us": Metric(found.rtt_us, "us", "Round trip in the fibre"),
        "join.capex_usd": Metric(
            found.capex_usd, "USD", "Ports, multiplexers and amplifiers at both ends and between"
        ),
        "join.lease_usd_per_year": Metric(found.lease_usd_per_year, "USD", "Leased fibre"),
        "join.oversubscription": Metric(
            ratio, "", "NIC rate of all nodes over the capacity between the places"
        ),
    }
    return Table(columns, (cells,)), metrics


def _far_km(row: Optic) -> float:
    reach = row.reach_amplified_m or row.reach_m
    return reach.value / METRES_PER_KM if reach else 0.0


def _line(row: Optic, ledger: Ledger) -> Line:
    power = row.max_kw or row.typical_kw
    if row.price_usd is None or power is None or row.reach_m is None:
        cause = f"optics row {row.id} has no price, power or reach"
        raise InputError(
            [Problem("DC050", cause, Place("--join-port"), help="--join-port coherent-400zr")]
        )
    return Line(
        port_gbps=row.rate_gbps.value,
        port_usd=ledger.take(f"optics.{row.id}.price_usd", row.price_usd),
        port_kw=ledger.take(f"optics.{row.id}.max_kw", power),
        plain_reach_km=ledger.take(f"optics.{row.id}.reach_m", row.reach_m) / METRES_PER_KM,
        amplified_reach_km=_far_km(row),
        pair_gbps=ledger.parameter("network", "wavelength-gbps-per-pair-max"),
        span_km=ledger.parameter("network", "amplifier-span-km"),
        amplifier_usd=ledger.parameter("network", "amplifier-usd"),
        mux_pair_usd=ledger.parameter("network", "mux-pair-usd"),
        lease_usd_per_pair_km_month=ledger.parameter(
            "network", "fibre-lease-usd-per-pair-km-month"
        ),
        fibre_us_per_km=ledger.parameter("network", "fibre-us-per-km"),
    )
