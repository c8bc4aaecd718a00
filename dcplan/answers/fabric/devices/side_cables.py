"""Cables of the storage, in-band and out-of-band networks, one by one with names of devices and ports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from dcplan.answers.fabric.built import Built
from dcplan.answers.fabric.design import nodes_per_rack
from dcplan.answers.fabric.devices.types import Model
from dcplan.answers.fabric.side_networks import Priced, managed_ports
from dcplan.fabric.side_wiring import node_links, ports_down, switch_links
from dcplan.inputs.log import InputLog

BMC = "1000base-t"
"""Interface type of management ports."""
OUT_OF_BAND = "out-of-band"


@dataclass(frozen=True)
class Plug:
    """End of a cable: a port by its number on a switch, or by its name."""

    device: str
    port: int | str
    """Number from 1, or name."""
    type: str
    """Interface type of the port, where the device type lacks it."""


@dataclass(frozen=True)
class SideCable:
    """A cable of a side network."""

    network: str
    near: Plug
    far: Plug
    kind: str
    """Kind of the cable: fiber, aoc or cat6."""


def side_switch(one: Priced, tier: str, number: int) -> str:
    """Return the name of a switch of a side network: leaves come first, then spines and cores."""
    first = {"leaf": 0, "spine": one.side.leaf, "core": one.side.leaf + one.side.spine}[tier]
    return f"{one.name}-{first + number + 1:04d}"


def side_cables(
    built: Built, models: Mapping[str, Model], switches: Sequence[tuple[str, str]], log: InputLog
) -> Iterator[SideCable]:
    """Yield the cables of all side networks whose two ends are known.

    Links to storage, to management servers, to power strips and out of the hall have a port on a
    switch and no cable here, since their far ends are not devices of the network. ``switches`` are
    the compute switches with their kind.
    """
    nodes = built.resolved.attached.nodes
    for one in built.side_networks:
        if one.name == OUT_OF_BAND:
            yield from _managed(built, one, models, switches, log)
            continue
        kind = models[one.name].lower_type
        for a in node_links(one.side, nodes):
            near = Plug(_node(a.lower), f"{one.name}{a.lower_port + 1}", kind)
            far = Plug(side_switch(one, "leaf", a.upper), a.upper_port + 1, kind)
            yield SideCable(one.name, near, far, one.cable)
        for tier, b in switch_links(one.side):
            below = "spine" if tier == "core" else "leaf"
            above = "leaf" if tier == "peer" else tier
            near = Plug(side_switch(one, below, b.lower), b.lower_port + 1, kind)
            far = Plug(side_switch(one, above, b.upper), b.upper_port + 1, kind)
            yield SideCable(one.name, near, far, one.cable)


def _managed(
    built: Built,
    one: Priced,
    models: Mapping[str, Model],
    switches: Sequence[tuple[str, str]],
    log: InputLog,
) -> Iterator[SideCable]:
    """Yield the out-of-band cables: management ports of nodes by racks, then those of switches.

    Ports of power strips stay free in each rack of nodes.
    """
    each = nodes_per_rack(built.resolved, log)
    managed = managed_ports(built.resolved, log)
    strips = round(log.parameter("network", "pdus-per-node-rack"))
    nodes, ports = built.resolved.attached.nodes, ports_down(one.side)
    for start in range(0, nodes, each):
        for node in range(start, min(start + each, nodes)):
            for port in range(managed):
                near = Plug(_node(node), f"bmc{port + 1}", BMC)
                yield _to(one, near, next(ports))
        for _ in range(strips):
            next(ports)
    others = [
        (side_switch(other, "leaf", number), other.name)
        for other in built.side_networks
        if other is not one
        for number in range(other.side.switches)
    ]
    for device, kind in (*switches, *others):
        yield _to(one, Plug(device, management_port(models[kind]), BMC), next(ports))


def _to(one: Priced, near: Plug, at: tuple[int, int]) -> SideCable:
    leaf, port = at
    return SideCable(one.name, near, Plug(side_switch(one, "leaf", leaf), port + 1, BMC), one.cable)


def management_port(model: Model) -> str:
    """Return the name of a switch's management port, as the library has it, else ``mgmt0``."""
    rows = model.library.other_interfaces if model.library else ()
    own = [row.name for row in rows if row.mgmt_only] or [r.name for r in rows if r.type == BMC]
    return own[0] if own else "mgmt0"


def _node(number: int) -> str:
    return f"node-{number + 1:05d}"
