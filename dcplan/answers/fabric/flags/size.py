"""Flags for the size of the network and its parts."""

from __future__ import annotations

from typing import Annotated

from dcplan.answers.fabric.flags.panels import MEDIA, MOST, MOST_PORTS, PARTS, SIZE
from dcplan.specs.request import Flag

Nodes = Annotated[
    int,
    Flag(
        "number of nodes (number of systems with --system)",
        low=1,
        high=MOST,
        names=("--nodes", "-n"),
        panel=SIZE,
    ),
]

NicsPerNode = Annotated[
    int | None, Flag("NICs per node (default: those of the system)", low=1, high=10_000, panel=SIZE)
]

NicGbps = Annotated[
    float | None,
    Flag("rate of a NIC (default: that of the system)", unit="Gb/s", low=1, high=1e6, panel=SIZE),
]

System = Annotated[
    str | None, Flag("catalog system, such as dgx-b300", complete="systems", panel=SIZE)
]

Fabric = Annotated[
    str | None, Flag("catalog fabric family, such as ib-xdr-800", complete="fabrics", panel=SIZE)
]

ManagementLinks = Annotated[
    int,
    Flag(
        "additional links on the leaves, such as those of a fabric manager",
        low=0,
        high=MOST,
        panel=SIZE,
    ),
]

Switch = Annotated[
    str | None, Flag("catalog switch, such as qm9700 (default: that of the family)", panel=PARTS)
]

SpineSwitch = Annotated[
    str | None, Flag("different switch for the spines, such as a chassis", panel=PARTS)
]

CoreSwitch = Annotated[str | None, Flag("different switch for the cores", panel=PARTS)]

Radix = Annotated[
    int | None,
    Flag(
        "switch ports at --port-gbps (needs no catalog switch)", low=2, high=MOST_PORTS, panel=PARTS
    ),
]

PortGbps = Annotated[
    float | None, Flag("port speed for --radix", unit="Gb/s", low=1, high=1e6, panel=PARTS)
]

SpineRadix = Annotated[
    int | None,
    Flag("spine switch ports (needs no catalog switch)", low=2, high=MOST_PORTS, panel=PARTS),
]

CoreRadix = Annotated[
    int | None,
    Flag("core switch ports (needs no catalog switch)", low=2, high=MOST_PORTS, panel=PARTS),
]

UplinkGbps = Annotated[
    float | None,
    Flag(
        "speed of links between switches (default: that of links to nodes)",
        unit="Gb/s",
        low=1,
        high=1e6,
        panel=PARTS,
    ),
]

Media = Annotated[
    str,
    Flag(
        "transceivers; reach also uses copper and active cables within their reach",
        choices=MEDIA,
        panel=PARTS,
    ),
]

NicPortsPerCage = Annotated[
    int | None, Flag("NIC ports per transceiver of a node", low=1, high=16, panel=PARTS)
]
