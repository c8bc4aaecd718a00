"""Switches, NICs, optics and fabric families."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from dcplan.catalog.schema.base import Row
from dcplan.catalog.schema.hardware import Protocol
from dcplan.catalog.schema.ranges import NonNegative, Positive


def _rates(ports: dict[str, int]) -> dict[str, int]:
    """Reject a port rate that is no whole number, and a rate without ports."""
    for rate, count in ports.items():
        if not rate.isdigit() or count < 1:
            code = "ports"
            raise PydanticCustomError(
                code, "expected ports as {{rate in Gb/s: count}}, such as {{'400': 64}}"
            )
    return ports


class Switch(Row):
    """One switch; ``ports`` is the radix at each port speed in Gb/s.

    A modular switch (chassis) has ``cards`` slots. Its ports are distributed equally over line
    cards, which are bought as needed. Price, power and weight of the row are those of the chassis
    with its fabric and supervisor modules, without line cards.
    """

    protocol: Protocol
    """Protocol of its ports."""
    ports: Annotated[dict[str, int], AfterValidator(_rates)]
    """Radix at each port speed: {rate in Gb/s: count}."""
    throughput_tbps: Positive | None = None
    """Switching capacity, one way."""
    typical_kw: Positive | None = None
    """Typical power, without optics."""
    max_kw: Positive | None = None
    """Maximum power."""
    max_includes_optics: bool = False
    """Whether the maximum power includes optics."""
    co_packaged: bool = False
    """Whether the optics are inside the switch: its ports take fiber, and price and power include
    them."""
    latency_ns: Positive | None = None
    """Latency from port to port."""
    price_usd: Positive | None = None
    """Price of one switch without optics that can be removed."""
    rack_units: Positive | None = None
    """Height in rack units."""
    weight_kg: Positive | None = None
    """Weight of one switch."""
    cards: int | None = Field(default=None, ge=1)
    """Number of line card slots of a chassis."""
    card_usd: Positive | None = None
    """Price of a line card."""
    card_kw: Positive | None = None
    """Typical power of a line card, without optics."""
    card_kg: Positive | None = None
    """Weight of a line card."""
    inner_tiers: int = Field(default=1, ge=1, le=3)
    """Tiers of switch chips inside: 2 for a chassis whose line cards connect through fabric
    cards."""
    fabric_ports: int | None = Field(default=None, ge=1)
    """Leaf switch of a scheduled fabric: ports towards spine switches, in addition to ``ports``."""
    fabric_gbps: Positive | None = None
    """Speed of one port towards the spine switches."""
    cage_gbps: Positive | None = None
    """Speed of one cage; a cage with twice the port speed carries two ports on one twin
    transceiver."""


class Nic(Row):
    """One network adapter."""

    protocols: tuple[Protocol, ...]
    """Protocols of the adapter."""
    rate_gbps: Positive
    """Rate of all ports together, one way."""
    ports: int = Field(default=1, ge=1)
    """Number of ports."""
    typical_kw: Positive | None = None
    """Typical power."""
    max_kw: Positive | None = None
    """Maximum power."""
    price_usd: Positive | None = None
    """Price of one adapter."""


class Optic(Row):
    """A transceiver (one end) or a cable (both ends)."""

    kind: Literal[
        "transceiver",
        "lpo",
        "lro",
        "cpo",
        "coherent",
        "transponder",
        "dac",
        "acc",
        "aec",
        "aoc",
        "fiber",
    ]
    """Transceiver, its low-power forms, coherent transceiver or transponder, copper or active cable,
    or bare fiber."""
    rate_gbps: Positive
    """Rate of one link."""
    type: str | None = None
    """Type of the trade, such as DR4, 2xDR4, FR4, SR8 or LR4; 2x are two links of one transceiver."""
    fibers: int | None = Field(default=None, ge=1)
    """Fibers of a transceiver for all of its links; of a cord, the fibers in use by its links."""
    connectors: int = Field(default=1, ge=1)
    """Fiber connectors of a transceiver; links that share one share a cord."""
    glass: Literal["os2", "om3", "om4"] | None = None
    """Type of fiber: single mode (OS) or multimode (OM)."""
    protocols: tuple[Protocol, ...] = ()
    """Supported protocols; empty means any."""
    split: int | None = Field(default=None, ge=1)
    """Far ends of a cable: 1 is straight, 2 splits a twin cage. Default: sold in both forms."""
    lane_gbps: Positive | None = None
    """Lane speed if unusual for the rate; the part connects only to parts of the same lane
    speed."""
    reach_m: Positive | None = None
    """Maximum link length."""
    reach_amplified_m: Positive | None = None
    """Maximum link length of a coherent transceiver over a line system with amplifiers, as the maker
    or its standard names it."""
    least_osnr_db: Positive | None = None
    """Least optical signal-to-noise ratio in 0.1 nm that a coherent receiver needs. With it, the
    reach over a line system follows from the noise of the line."""
    gbaud: Positive | None = None
    """Symbol rate of a coherent signal."""
    spacing_ghz: Positive | None = None
    """Width that a coherent signal takes of the band of a fiber pair."""
    typical_kw: NonNegative | None = None
    """Typical power of one end, or of a complete cable."""
    max_kw: NonNegative | None = None
    """Maximum power of one end, or of a complete cable."""
    price_usd: NonNegative | None = None
    """Price of one end, or of a complete cable."""
    usd_per_m: NonNegative | None = None
    """Additional price per meter."""
    kg_per_m: NonNegative | None = None
    """Weight per meter."""


class Fabric(Row):
    """A fabric family: rate, switches, optics, allowed tiers and planes; a plan expands it to
    options.
    """

    protocol: Protocol
    """Protocol of the family."""
    topology: Literal[
        "fat-tree", "rail-optimized", "rail-only", "scheduled", "dragonfly", "torus"
    ] = "fat-tree"
    """Default topology."""
    rate_gbps: Positive
    """Rate of one link to a node, one way."""
    leaf: str
    """Leaf switch, a row of the catalog kind switches."""
    spine: str | None = None
    """Spine switch, a row of the catalog kind switches. Default: the leaf switch."""
    core: str | None = None
    """Core switch, a row of the catalog kind switches. Default: the spine switch."""
    tiers: tuple[int, ...] = (2, 3)
    """Numbers of tiers that a plan may choose."""
    planes: int = Field(default=1, ge=1)
    """Number of planes, parallel networks that share a NIC."""
    nic_ports_per_cage: int = Field(default=1, ge=1)
    """Links per cage of its NICs: 2 if a twin cage serves two planes."""
    load_balancing: Literal["ecmp", "qp-scaling", "adaptive", "spray", "scheduled"] = "ecmp"
    """Load balancing of flows over paths."""
    node_optic: str
    """Transceiver on the NIC side of a node-leaf link."""
    leaf_optic: str
    """Transceiver (or half of a twin transceiver) on the switch side, for all switch ports."""
    fiber: str | None = None
    """Fiber between transceivers, a row of the catalog kind optics."""
    cables: tuple[str, ...] = ()
    """Cables with their own ends, rows of the catalog kind optics, used if they are long enough and
    cost less."""
    group_racks: int | None = Field(default=None, ge=1)
    """Default number of racks (or cabinets) in one dragonfly group."""
    oversubscription: NonNegative | None = None
    """Default oversubscription of leaf switches: downlink divided by uplink capacity. Default:
    1."""
    in_network_reduction: bool = False
    """Whether its switches reduce gradients in the network."""
