"""Nodes of a rack or tank, and the number of racks that a hall holds."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dcplan.catalog.schema import CoolingOption, System
from dcplan.facility.racks import Fit, nodes_per_rack, split_heat_kw
from dcplan.inputs.heat_paths import rack_limits
from dcplan.planning.problem.systems import SystemTerms
from dcplan.planning.problem.terms import CoolingTerms, HallTerms
from dcplan.scenario.schema import Hall
from dcplan.units import KW_PER_MW


@dataclass(frozen=True)
class NodeHeat:
    """Heat of one node by path, and the power of its cooling, in kW."""

    air_kw: float
    liquid_kw: float
    cooling_kw: float


@dataclass(frozen=True)
class Rack:
    """Nodes of one rack or tank, its rack positions, and how many of them the hall holds."""

    nodes: int
    derived_nodes: int
    slots: int
    most: int
    fit_reason: str


def node_heat(system: SystemTerms, row: CoolingOption) -> NodeHeat:
    """Return the heat of a node under a cooling option; a tank takes all of it as liquid."""
    unit, tank = system.row, row.tank
    liquid_hall = tank is not None or ("liquid" in row.accepts and "liquid" in unit.cooling_modes)
    own = unit.liquid_frac.value if unit.liquid_frac else 0.0
    share = own if tank is None else 1.0
    air, liquid = split_heat_kw(system.rated_kw, share, liquid_cooled_hall=liquid_hall)
    cdu_frac = row.cdu_frac.value if row.cdu_frac else 0.0
    fan_frac = row.fan_frac.value if row.fan_frac else 0.0
    return NodeHeat(air, liquid, cdu_frac * liquid + fan_frac * air)


def rack_of(
    system: SystemTerms,
    hall: HallTerms,
    given: Hall,
    cooling: CoolingTerms,
    row: CoolingOption,
    heat: NodeHeat,
    nodes_override: int | None,
    fleet_nodes: int | None,
) -> Rack | str:
    """Return the rack of a system in a hall under a cooling option, or why there is none."""
    fit = _fit(system, hall, given, cooling, row, heat)
    nodes = _nodes_of(system.row, fit, nodes_override, fleet_nodes)
    if nodes == 0:
        return fit.reason
    slots = max(system.row.racks, 1) if row.tank is None else row.tank.rack_positions
    most, name = _most_racks(hall, cooling, slots, system.rated_kw, heat, nodes)
    if most < 1:
        return f"one rack exceeds the hall's {name}"
    if system.row.form != "server":
        return Rack(nodes, 1, slots, most, "a rack-scale system")
    reason = _fit_reason(fit, row, nodes, given=nodes_override is not None)
    return Rack(nodes, fit.nodes, slots, most, reason)


def _nodes_of(unit: System, fit: Fit, nodes_override: int | None, fleet_nodes: int | None) -> int:
    """Return the nodes of a rack: those given or those that fit, without empty places in a fleet.

    A rack-scale system is one node; 0 if none fits.
    """
    nodes = fit.nodes if nodes_override is None else nodes_override
    if nodes == 0:
        return 0
    if unit.form != "server":
        return 1
    if fleet_nodes is None:
        return nodes
    return evenly_filled(fleet_nodes, nodes) if nodes_override is None else min(nodes, fleet_nodes)


def evenly_filled(nodes: int, most: int) -> int:
    """Return the nodes per rack, at most ``most``, that fill all racks equally.

    It is ``most`` if equal filling needs at least twice the racks.

    Examples
    --------
    >>> evenly_filled(64, 5), evenly_filled(127, 4)
    (4, 4)
    """
    even = max(n for n in range(1, most + 1) if nodes % n == 0)
    return even if 2 * even >= most else most


def _fit_reason(fit: Fit, cooling: CoolingOption, nodes: int, *, given: bool) -> str:
    """Return why a rack, or a tank, holds its nodes."""
    place = "rack" if cooling.tank is None else "tank"
    reason = f"given: {nodes} nodes per {place} (derived: {fit.nodes})" if given else fit.reason
    if cooling.tank is None:
        return reason
    return f"tank on {cooling.tank.rack_positions} rack positions; {reason}"


def _most_racks(
    hall: HallTerms, cooling: CoolingTerms, slots: int, rated_kw: float, heat: NodeHeat, nodes: int
) -> tuple[int, str]:
    """Return the number of racks with these nodes that the hall holds, and the binding limit."""
    node_kw = rated_kw + heat.cooling_kw
    bound, name = min(
        (hall.racks / slots, "rack positions"),
        (hall.it_mw * KW_PER_MW / (nodes * node_kw), "it_mw"),
        (_ratio(cooling.air_mw * KW_PER_MW, nodes * heat.air_kw), "air_mw"),
        (_ratio(cooling.liquid_mw * KW_PER_MW, nodes * heat.liquid_kw), "liquid_mw"),
    )
    return math.floor(bound + 1e-9), name


def _ratio(limit_kw: float, used_kw: float) -> float:
    """Return how many fit; infinite if nothing is used."""
    return limit_kw / used_kw if used_kw > 0 else math.inf


def _fit(
    system: SystemTerms,
    hall: HallTerms,
    given: Hall,
    cooling: CoolingTerms,
    row: CoolingOption,
    heat: NodeHeat,
) -> Fit:
    """Return the nodes that fit one rack of the hall under a cooling option."""
    unit = system.row
    per_slot = max(unit.racks, 1)  # a pod covers several racks; the limits apply to each
    limits = rack_limits(
        row,
        unit,
        electrical_kw=cooling.rack_kw_max or given.rack_kw_max.value,
        weight_kg=given.rack_kg_max.value if given.rack_kg_max else math.inf,
        rack_units=hall.rack_units,
    )
    is_server = unit.form == "server"
    return nodes_per_rack(
        limits,
        system.rated_kw / per_slot,
        heat.air_kw / per_slot,
        heat.liquid_kw / per_slot,
        weight_kg=unit.weight_kg.value / per_slot if unit.weight_kg else None,
        rack_units=unit.rack_units.value if is_server and unit.rack_units else None,
    )
