"""Bill of materials of a sized network: switches, transceivers, price and power."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from dcplan.fabric.topology.clos import Counts
from dcplan.fabric.topology.wiring import Fill


@dataclass(frozen=True)
class Parts:
    """Prices and powers of what a fabric family is built of; all per piece [USD, kW, U].

    ``leaf_optic_ports`` is how many ports one switch-side transceiver carries (2 for a twin-port
    cage), ``node_optic_ports`` how many one of a node.
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


@dataclass(frozen=True)
class Fills:
    """All switches of a network by their ports in use."""

    leaf: tuple[Fill, ...] = ()
    spine: tuple[Fill, ...] = ()
    core: tuple[Fill, ...] = ()

    def times(self, copies: int) -> Fills:
        """As many such networks side by side."""
        return Fills(
            *(tuple(Fill(f.switches * copies, f.down, f.up) for f in t) for t in self.tiers)
        )

    @property
    def tiers(self) -> tuple[tuple[Fill, ...], ...]:
        """Leaves, spines, cores."""
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
    r"""Cages in use: each switch fills its own.

    :math:`\sum_i \lceil d_i/p_d \rceil + \lceil u_i/p_u \rceil`.

    A cage carries links of one direction: those to nodes and those to spines differ in length and
    so in optic.

    Parameters
    ----------
    fills : iterable of Fill
        Switches by their ports in use.
    ports_down, ports_up : int
        Ports of a cage towards nodes, and towards spines. [-]

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
    """Cages of all switches; ``between_ports`` is how many links between switches one carries."""
    above = cages((*fills.spine, *fills.core), between_ports, between_ports)
    return cages(fills.leaf, node_ports, between_ports) + above


def node_cages(node_links: int, management_links: int, ports: int) -> int:
    """Transceivers at the far end of leaf links.

    ``ports`` links each at nodes, one each at managers.
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

    Every cage in use has a transceiver at its switch; nodes have one for ``node_optic_ports``
    links. Switch power is the figure without optics, transceivers are added: optics are never
    counted twice.

    Parameters
    ----------
    counts : Counts
        Switches and links.
    parts : Parts
        Prices and powers.
    fills : Fills
        The same switches by their ports in use.
    between_ports : int, optional
        Links between switches that one transceiver carries, where they are faster than those to
        nodes. [-]
    management_links : int, default 0
        Links of managers among those of nodes. [-]

    Examples
    --------
    >>> parts = Parts(100.0, 100.0, 100.0, 1.0, 1.0, 1.0, 1.0, 10.0, 0.02, 2, 5.0, 0.01, 1.0)
    >>> b = bill(Counts(2, 1, 0, 64, 64, 0), parts, Fills((Fill(2, 32, 32),), (Fill(1, 64, 0),)))
    >>> b.switch_transceivers, b.node_transceivers, b.cables, round(b.capex_usd), round(b.power_kw, 2)
    (96, 64, 128, 1708, 5.56)
    """
    switch_optics = switch_cages(
        fills, parts.leaf_optic_ports, between_ports or parts.leaf_optic_ports
    )
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
