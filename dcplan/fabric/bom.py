"""Bill of materials of a sized network: switches, transceivers, price and power."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dcplan.fabric.clos import Counts


@dataclass(frozen=True)
class Parts:
    """Prices and powers of what a fabric family is built of; all per piece. [USD, kW, U]

    ``leaf_optic_ports`` is how many ports one switch-side transceiver carries (2 for a twin-port cage).
    """

    leaf_usd: float
    spine_usd: float
    core_usd: float
    leaf_kw: float
    spine_kw: float
    core_kw: float
    switch_units: float
    leaf_optic_usd: float
    leaf_optic_kw: float
    leaf_optic_ports: int
    node_optic_usd: float
    node_optic_kw: float
    cable_usd: float


@dataclass(frozen=True)
class Bill:
    """Totals of one network."""

    switches: int
    switch_transceivers: int
    node_transceivers: int
    cables: int
    capex_usd: float
    power_kw: float
    rack_units: float


def bill(counts: Counts, parts: Parts, between_ports: int | None = None) -> Bill:
    """Count, price and power every part of a network.

    Every switch port in use has its share of a transceiver; the node side has one a link. Switch power is
    the figure without optics, transceivers are added: optics are never counted twice. ``between_ports`` is how many
    links between switches one transceiver carries where they are faster than those to nodes.

    Examples
    --------
    >>> parts = Parts(100.0, 100.0, 100.0, 1.0, 1.0, 1.0, 1.0, 10.0, 0.02, 2, 5.0, 0.01, 1.0)
    >>> b = bill(Counts(2, 1, 0, 64, 64, 0), parts)
    >>> b.switch_transceivers, b.node_transceivers, b.cables, round(b.capex_usd), round(b.power_kw, 2)
    (96, 64, 128, 1708, 5.56)
    """
    links = counts.leaf_spine_links + counts.spine_core_links
    if between_ports is None:
        switch_optics = math.ceil((counts.node_leaf_links + 2 * links) / parts.leaf_optic_ports)
    else:
        down = math.ceil(counts.node_leaf_links / parts.leaf_optic_ports)
        switch_optics = down + math.ceil(2 * links / between_ports)
    cables = counts.node_leaf_links + links
    usd = (
        counts.leaf * parts.leaf_usd
        + counts.spine * parts.spine_usd
        + counts.core * parts.core_usd
        + switch_optics * parts.leaf_optic_usd
        + counts.node_leaf_links * parts.node_optic_usd
        + cables * parts.cable_usd
    )
    kw = (
        counts.leaf * parts.leaf_kw
        + counts.spine * parts.spine_kw
        + counts.core * parts.core_kw
        + switch_optics * parts.leaf_optic_kw
        + counts.node_leaf_links * parts.node_optic_kw
    )
    return Bill(
        counts.switches,
        switch_optics,
        counts.node_leaf_links,
        cables,
        usd,
        kw,
        counts.switches * parts.switch_units,
    )
