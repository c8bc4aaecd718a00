"""Flags for the shape of the network and its side networks."""

from __future__ import annotations

from typing import Annotated

from dcplan.answers.fabric.flags.panels import BALANCING, MOST, MOST_PORTS, SHAPE
from dcplan.fabric.topology.kinds import KINDS
from dcplan.specs.request import Flag

Topology = Annotated[
    str | None,
    Flag(
        "kind of network (default: that of the family, else rail-optimized if the scalable "
        "unit is known, else fat-tree)",
        choices=KINDS,
        panel=SHAPE,
    ),
]

NodesPerSu = Annotated[
    int | None,
    Flag(
        "nodes per scalable unit; a unit has an integer number of leaves",
        low=1,
        high=MOST,
        panel=SHAPE,
    ),
]

Planes = Annotated[
    int | None, Flag("parallel networks that share the rate of a NIC", low=1, high=256, panel=SHAPE)
]

Oversubscription = Annotated[
    float | None,
    Flag(
        "leaf oversubscription: downlink over uplink capacity (default: that of the fabric, or 1)",
        low=0.1,
        high=1000,
        panel=SHAPE,
    ),
]

CoreOversubscription = Annotated[
    float, Flag("spine oversubscription in a three-tier network", low=0.1, high=1000, panel=SHAPE)
]

EndpointsPerLeaf = Annotated[
    int | None, Flag("leaf ports to nodes", low=1, high=MOST_PORTS, panel=SHAPE)
]

LeafUplinks = Annotated[
    int | None, Flag("leaf ports to spines", low=1, high=MOST_PORTS, panel=SHAPE)
]

LeavesPerPod = Annotated[
    int | None, Flag("leaves per pod in a three-tier network", low=1, high=MOST_PORTS, panel=SHAPE)
]

MinSpines = Annotated[
    int | None, Flag("minimum spines per pod", low=1, high=MOST_PORTS, panel=SHAPE)
]

Tiers = Annotated[
    int | None, Flag("switch tiers (default: the fewest that suffice)", low=1, high=3, panel=SHAPE)
]

StorageGbps = Annotated[
    float | None,
    Flag(
        "rate of a storage link of a node (default: network.storage-link-gbps of the catalog)",
        unit="Gb/s",
        low=1,
        high=1e6,
        panel=SHAPE,
    ),
]

StorageOversubscription = Annotated[
    float | None,
    Flag(
        "oversubscription of the storage network's leaves of nodes (default: that of the catalog)",
        low=1,
        high=1000,
        panel=SHAPE,
    ),
]

InBandOversubscription = Annotated[
    float | None,
    Flag(
        "oversubscription of the in-band network's leaves (default: from the uplinks of the "
        "catalog)",
        low=1,
        high=1000,
        panel=SHAPE,
    ),
]

OutOfBandGbps = Annotated[
    float | None,
    Flag(
        "rate of a port of the out-of-band network (default: 1)",
        unit="Gb/s",
        low=0.1,
        high=1e6,
        panel=SHAPE,
    ),
]

OutOfBandPorts = Annotated[
    int | None,
    Flag(
        "ports of a node on the out-of-band network: BMC, DPUs (default: those of the system, "
        "else network.oob-ports-per-node of the catalog)",
        low=1,
        high=100,
        panel=SHAPE,
    ),
]

OutOfBandSwitch = Annotated[
    str | None,
    Flag(
        "catalog switch of the out-of-band network (default: sn2201)",
        complete="switches",
        panel=SHAPE,
    ),
]

OutOfBandOversubscription = Annotated[
    float | None,
    Flag(
        "oversubscription of an out-of-band switch (default: from the uplinks of the catalog)",
        low=0.01,
        high=1000,
        panel=SHAPE,
    ),
]

LinksPerPair = Annotated[
    int | None,
    Flag(
        "dragonfly: links between each pair of groups (default: enough for the injection rate "
        "of a group)",
        low=1,
        high=MOST_PORTS,
        panel=SHAPE,
    ),
]

LoadBalancing = Annotated[
    str | None,
    Flag(
        "how flows are spread over paths (default: that of the family, else adaptive on "
        "InfiniBand and Slingshot, ecmp on Ethernet)",
        choices=BALANCING,
        panel=SHAPE,
    ),
]
