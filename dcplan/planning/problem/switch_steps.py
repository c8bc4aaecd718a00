"""Integer switch counts: the cost of a fabric in steps of its leaf switches."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from dcplan.fabric.bom import Fills, Parts, bill
from dcplan.fabric.topology.clos import leaves, size
from dcplan.fabric.topology.connected import Nodes, connect, step_ports
from dcplan.fabric.topology.design import ClosDesign
from dcplan.fabric.topology.kinds import ALONE, UNITED
from dcplan.fabric.topology.wiring import Fill, upper_fills
from dcplan.planning.problem.terms import (
    FabricOption,
    HallTerms,
    Placement,
    PlanningProblem,
    PortClass,
    StepCost,
)

MOST_STEPS = 24
"""Maximum steps of one fabric and NIC class; larger networks keep the largest jumps."""
MOST_LEAVES = 2048
"""Maximum leaf switches with steps. Larger networks round by less than 0.1 %, and a doubled spine
count appears in the largest jumps."""


@dataclass(frozen=True)
class _Step:
    ports: int
    usd: float


def with_steps(problem: PlanningProblem, most: int) -> PlanningProblem:
    """Return the planning problem with step costs of integer switch counts, if the model is small.

    The number of steps over all quarters is at most ``most``.
    """
    placed = {h.id: [p for p in problem.placements if p.hall == h.id] for h in problem.halls}
    there = {
        key: sum(x.racks for x in problem.existing if x.in_service and x.key == key)
        for key in {x.key for x in problem.existing}
    }
    options = [
        replace(o, step_costs=step_costs(o, problem.hall(o.hall), placed[o.hall], there))
        for o in problem.fabrics
    ]
    count = problem.quarters * sum(
        len(step_costs.widths) for o in options for step_costs in o.step_costs.values()
    )
    return (
        replace(problem, fabrics=tuple(options), integer_switches=True)
        if count <= most
        else problem
    )


def step_costs(
    option: FabricOption,
    hall: HallTerms,
    placed: Iterable[Placement],
    there: Mapping[tuple[str, str, str], int],
) -> dict[PortClass, StepCost]:
    """Return the steps of each NIC class whose systems have the same number of rails.

    Other classes use only the per-port share.

    ``there`` are racks of assets by placement: their ports stay connected after a sale, in
    addition to all ports that the hall can hold.
    """
    found: dict[PortClass, StepCost] = {}
    for ports in option.shares:
        own = [p for p in placed if p.port_class == ports]
        rails = {p.rails for p in own}
        most = max((p.max_racks_unit * hall.count * p.ports for p in own), default=0)
        most += sum(there.get(p.key, 0) * p.ports for p in own)
        if len(rails) == 1 and most:
            plan, parts, each = option.designs[ports], option.parts[ports], rails.pop()
            step_costs = (
                step_cost(plan, parts, ports, each, most)
                if option.topology in UNITED
                else _stepped(plan, parts, _plain_steps(option.topology, plan, parts, each, most))
            )
            if step_costs is not None:
                found[ports] = step_costs
    return found


def step_cost(
    plan: ClosDesign, parts: Parts, ports: PortClass, rails: int, most_ports: int
) -> StepCost | None:
    r"""Return a lower bound on a network's cost by its ports.

    Links count in proportion, switches in steps of leaf switches.

    .. math:: C(P) \ge b P + A(L(P)), \quad A(L) = \text{switches, optics and cables between } L \text{ leaves}

    The bound is exact for one system with full units. Each further system has its own leaf switches
    and costs more. The steps do not decrease: a number of leaf switches never costs more than the
    cheapest network with at least that number.
    """
    return _stepped(plan, parts, _steps(plan, parts, ports, rails, most_ports))


def _stepped(plan: ClosDesign, parts: Parts, steps: list[_Step]) -> StepCost | None:
    """Return steps that do not decrease, at most ``MOST_STEPS`` of them."""
    if not steps:
        return None
    usd = [s.usd for s in steps]
    for i in range(len(usd) - 2, -1, -1):
        usd[i] = min(usd[i], usd[i + 1])
    rises = [(usd[i] - (usd[i - 1] if i else 0.0), i) for i in range(len(usd))]
    kept = sorted({0, *(i for _, i in sorted(rises, reverse=True)[:MOST_STEPS])})
    # a kept step begins at the end of the step before it and lasts until the next kept step
    ends = [*(steps[i - 1].ports for i in kept[1:]), steps[-1].ports]
    widths = [end - begin for begin, end in zip([0, *ends], ends, strict=False)]
    heights = [usd[i] for i in kept]
    jumps = [high - low for low, high in zip([0.0, *heights], heights, strict=False)]
    return StepCost(link_usd(plan, parts), tuple(widths), tuple(jumps))


def link_usd(plan: ClosDesign, parts: Parts) -> float:
    """Return the cost of optics and cable of one NIC port over all planes [USD]."""
    each = (
        parts.leaf_optic_usd / parts.leaf_optic_ports
        + parts.node_optic_usd / parts.node_optic_ports
    )
    return plan.planes * (each + parts.cable_usd)


def _steps(
    plan: ClosDesign, parts: Parts, ports: PortClass, rails: int, most_ports: int
) -> list[_Step]:
    """Return the ports of each leaf count, and its cost without the links to nodes."""
    per_unit = ports.nodes_per_su * rails
    units = math.ceil(most_ports / per_unit)
    if leaves(units * ports.nodes_per_su, rails, ports.nodes_per_su, plan.leaf_down) > MOST_LEAVES:
        return []
    found: dict[int, int] = {}
    for unit in range(1, units + 1):
        found[leaves(unit * ports.nodes_per_su, rails, ports.nodes_per_su, plan.leaf_down)] = (
            unit * per_unit
        )
    steps = []
    for count, most in found.items():
        try:
            usd = _between_usd(plan, parts, count)
        except ValueError:  # beyond the reach of the tiers, which the model limits
            break
        steps.append(_Step(most, usd))
    return steps


def _plain_steps(
    topology: str, plan: ClosDesign, parts: Parts, rails: int, most_ports: int
) -> list[_Step]:
    """Return the ports of each number of full switches of a network without units, and its cost.

    The cost is without the links to nodes. A switch more is bought with the first port after a step.
    """
    width = step_ports(topology, plan, rails)
    each = rails if topology == ALONE else 1
    count = math.ceil(most_ports / width)
    if count * width / plan.leaf_down > MOST_LEAVES:
        return []
    steps = []
    for k in range(1, count + 1):
        try:
            counts, fills = connect(topology, plan, 1, [Nodes(k * width // each, each)])
        except ValueError:  # beyond the reach, which the model limits
            break
        usd = bill(counts, parts, fills).capex_usd - k * width * link_usd(plan, parts)
        steps.append(_Step(k * width, max(usd, 0.0)))
    return steps


def _between_usd(plan: ClosDesign, parts: Parts, leaf_count: int) -> float:
    leaf = Fill(leaf_count, 0, plan.leaf_up if plan.tiers > 1 else 0)
    fills = Fills((leaf,), *upper_fills(plan, leaf_count)).times(plan.planes)
    return bill(size(plan, leaf_count, 0), parts, fills).capex_usd
