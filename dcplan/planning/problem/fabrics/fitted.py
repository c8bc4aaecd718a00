"""Networks that are no trees with units: cost per port and margin, fitted to exact counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dcplan.fabric.bom import Parts, bill
from dcplan.fabric.topology.connected import Nodes, connect
from dcplan.fabric.topology.design import ClosDesign
from dcplan.fabric.topology.direct import GROUP_SWITCHES
from dcplan.fabric.topology.kinds import DRAGONFLY
from dcplan.planning.problem.fabrics.trees import share
from dcplan.planning.problem.terms import Margin, NetworkShare, Placement

MOST_SIZES = 200
"""Sizes at which the exact network is counted; sizes between them take the next larger one."""


@dataclass(frozen=True)
class _Sized:
    """Exact totals of one size."""

    ports: int
    usd: float
    kw: float
    racks: float
    switches: float
    transceivers: float


FIGURES = ("usd", "kw", "racks", "switches", "transceivers")


def fitted(
    topology: str,
    plan: ClosDesign,
    parts: Parts,
    placed: Sequence[Placement],
    halls: int,
    rack_units: float,
) -> tuple[NetworkShare, Margin]:
    r"""Return ideal and upper values per NIC port, and the margin that covers the rest.

    The ideal values bound the exact total C(P) of P ports from below. The upper value u is that of
    the largest network, and the margin is :math:`\max_i C(P_{i+1}) - u P_i` over the counted sizes.

    Raises
    ------
    ValueError
        If not even one rack of any system fits the design.
    """
    sizes = [_sizes(topology, plan, parts, p, halls, rack_units) for p in placed]
    rows = [row for own in sizes for row in own]
    if not rows:
        names = ", ".join(sorted({p.system for p in placed}))
        msg = f"one rack of {names} exceeds the reach of a {topology} network"
        raise ValueError(msg)
    largest = max(rows, key=lambda r: r.ports)
    upper = {x: getattr(largest, x) / largest.ports for x in FIGURES}
    ideal = _ideal(topology, plan, parts, largest.ports, rack_units)
    over = dict.fromkeys(FIGURES, 0.0)
    for own in (own for own in sizes if own):
        before = [0, *(r.ports for r in own[:-1])]
        for x in FIGURES:
            rest = max(getattr(r, x) - upper[x] * n for r, n in zip(own, before, strict=True))
            over[x] = max(over[x], rest)
    each = NetworkShare(
        usd=ideal["usd"],
        kw=ideal["kw"],
        racks=ideal["racks"],
        upper_usd=upper["usd"],
        upper_kw=upper["kw"],
        upper_racks=upper["racks"],
        switches=ideal["switches"],
        transceivers=ideal["transceivers"],
        upper_switches=upper["switches"],
        upper_transceivers=upper["transceivers"],
    )
    return each, Margin(over["usd"], over["kw"], over["racks"])


def _ideal(
    topology: str, plan: ClosDesign, parts: Parts, most_ports: int, rack_units: float
) -> dict[str, float]:
    """Return values per port that no size is below: full switches, without rounding.

    The cost per port of a dragonfly with a given number of groups is least where they are full.
    """
    if topology != DRAGONFLY:
        each = share(plan, parts, 1, rack_units)
        return {x: getattr(each, x) for x in FIGURES}
    group = GROUP_SWITCHES * plan.leaf_down
    groups = range(2, max(-(-most_ports // group), 2) + 1)
    full = [
        _total(topology, plan, parts, g * group, Nodes(g * group, 1), rack_units) for g in groups
    ]
    return {x: min(getattr(r, x) / r.ports for r in full) for x in FIGURES}


def _sizes(
    topology: str, plan: ClosDesign, parts: Parts, place: Placement, halls: int, rack_units: float
) -> list[_Sized]:
    """Return the exact network of one system from one rack to all that the halls hold."""
    most = place.max_racks_unit * halls
    racks = np.unique(np.geomspace(1, max(most, 1), MOST_SIZES).round().astype(int))
    found = []
    for count in racks:
        ports = int(count) * place.ports
        nodes = Nodes(-(-ports // place.rails), place.rails)
        try:
            found.append(_total(topology, plan, parts, ports, nodes, rack_units))
        except ValueError:  # beyond the reach, which the model limits
            break
    return found


def _total(
    topology: str, plan: ClosDesign, parts: Parts, ports: int, nodes: Nodes, rack_units: float
) -> _Sized:
    counts, fills = connect(topology, plan, 1, [nodes])
    total = bill(counts, parts, fills)
    return _Sized(
        ports,
        total.capex_usd,
        total.power_kw,
        total.rack_units / rack_units,
        float(counts.switches),
        float(total.switch_transceivers + total.node_transceivers),
    )
