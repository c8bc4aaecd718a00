"""Flags for the floor, and for further questions."""

from __future__ import annotations

from typing import Annotated

from dcplan.answers.fabric.flags.panels import FLOOR, LEAF_AT, MORE, MOST
from dcplan.specs.request import Flag

NodesPerRack = Annotated[
    int | None,
    Flag(
        "nodes per rack (default: those of the system, else as many as fit the rack height)",
        low=1,
        high=1000,
        panel=FLOOR,
    ),
]

RackKgMax = Annotated[
    float | None,
    Flag(
        "highest weight of the devices of a rack (default: not limited)",
        unit="kg",
        low=1,
        high=100_000,
        panel=FLOOR,
    ),
]

RackKwMax = Annotated[
    float | None,
    Flag(
        "highest power of the devices of a rack (default: not limited)",
        unit="kW",
        low=0.1,
        high=10_000,
        panel=FLOOR,
    ),
]

RacksPerRow = Annotated[
    int | None, Flag("racks per row (default: a square hall)", low=1, high=100_000, panel=FLOOR)
]

LeafPlacement = Annotated[
    str,
    Flag(
        "location of the leaves: in the middle of their unit, in the rack of their nodes, or "
        "in the center of the hall",
        choices=LEAF_AT,
        panel=FLOOR,
    ),
]

CableLengthM = Annotated[
    float | None,
    Flag(
        "cable length between switches (default: from the floor layout)",
        unit="m",
        low=0.1,
        high=2e6,
        panel=FLOOR,
    ),
]

GrowthNodes = Annotated[
    tuple[int, ...],
    Flag("later size in nodes; repeat for more phases", low=1, high=MOST, panel=MORE),
]

SiteLinkKm = Annotated[
    float | None,
    Flag(
        "straight-line distance to another hall or site to connect",
        unit="km",
        low=0.001,
        high=20_000,
        panel=MORE,
    ),
]

SiteLinkGbps = Annotated[
    float | None,
    Flag(
        "capacity of the site link (default: a tenth of the network's bisection bandwidth)",
        unit="Gb/s",
        low=0.001,
        high=1e9,
        panel=MORE,
    ),
]

SiteLinkOptic = Annotated[
    str | None,
    Flag(
        "catalog optic of the site link (default: coherent-400zr as far as it reaches, then the "
        "long-haul signal with the lowest cost of ten years)",
        complete="optics",
        panel=MORE,
    ),
]

SiteLinkSpanKm = Annotated[
    float | None,
    Flag(
        "longest distance between amplifiers of a long-haul link (default: 80, from the catalog)",
        unit="km",
        low=10,
        high=150,
        panel=MORE,
    ),
]

SiteLinkRouter = Annotated[
    str,
    Flag(
        "catalog switch that routes a long-haul link at both ends", complete="switches", panel=MORE
    ),
]

Compare = Annotated[
    str | None,
    Flag(
        "fabric families to compare, separated by commas; all: every family that fits", panel=MORE
    ),
]

ForJob = Annotated[
    str | None,
    Flag("rank the families by USD per finished run of this model", metavar="MODEL", panel=MORE),
]

Tokens = Annotated[
    float | None, Flag("training tokens of that run (default: those of the model)", panel=MORE)
]

Catalogs = Annotated[
    tuple[str, ...], Flag("catalog overlay folder; repeatable, the last one takes precedence")
]
