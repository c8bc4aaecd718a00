"""Ports of switches and of NICs at the speeds of their links."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

from dcplan.answers.fabric.parts.named import Parts
from dcplan.catalog.schema import Fabric, Switch
from dcplan.errors import Place, Problem
from dcplan.fabric.topology.networks import Ports
from dcplan.inputs.network_parts import links_per_cage


def between_gbps(parts: Parts, link: float, topology: str) -> float:
    """Return the speed of links between switches [Gb/s]."""
    leaf = parts.leaf
    cells = leaf.fabric_gbps.value if leaf and leaf.fabric_gbps else None
    return parts.request.uplink_gbps or (cells if topology.endswith("scheduled") else None) or link


def port_counts(
    parts: Parts, link: float, between: float, topology: str, problems: list[Problem]
) -> Ports:
    """Return ports of switches at the speeds of their links."""
    request, leaf = parts.request, parts.leaf
    radix = _radix(parts, link, topology, problems)
    above = parts.spine or (leaf if between != link else None)
    spine = request.spine_radix or _ports(above, between, parts.planes, problems)
    core = request.core_radix or _ports(parts.core, between, parts.planes, problems)
    if topology.endswith("scheduled") and (leaf is None or leaf.fabric_ports is None or not spine):
        cause = (
            "a scheduled fabric needs a family with fabric ports on the leaf and a spine in the "
            "catalog"
        )
        help_text = "--fabric eth-400-scheduled"
        problems.append(Problem("DC050", cause, Place("--fabric"), help=help_text))
    return Ports(
        radix,
        parts.planes,
        leaf_spine=parts.oversubscription,
        spine_core=request.core_oversubscription,
        endpoints_per_leaf=request.endpoints_per_leaf,
        leaf_up=request.leaf_uplinks,
        tiers=request.tiers,
        spine_radix=spine,
        core_radix=core,
        leaves_per_pod=request.leaves_per_pod or 0,
        min_spines=request.min_spines or 1,
    )


def refuse_slow_family(
    parts: Parts, link: float, families: Iterable[Fabric], problems: list[Problem]
) -> None:
    """Add a problem where the links of a family are slower than those of the nodes."""
    own = parts.family
    if own is None or parts.request.switch or link <= own.rate_gbps.value:
        return
    wanted = (own.protocol, link)
    fast = next((f.id for f in families if (f.protocol, f.rate_gbps.value) == wanted), "")
    nics = f"NICs in {parts.planes} planes" if parts.planes > 1 else "NICs"
    links = f"the {own.rate_gbps.value:g} Gb/s links of {own.id}"
    cause = f"{links} are slower than the {link:g} Gb/s {nics}"
    help_text = f"--fabric {fast}" if fast else "more --planes, or a faster family"
    problems.append(Problem("DC050", cause, Place("--fabric"), help=help_text))


def ports_per_cage(parts: Parts) -> int:
    """Return links behind one transceiver of a node, by the system and the family."""
    own = parts.system.scaleout_ports_per_cage if parts.system else 1
    return links_per_cage(own, parts.family, parts.planes)


def mixed(ports: Ports, link: float, between: float, leaf: Switch | None, topology: str) -> Ports:
    """Return the ports of a leaf whose uplinks have another speed.

    The uplinks provide the capacity that the oversubscription ratio requires.
    """
    if between == link:
        return ports
    if topology.endswith("scheduled") and leaf:
        return replace(
            Ports(ports.radix, ports.planes),
            leaf_up=leaf.fabric_ports,
            spine_radix=ports.spine_radix,
        )
    down = ports.endpoints_per_leaf or math.floor(
        ports.radix * ports.leaf_spine / (1.0 + ports.leaf_spine) + 1e-9
    )
    up = ports.leaf_up or math.ceil(down * link / (ports.leaf_spine * between) - 1e-9)
    return replace(ports, endpoints_per_leaf=down, leaf_up=up, uplink_width=between / link)


def _radix(parts: Parts, link: float, topology: str, problems: list[Problem]) -> int:
    """Return ports of a leaf at the link speed."""
    request, planes = parts.request, parts.planes
    if topology == "torus":
        return 2
    if request.radix:
        gbps, port_gbps = link * planes, request.port_gbps
        if port_gbps is not None and link > port_gbps:
            split = f" in {planes} planes" if planes > 1 else ""
            cause = f"a NIC of {gbps:g} Gb/s{split} is faster than a port of "
            help_text = f"--planes {math.ceil(gbps / port_gbps)}"
            place = Place("--nic-gbps")
            problems.append(Problem("DC050", f"{cause}{port_gbps:g}", place, help=help_text))
        return request.radix
    if parts.leaf is None:
        if not problems:
            cause = "--switch, --radix or --fabric is required"
            problems.append(Problem("DC050", cause, Place("fabric")))
        return 0
    return _ports(parts.leaf, link, planes, problems)


def _ports(model: Switch | None, link: float, planes: int, problems: list[Problem]) -> int:
    """Return ports of a switch at a speed; 0 without a switch."""
    if model is None or not link:
        return 0
    found = model.ports.get(f"{link:g}", 0)
    if found:
        return found
    speeds = ", ".join(
        f"{n} x {rate}" for rate, n in sorted(model.ports.items(), key=lambda p: float(p[0]))
    )
    slower = [float(rate) for rate in model.ports if link % float(rate) == 0 and float(rate) < link]
    help_text = (
        f"--planes {round(planes * link / max(slower))}"
        if slower
        else "dcplan catalog list switches"
    )
    cause = f"{model.id} has no {link:g} Gb/s ports; available ports: {speeds}"
    problems.append(Problem("DC050", cause, Place("--switch"), help=help_text))
    return 0
