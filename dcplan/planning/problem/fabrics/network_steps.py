"""Networks by their number of leaf switches, and lower bounds on their amounts by ports."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from dcplan.fabric.bom import Bill, Fills, Parts, bill
from dcplan.fabric.topology.clos import leaves, size
from dcplan.fabric.topology.connected import Nodes, connect, step_ports
from dcplan.fabric.topology.design import ClosDesign
from dcplan.fabric.topology.kinds import ALONE
from dcplan.fabric.topology.wiring import Fill, upper_fills
from dcplan.planning.check_ids import COUNTED, Part
from dcplan.planning.problem.terms import PortClass, SwitchSteps

MOST_STEPS = 24
"""Maximum steps of one fabric and NIC class; larger networks keep the largest jumps."""
MOST_LEAVES = 2048
"""Maximum leaf switches with steps. Larger networks round by less than 0.1 %, and a doubled spine
count appears in the largest jumps."""
COST, LOAD = ("usd", *COUNTED), ("kw", "racks")
"""Amounts of the steps; the first chooses which steps are kept."""


@dataclass(frozen=True)
class Step:
    """A number of leaf switches: how far it reaches, and the network without its links to nodes."""

    most: int
    """Ports, or leaf switches of one plane, up to which the step lasts."""
    bill: Bill


@dataclass(frozen=True)
class Link:
    """Optics and cable of one NIC port over all planes, as shares of cages."""

    usd: float
    kw: float
    transceivers: float


def stepped(
    steps: list[Step],
    amounts: tuple[str, ...],
    per_port: Mapping[str, float],
    switch_rack_units: float = 1.0,
    *,
    by_leaf: bool = False,
) -> SwitchSteps:
    r"""Return lower bounds on amounts of a network by its ports.

    Links count in proportion, switches in steps of leaf switches.

    .. math:: C(P) \ge b P + s L + A(L)

    where the rest is at most the cost of switches, optics and cables between L leaf switches.

    The bound is exact for full units. The steps do not decrease: a number of leaf switches never
    costs more than the cheapest network with at least that number. At most ``MOST_STEPS`` of them
    remain, those with the largest jumps of the first amount.

    Parameters
    ----------
    steps : list of Step
        Networks by the number of leaf switches, at least one.
    amounts : tuple of str
        ``usd``, or ``kw`` and ``racks``.
    per_port : mapping
        Amount -> value of the links of one NIC port.
    switch_rack_units : float
        Rack units of switches in one rack.
    by_leaf : bool
        Whether the steps count leaf switches, one by one. Then s is what most leaf switches add,
        so that only the rest needs steps; otherwise s is 0.
    """
    heights = {x: _rising([_amount(s.bill, x, switch_rack_units) for s in steps]) for x in amounts}
    slopes = {x: _slope(values) if by_leaf else 0.0 for x, values in heights.items()}
    rest = {x: _above(values, slopes[x]) for x, values in heights.items()}
    kept = _kept(rest[amounts[0]])
    # a kept step begins at the end of the step before it and lasts until the next kept step
    ends = [*(steps[i - 1].most for i in kept[1:]), steps[-1].most]
    widths = tuple(end - begin for begin, end in zip([0, *ends], ends, strict=False))
    jumps = {}
    for x, values in rest.items():
        tops = [values[i] for i in kept]
        jumps[x] = tuple(high - low for low, high in zip([0.0, *tops], tops, strict=False))
    return SwitchSteps(widths, per_port, jumps, slopes if by_leaf else {})


def _kept(values: list[float]) -> list[int]:
    """Return the first step, and those with the largest jumps, the smaller networks first."""
    rises = [(a - b, i + 1) for i, (a, b) in enumerate(itertools.pairwise(values)) if b > a]
    return sorted([0, *(i for _, i in sorted(rises)[: MOST_STEPS - 1])])


def _above(values: list[float], slope: float) -> list[float]:
    """Return what remains of each value without a slope by leaf switch, so that it does not decrease."""
    return _rising([x - slope * (n + 1) for n, x in enumerate(values)])


def _slope(values: list[float]) -> float:
    """Return the slope by leaf switch whose bound with the kept steps is the highest in all."""
    jumps = sorted(b - a for a, b in itertools.pairwise([0.0, *values]))
    found = []
    for slope in sorted({0.0, jumps[0], jumps[len(jumps) // 4], jumps[len(jumps) // 2]}):
        rest = _above(values, slope)
        if rest[0] < 0:
            continue
        kept, total = _kept(rest), 0.0
        for begin, end in itertools.pairwise([*kept, len(values)]):
            total += (end - begin) * rest[begin]
        found.append((total + slope * len(values) * (len(values) + 1) / 2, slope))
    return max(found)[1]


def _amount(found: Bill, what: str, switch_rack_units: float) -> float:
    return {
        "usd": found.capex_usd,
        "kw": found.power_kw,
        "racks": found.rack_units / switch_rack_units,
        Part.SWITCHES: float(found.switches),
        Part.TRANSCEIVERS: float(found.switch_transceivers + found.node_transceivers),
    }[what]


def _rising(values: list[float]) -> list[float]:
    """Return each value, or a later smaller one."""
    for i in range(len(values) - 2, -1, -1):
        values[i] = min(values[i], values[i + 1])
    return values


def node_link(plan: ClosDesign, parts: Parts) -> Link:
    """Return optics and cable of one NIC port over all planes."""
    pluggable = not parts.leaf_optic_inside
    leaf, node = (
        plan.planes / parts.leaf_optic_ports * pluggable,
        plan.planes / parts.node_optic_ports,
    )
    usd = leaf * parts.leaf_optic_usd + node * parts.node_optic_usd + plan.planes * parts.cable_usd
    kw = leaf * parts.leaf_optic_kw + node * parts.node_optic_kw
    return Link(usd, kw, leaf + node)


def link_usd(plan: ClosDesign, parts: Parts) -> float:
    """Return the cost of optics and cable of one NIC port over all planes [USD]."""
    return node_link(plan, parts).usd


def unit_steps(
    plan: ClosDesign, parts: Parts, ports: PortClass, rails: int, most_ports: int
) -> list[Step]:
    """Return the ports of each leaf count of a tree with units, and its network without links to nodes."""
    nodes = ports.unit(plan.leaf_down)
    per_unit = nodes * rails
    units = math.ceil(most_ports / per_unit)
    if leaves(units * nodes, rails, nodes, plan.leaf_down) > MOST_LEAVES:
        return []
    found: dict[int, int] = {}
    for unit in range(1, units + 1):
        found[leaves(unit * nodes, rails, nodes, plan.leaf_down)] = unit * per_unit
    return _priced(plan, parts, found)


def leaf_steps(plan: ClosDesign, parts: Parts, most: int) -> list[Step]:
    """Return each number of leaf switches of one plane, and its network without links to nodes."""
    return [] if most > MOST_LEAVES else _priced(plan, parts, {n: n for n in range(1, most + 1)})


def _priced(plan: ClosDesign, parts: Parts, found: Mapping[int, int]) -> list[Step]:
    """Return the steps of leaf counts, each with how far it reaches."""
    steps = []
    for count, most in found.items():
        leaf = Fill(count, 0, plan.leaf_up if plan.tiers > 1 else 0)
        try:
            fills = Fills((leaf,), *upper_fills(plan, count)).times(plan.planes)
            steps.append(Step(most, bill(size(plan, count, 0), parts, fills)))
        except ValueError:  # beyond the reach of the tiers, which no plan exceeds
            break
    return steps


def plain_steps(
    topology: str, plan: ClosDesign, parts: Parts, rails: int, most_ports: int
) -> list[Step]:
    """Return the ports of each number of full switches of a network without units, and its network.

    It is without the links to nodes. A switch more is bought with the first port after a step.
    """
    width = step_ports(topology, plan, rails)
    each = rails if topology == ALONE else 1
    count = math.ceil(most_ports / width)
    if count * width / plan.leaf_down > MOST_LEAVES:
        return []
    steps, link = [], node_link(plan, parts)
    for k in range(1, count + 1):
        try:
            counts, fills = connect(topology, plan, 1, [Nodes(k * width // each, each)])
        except ValueError:  # beyond the reach, which the model limits
            break
        full, links = bill(counts, parts, fills), k * width
        steps.append(
            Step(
                links,
                replace(
                    full,
                    capex_usd=max(full.capex_usd - links * link.usd, 0.0),
                    power_kw=max(full.power_kw - links * link.kw, 0.0),
                    switch_transceivers=max(
                        full.switch_transceivers
                        + full.node_transceivers
                        - math.ceil(links * link.transceivers),
                        0,
                    ),
                    node_transceivers=0,
                ),
            )
        )
    return steps
