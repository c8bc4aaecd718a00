"""Switches, NICs, optics and the fabric families built from them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from dcplan.catalog.schema.base import Row
from dcplan.catalog.schema.hardware import Protocol
from dcplan.provenance import NonNegative, Positive


def _rates(ports: dict[str, int]) -> dict[str, int]:
    for rate, count in ports.items():
        if not rate.isdigit() or count < 1:
            code = "ports"
            raise PydanticCustomError(
                code, "ports are {{rate in Gb/s: count}}, such as {{'400': 64}}"
            )
    return ports


class Switch(Row):
    """One switch; ``ports`` is the radix at each port speed in Gb/s.

    A modular one (chassis) has ``cards`` slots: its ports come in equal shares on line cards bought
    as needed; price, power and weight of the row are the chassis with its fabric and supervisor
    modules, without line cards.
    """

    protocol: Protocol
    """What its ports speak."""
    ports: Annotated[dict[str, int], AfterValidator(_rates)]
    """Radix at each port speed: {rate in Gb/s: count}."""
    throughput_tbps: Positive | None = None
    """Switching capacity, one way."""
    typical_kw: Positive | None = None
    """Typical draw, without optics."""
    max_kw: Positive | None = None
    """Largest draw."""
    max_includes_optics: bool = False
    """Whether that holds the optics."""
    latency_ns: Positive | None = None
    """Port to port."""
    price_usd: Positive | None = None
    """Of one switch without optics."""
    rack_units: Positive | None = None
    """Height."""
    weight_kg: Positive | None = None
    """Weight."""
    cards: int | None = Field(default=None, ge=1)
    """Chassis: slots for line cards."""
    card_usd: Positive | None = None
    """Price of a line card."""
    card_kw: Positive | None = None
    """Typical, without optics."""
    card_kg: Positive | None = None
    """Weight of a line card."""
    inner_tiers: int = Field(default=1, ge=1, le=3)
    """Tiers of switch chips inside: 2 for a chassis whose line cards meet on fabric cards."""
    fabric_ports: int | None = Field(default=None, ge=1)
    """Leaf of a scheduled fabric: ports towards its spines, besides those in ``ports``."""
    fabric_gbps: Positive | None = None
    """Speed of such a port."""
    cage_gbps: Positive | None = None
    """Speed of one cage; a cage of twice the port speed carries two ports on one twin transceiver.
    """


class Nic(Row):
    """One network adapter."""

    protocols: tuple[Protocol, ...]
    """What it speaks."""
    rate_gbps: Positive
    """Of all its ports together, one way."""
    ports: int = Field(default=1, ge=1)
    """Its ports."""
    typical_kw: Positive | None = None
    """Typical draw."""
    max_kw: Positive | None = None
    """Largest draw."""
    price_usd: Positive | None = None
    """Of one adapter."""


class Optic(Row):
    """A transceiver (one end) or a cable (both ends)."""

    kind: Literal[
        "transceiver", "lpo", "lro", "cpo", "coherent", "dac", "acc", "aec", "aoc", "fiber"
    ]
    """Transceiver, its low-power forms, copper or active cable, or bare fibre."""
    rate_gbps: Positive
    """Of one link."""
    glass: Literal["os2", "om3", "om4"] | None = None
    """Of a fibre: single mode (OS) or multimode (OM)."""
    protocols: tuple[Protocol, ...] = ()
    """Protocols it is made for; any where empty."""
    split: int | None = Field(default=None, ge=1)
    """Of a cable: far ends; 1 is straight, 2 parts a twin cage; sold both ways where left out."""
    lane_gbps: Positive | None = None
    """Speed of a lane where it is not the usual one of its rate: such ends do not meet others."""
    reach_m: Positive | None = None
    """Longest link."""
    reach_amplified_m: Positive | None = None
    """Coherent: over a line system with amplifiers."""
    typical_kw: NonNegative | None = None
    """Of one end, or of a whole cable."""
    max_kw: NonNegative | None = None
    """Largest draw of the same."""
    price_usd: NonNegative | None = None
    """Of one end, or of a whole cable."""
    usd_per_m: NonNegative | None = None
    """Price of a metre on top."""
    kg_per_m: NonNegative | None = None
    """Weight of a metre."""


class Fabric(Row):
    """A fabric family: rate, switch, optics, allowed tiers and planes; the menu expands it to
    options.
    """

    protocol: Protocol
    """What it speaks."""
    topology: Literal[
        "fat-tree", "rail-optimized", "rail-only", "scheduled", "dragonfly", "torus"
    ] = "fat-tree"
    """Wiring where nothing else is asked."""
    rate_gbps: Positive
    """Of one link to a node, one way."""
    leaf: str
    """Row of switches."""
    spine: str | None = None
    """Row of switches; left out, the leaf's."""
    core: str | None = None
    """Row of switches; left out, the spine's."""
    tiers: tuple[int, ...] = (2, 3)
    """Depths that the menu offers."""
    planes: int = Field(default=1, ge=1)
    """Parallel networks that share a NIC."""
    nic_ports_per_cage: int = Field(default=1, ge=1)
    """Links behind one cage of its NICs: 2 where a twin cage serves two planes."""
    load_balancing: Literal["ecmp", "qp-scaling", "adaptive", "spray", "scheduled"] = "ecmp"
    """How its switches spread flows over paths."""
    node_optic: str
    """Transceiver on the NIC side of a node-leaf link."""
    leaf_optic: str
    """Transceiver (or half of a twin one) on the switch side, for all switch ports."""
    fiber: str | None = None
    """Row of optics between transceivers."""
    cables: tuple[str, ...] = ()
    """Rows of optics: cables with ends of their own that it is built with, where they reach and
    cost less."""
    group_racks: int | None = Field(default=None, ge=1)
    """Racks (or cabinets) that a group of a dragonfly fills where nothing else is asked."""
    oversubscription: NonNegative | None = None
    """Down over up capacity of leaves where nothing else is asked; left out, 1."""
    in_network_reduction: bool = False
    """Whether its switches add up gradients."""
