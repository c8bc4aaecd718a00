"""Bill of materials of a sized network: switches, transceivers, price and power."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from dcplan.fabric.topology.clos import Counts
from dcplan.fabric.topology.wiring import Fill


@dataclass(frozen=True)
class Parts:
    """Prices, powers and heights of the parts of a fabric family, per part [USD, kW, U].

    ``leaf_optic_ports`` is the number of ports of one switch-side transceiver (2 for a twin-port
    cage), ``node_optic_ports`` that of a node-side transceiver.
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
    node_optic_ports: int = 1
    leaf_optic_inside: bool = False
    """Whether the switches include their optics, which are no transceivers then."""
    cord_links: float = 1.0
    """Links of a fiber cord, a half where a link has two; ``cable_usd`` is the cost of one link."""


@dataclass(frozen=True)
class Fills:
    """All switches of a network by their used ports."""

    leaf: tuple[Fill, ...] = ()
    spine: tuple[Fill, ...] = ()
    core: tuple[Fill, ...] = ()

    def times(self, copies: int) -> Fills:
        """Return the fills of several identical networks."""
        return Fills(
            *(tuple(Fill(f.switches * copies, f.down, f.up) for f in t) for t in self.tiers)
        )

    @property
    def tiers(self) -> tuple[tuple[Fill, ...], ...]:
        """Return leaf, spine and core switches."""
        return self.leaf, self.spine, self.core


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


def cages(fills: Iterable[Fill], ports_down: int, ports_up: int) -> int:
    r"""Return the used cages: each switch uses its own.

    :math:`\sum_i \lceil d_i/p_d \rceil + \lceil u_i/p_u \rceil`.

    A cage carries links of one direction: links to nodes and links to spines differ in length and
    therefore in optics.

    Parameters
    ----------
    fills : iterable of Fill
        Switches by their used ports.
    ports_down, ports_up : int
        Ports per cage towards nodes, and towards spines. [-]

    References
    ----------
    .. [1] NVIDIA RA-11333-001 V11, table 8: 1,536 transceivers in 48 switches with 2,044 links.

    Examples
    --------
    >>> cages([Fill(4, 31, 32), Fill(28, 32, 32), Fill(16, 64, 0)], 2, 2)
    1536
    """
    return sum(
        f.switches * (math.ceil(f.down / ports_down) + math.ceil(f.up / ports_up)) for f in fills
    )


def switch_cages(fills: Fills, node_ports: int, between_ports: int) -> int:
    """Return the cages of all switches; ``between_ports`` is the links between switches per cage."""
    above = cages((*fills.spine, *fills.core), between_ports, between_ports)
    return cages(fills.leaf, node_ports, between_ports) + above


def node_cages(node_links: int, management_links: int, ports: int) -> int:
    """Return the transceivers at the far end of leaf links.

    A transceiver has ``ports`` links at nodes, and one link at managers.
    """
    return math.ceil((node_links - management_links) / ports) + management_links


def bill(
    counts: Counts,
    parts: Parts,
    fills: Fills,
    between_ports: int | None = None,
    management_links: int = 0,
) -> Bill:
    """Count, price and power every part of a network.

    Every used cage has a transceiver at its switch; nodes have one per ``node_optic_ports``
    links. Switch power is without optics, and transceivers are added, so optics are not
    counted twice.

    Parameters
    ----------
    counts : Counts
        Switches and links.
    parts : Parts
        Prices and powers.
    fills : Fills
        The same switches by their used ports.
    between_ports : int, optional
        Links between switches per transceiver, if they are faster than links to
        nodes. [-]
    management_links : int, default 0
        Management links among the links of nodes. [-]

    Examples
    --------
    >>> parts = Parts(100.0, 100.0, 100.0, 1.0, 1.0, 1.0, 1.0, 10.0, 0.02, 2, 5.0, 0.01, 1.0)
    >>> b = bill(Counts(2, 1, 0, 64, 64, 0), parts, Fills((Fill(2, 32, 32),), (Fill(1, 64, 0),)))
    >>> b.switch_transceivers, b.node_transceivers, b.cables, round(b.capex_usd), round(b.power_kw, 2)
    (96, 64, 128, 1708, 5.56)
    """
    between = between_ports or parts.leaf_optic_ports
    pluggable = not parts.leaf_optic_inside
    switch_optics = switch_cages(fills, parts.leaf_optic_ports, between) if pluggable else 0
    node_optics = node_cages(counts.node_leaf_links, management_links, parts.node_optic_ports)
    cables = counts.node_leaf_links + counts.leaf_spine_links + counts.spine_core_links
    usd = (
        counts.leaf * parts.leaf_usd
        + counts.spine * parts.spine_usd
        + counts.core * parts.core_usd
        + switch_optics * parts.leaf_optic_usd
        + node_optics * parts.node_optic_usd
        + cables * parts.cable_usd
    )
    kw = (
        counts.leaf * parts.leaf_kw
        + counts.spine * parts.spine_kw
        + counts.core * parts.core_kw
        + switch_optics * parts.leaf_optic_kw
        + node_optics * parts.node_optic_kw
    )
    return Bill(
        counts.switches,
        switch_optics,
        node_optics,
        cables,
        usd,
        kw,
        counts.switches * parts.switch_units,
    )
