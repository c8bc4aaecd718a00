"""Fabrics of halls: ports, designs, costs and loads of their networks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dcplan.fabric.bom import Parts
from dcplan.fabric.effective import LinkSpeed
from dcplan.fabric.topology.design import ClosDesign
from dcplan.fabric.topology.kinds import united
from dcplan.fabric.topology.shape import filled_unit


@dataclass(frozen=True)
class PortClass:
    """A class of identical NIC ports.

    It has a rate, protocols, and the nodes per scalable unit of their leaf switches.
    """

    gbps: float
    protocols: tuple[str, ...]
    nodes_per_su: int
    ports_per_cage: int = 1
    """NIC ports per transceiver of a node."""
    rack_nodes: int = 1
    """Nodes of a rack-scale system, which scalable units do not divide; 0 where the scenario gives the
    unit."""

    def unit(self, leaf_down: int) -> int:
        """Return the nodes of a scalable unit on leaf switches with these ports to nodes."""
        if not self.rack_nodes:
            return self.nodes_per_su
        return filled_unit(self.nodes_per_su, leaf_down, self.rack_nodes)

    @property
    def id(self) -> str:
        """Return a short name for rows and columns."""
        twin = f"-x{self.ports_per_cage}" if self.ports_per_cage > 1 else ""
        racks = f"-r{self.rack_nodes}" if self.rack_nodes > 1 else ""
        return f"{self.gbps:g}g-{'-'.join(self.protocols)}-su{self.nodes_per_su}{racks}{twin}"


@dataclass(frozen=True)
class Margin:
    """Maximum that rounding to integer switches adds to the shares of a fabric option."""

    usd: float
    kw: float
    racks: float


@dataclass(frozen=True)
class NetworkShare:
    """Network per NIC port of one class on one fabric option.

    It holds ideal values, and upper values that cover rounding.
    """

    usd: float
    kw: float
    racks: float
    upper_usd: float
    upper_kw: float
    upper_racks: float
    switches: float = 0.0
    transceivers: float = 0.0
    upper_switches: float = 0.0
    upper_transceivers: float = 0.0


@dataclass(frozen=True)
class LeafGroup:
    """Leaf switches of one plane that a system fills together, and the NIC ports on them."""

    ports: int
    leaves: int


@dataclass(frozen=True)
class SwitchSteps:
    """Lower bounds of a NIC class's network by its ports, with integer switch counts.

    Each is an amount per port, plus a jump for each started step of ports. Where each system has
    its own leaf switches, steps count these, and an amount per leaf switch is added.
    """

    widths: tuple[int, ...]
    """Ports of each step; leaf switches of one plane if there are groups."""
    per_port: Mapping[str, float]
    """Amount -> value of one NIC port: ``usd`` and ``transceivers``, or ``kw``."""
    jumps: Mapping[str, tuple[float, ...]]
    """Amount -> addition of each started step: ``usd`` and parts, or ``kw`` and ``racks``."""
    per_leaf: Mapping[str, float] = field(default_factory=dict)
    """Amount -> value of one leaf switch of one plane; empty where steps count ports."""
    groups: Mapping[str, LeafGroup] = field(default_factory=dict)
    """System -> its own leaf switches; empty where steps count ports."""


NO_FABRIC = "none"
"""Id, family and topology of a hall without a network between nodes."""


@dataclass(frozen=True)
class FabricOption:
    """A fabric family with its topology and number of tiers, for the network of one hall.

    The option without a network has 0 tiers, no designs and no parts.
    """

    hall: str
    id: str
    family: str
    topology: str
    tiers: int
    protocol: str
    speeds: Mapping[PortClass, LinkSpeed]
    designs: Mapping[PortClass, ClosDesign]
    parts: Mapping[PortClass, Parts]
    shares: Mapping[PortClass, NetworkShare]
    reach: Mapping[PortClass, int]
    """Maximum NIC ports of each class, which has a network of its own."""
    switch_models: tuple[str, str, str]
    switch_racks_units: float
    step_costs: Mapping[PortClass, SwitchSteps] = field(default_factory=dict)
    """Steps of the cost, if known; the per-port share is another bound on it."""
    step_loads: Mapping[PortClass, SwitchSteps] = field(default_factory=dict)
    """Steps of power and space, if known; the per-port shares are other bounds on them."""
    margin_usd: float = 0.0
    margin_kw: float = 0.0
    margin_racks: float = 0.0
    """Maximum that a started scalable unit of the largest system adds to the per-port shares."""

    @property
    def united(self) -> bool:
        """Return whether the network is a tree with complete leaf switches for each scalable unit."""
        return united(self.topology, self.tiers)

    @property
    def least_reach(self) -> int:
        """Return the ports of the class with the smallest reach."""
        return min(self.reach.values(), default=0)
