"""Switches come whole.

The cost of a fabric by the number of its leaves, as steps that the model may climb.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from dcplan.fabric.bom import Fills, Parts, bill
from dcplan.fabric.topology.clos import leaves, size
from dcplan.fabric.topology.design import ClosDesign
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
"""Steps of one fabric and NIC class; of larger networks the highest jumps are kept."""
MOST_LEAVES = 2048
"""Larger networks round by less than a thousandth, and a spine count that doubles shows in the
highest jumps below."""


@dataclass(frozen=True)
class _Step:
    ports: int
    usd: float


def with_steps(problem: PlanningProblem, most: int) -> PlanningProblem:
    """Return the menu with steps of whole switches, where a model can carry them.

    At most so many over all quarters.
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
    """Return steps of each NIC class whose systems have rails alike.

    Others keep the per-port share alone.

    ``there`` are racks of assets by placement: their ports stay connected when they are sold,
    beside all that the hall can hold.
    """
    found = {}
    for ports in option.shares:
        own = [p for p in placed if p.port_class == ports]
        rails = {p.rails for p in own}
        most = max((p.max_racks_unit * hall.count * p.ports for p in own), default=0)
        most += sum(there.get(p.key, 0) * p.ports for p in own)
        if len(rails) == 1 and most:
            step_costs = step_cost(
                option.designs[ports], option.parts[ports], ports, rails.pop(), most
            )
            if step_costs is not None:
                found[ports] = step_costs
    return found


def step_cost(
    plan: ClosDesign, parts: Parts, ports: PortClass, rails: int, most_ports: int
) -> StepCost | None:
    r"""Lower bound of a network's cost by its ports.

    Links in proportion, switches by steps of whole leaves.

    .. math:: C(P) \ge b P + A(L(P)), \quad A(L) = \text{switches, optics and cables between } L \text{ leaves}

    Exact for one system whose units are full; each further system has leaves of its own, so that it
    costs more. The steps never fall: fewer leaves never cost more than the cheapest network of as
    many or more.
    """
    steps = _steps(plan, parts, ports, rails, most_ports)
    if not steps:
        return None
    usd = [s.usd for s in steps]
    for i in range(len(usd) - 2, -1, -1):
        usd[i] = min(usd[i], usd[i + 1])
    rises = [(usd[i] - (usd[i - 1] if i else 0.0), i) for i in range(len(usd))]
    kept = sorted({0, *(i for _, i in sorted(rises, reverse=True)[:MOST_STEPS])})
    # a step kept begins where the one before it ends, and holds until the next kept one begins
    ends = [*(steps[i - 1].ports for i in kept[1:]), steps[-1].ports]
    widths = [end - begin for begin, end in zip([0, *ends], ends, strict=False)]
    heights = [usd[i] for i in kept]
    jumps = [high - low for low, high in zip([0.0, *heights], heights, strict=False)]
    return StepCost(link_usd(plan, parts), tuple(widths), tuple(jumps))


def link_usd(plan: ClosDesign, parts: Parts) -> float:
    """Optics and cable of one NIC port, over all planes: what each one needs of its own [USD]."""
    each = (
        parts.leaf_optic_usd / parts.leaf_optic_ports
        + parts.node_optic_usd / parts.node_optic_ports
    )
    return plan.planes * (each + parts.cable_usd)


def _steps(
    plan: ClosDesign, parts: Parts, ports: PortClass, rails: int, most_ports: int
) -> list[_Step]:
    """Ports that each leaf count carries, and what all but the links to nodes costs there."""
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
        except ValueError:  # beyond the tiers' reach, which the model limits
            break
        steps.append(_Step(most, usd))
    return steps


def _between_usd(plan: ClosDesign, parts: Parts, leaf_count: int) -> float:
    leaf = Fill(leaf_count, 0, plan.leaf_up if plan.tiers > 1 else 0)
    fills = Fills((leaf,), *upper_fills(plan, leaf_count)).times(plan.planes)
    return bill(size(plan, leaf_count, 0), parts, fills).capex_usd
