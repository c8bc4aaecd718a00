"""Placement of a system in a hall: suitable cooling options, nodes per rack, power of a rack."""

from __future__ import annotations

import math
from dataclasses import replace

from dcplan.catalog.schema import CoolingOption, System
from dcplan.facility.immersion import without_fans_kw
from dcplan.facility.racks import Fit, nodes_per_rack, split_heat_kw
from dcplan.inputs.excluded import ExcludedOption, Kind
from dcplan.inputs.heat_paths import UNCHANGED, Conversion, conversion, misfit, rack_limits
from dcplan.inputs.log import InputLog
from dcplan.inputs.recovery import hosts_of
from dcplan.planning.problem.systems import SystemTerms
from dcplan.planning.problem.terms import CoolingTerms, HallTerms, Placement, PortClass
from dcplan.scenario.schema import Hall
from dcplan.units import KW_PER_MW, QUARTERS_PER_YEAR


def placements(
    system: SystemTerms,
    hall: HallTerms,
    given: Hall,
    log: InputLog,
    excluded: list[ExcludedOption],
    nodes_override: int | None = None,
    nodes_per_su: int | None = None,
    busy_frac: float = 0.0,
    fleet_nodes: int | None = None,
) -> list[Placement]:
    """Return the placements of a system, one per suitable cooling option of the hall.

    Other cooling options are excluded with a reason.
    """
    result = []
    for cooling in hall.coolings:
        row = log.catalog.get("cooling", cooling.id, CoolingOption)
        reason = _incompatible(system.row, row)
        if not reason:
            change = conversion(system.row, row, log)
            placed = _placed(
                _converted(system, change),
                hall,
                given,
                cooling,
                row,
                nodes_override,
                nodes_per_su,
                busy_frac,
                fleet_nodes,
            )
            if isinstance(placed, Placement):
                result.append(replace(placed, fan_frac=change.fan_frac, conversion_usd=change.usd))
                continue
            reason = placed
        excluded.append(
            ExcludedOption(Kind.SYSTEM, system.row.id, f"{hall.id} {cooling.id}", reason)
        )
    return result


def _incompatible(system: System, cooling: CoolingOption) -> str:
    unfit = misfit(system, cooling)
    if unfit is not None:
        return str(unfit)
    supply, limit = cooling.coolant_supply_c, system.coolant_supply_max_c
    uses_liquid = "liquid" in system.cooling_modes and "liquid" in cooling.accepts
    if uses_liquid and supply and limit and supply.value > limit.value:
        return f"coolant has {supply.value:g} °C on the design day; the system allows {limit.value:g} °C"
    return ""


def _converted(system: SystemTerms, change: Conversion) -> SystemTerms:
    """Return a server without its fans, with the price of its conversion for a tank."""
    if change == UNCHANGED:
        return system
    return replace(
        system,
        rated_kw=without_fans_kw(system.rated_kw, change.fan_frac),
        peak_kw=without_fans_kw(system.peak_kw, change.fan_frac),
        training_kw=without_fans_kw(system.training_kw, change.fan_frac),
        research_kw=without_fans_kw(system.research_kw, change.fan_frac),
        idle_kw=without_fans_kw(system.idle_kw, change.fan_frac),
        price_usd=system.price_usd + change.usd,
    )


def _placed(
    system: SystemTerms,
    hall: HallTerms,
    given: Hall,
    cooling: CoolingTerms,
    row: CoolingOption,
    nodes_override: int | None,
    nodes_per_su: int | None,
    busy_frac: float,
    fleet_nodes: int | None,
) -> Placement | str:
    unit = system.row
    tank = row.tank
    liquid_hall = tank is not None or ("liquid" in row.accepts and "liquid" in unit.cooling_modes)
    own = unit.liquid_frac.value if unit.liquid_frac else 0.0
    share = own if tank is None else 1.0
    air, liquid = split_heat_kw(system.rated_kw, share, liquid_cooled_hall=liquid_hall)
    fit = _fit(system, hall, given, row, air, liquid)
    nodes = fit.nodes if nodes_override is None else nodes_override
    if nodes == 0:
        return fit.reason
    if fleet_nodes is not None:
        nodes = (
            evenly_filled(fleet_nodes, nodes) if nodes_override is None else min(nodes, fleet_nodes)
        )
    if unit.form != "server":
        nodes = 1
    slots = max(unit.racks, 1) if tank is None else tank.rack_positions
    cdu_frac = row.cdu_frac.value if row.cdu_frac else 0.0
    fan_frac = row.fan_frac.value if row.fan_frac else 0.0
    overhead_node = cdu_frac * liquid + fan_frac * air
    most, name = _most_racks(
        hall, cooling, slots, system.rated_kw + overhead_node, air, liquid, nodes
    )
    if most < 1:
        return f"one rack exceeds the hall's {name}"
    return Placement(
        hall=hall.id,
        cooling=cooling.id,
        system=unit.id,
        accelerator=unit.accelerator,
        accelerators=unit.accelerators * nodes,
        nodes=nodes,
        slots=slots,
        rated_kw=system.rated_kw * nodes,
        peak_kw=system.peak_kw * nodes,
        idle_kw=system.idle_kw * nodes,
        idle_average_kw=idle_average_kw(system.idle_kw, system.training_kw, busy_frac) * nodes,
        training_kw=system.training_kw * nodes,
        research_kw=system.research_kw * nodes,
        air_kw=air * nodes,
        liquid_kw=liquid * nodes,
        overhead_kw=overhead_node * nodes,
        weight_kg=(unit.weight_kg.value if unit.weight_kg else 0.0) * nodes
        + (tank.filled_kg.value if tank else 0.0),
        ports=(unit.scaleout_ports or 0) * nodes,
        rails=unit.scaleout_rails or unit.scaleout_ports or 1,
        port_class=PortClass(
            unit.scaleout_port_gbps.value if unit.scaleout_port_gbps else 0.0,
            tuple(unit.protocols),
            nodes_per_su or unit.nodes_per_su or 1,
            unit.scaleout_ports_per_cage,
            0 if nodes_per_su else _rack_nodes(unit),
        ),
        price_usd=system.price_usd * nodes,
        maintenance_usd_per_quarter=system.price_usd
        * nodes
        * system.maintenance_frac_per_year
        / QUARTERS_PER_YEAR,
        lead=system.lead,
        first_order=system.first_order,
        max_racks_unit=most,
        embodied_t=None if system.embodied_t is None else system.embodied_t * nodes,
        price_factor=system.price_factor,
        makers=system.makers,
        derived_nodes=fit.nodes if unit.form == "server" else 1,
        in_tank=tank is not None,
        fit_reason="a rack-scale system"
        if unit.form != "server"
        else _fit_reason(fit, row, nodes, given=nodes_override is not None),
    )


def _rack_nodes(row: System) -> int:
    """Return the hosts of a rack-scale system whose scalable unit has several racks, otherwise 1."""
    if row.form == "server":
        return 1
    hosts = hosts_of(row) // max(row.racks, 1)
    return max(hosts, 1) if (row.nodes_per_su or 1) > hosts else 1


def _fit_reason(fit: Fit, cooling: CoolingOption, nodes: int, *, given: bool) -> str:
    """Return why a rack, or a tank, holds its nodes."""
    place = "rack" if cooling.tank is None else "tank"
    reason = f"given: {nodes} nodes per {place} (derived: {fit.nodes})" if given else fit.reason
    if cooling.tank is None:
        return reason
    return f"tank on {cooling.tank.rack_positions} rack positions; {reason}"


def _most_racks(
    hall: HallTerms,
    cooling: CoolingTerms,
    slots: int,
    node_kw: float,
    air_kw: float,
    liquid_kw: float,
    nodes: int,
) -> tuple[int, str]:
    """Return the number of racks with these nodes that the hall holds, and the binding limit.

    ``node_kw`` includes the power of its cooling.
    """
    bound, name = min(
        (hall.racks / slots, "rack positions"),
        (hall.it_mw * KW_PER_MW / (nodes * node_kw), "it_mw"),
        (_ratio(cooling.air_mw * KW_PER_MW, nodes * air_kw), "air_mw"),
        (_ratio(cooling.liquid_mw * KW_PER_MW, nodes * liquid_kw), "liquid_mw"),
    )
    return math.floor(bound + 1e-9), name


def _ratio(limit_kw: float, used_kw: float) -> float:
    """Return how many fit; infinite if nothing is used."""
    return limit_kw / used_kw if used_kw > 0 else math.inf


def idle_average_kw(idle_kw: float, training_kw: float, busy_frac: float) -> float:
    """Return the average power of a unit that runs at training power for a share of the time [kW].

    Examples
    --------
    >>> round(idle_average_kw(2.0, 8.0, 0.7), 6), idle_average_kw(2.0, 8.0, 0.0)
    (6.2, 2.0)
    """
    return idle_kw + busy_frac * (training_kw - idle_kw)


def _fit(
    system: SystemTerms,
    hall: HallTerms,
    given: Hall,
    row: CoolingOption,
    air_kw: float,
    liquid_kw: float,
) -> Fit:
    unit = system.row
    per_slot = max(unit.racks, 1)  # a pod covers several racks; the limits apply to each
    limits = rack_limits(
        row,
        unit,
        electrical_kw=given.rack_kw_max.value,
        weight_kg=given.rack_kg_max.value if given.rack_kg_max else math.inf,
        rack_units=hall.rack_units,
    )
    is_server = unit.form == "server"
    return nodes_per_rack(
        limits,
        system.rated_kw / per_slot,
        air_kw / per_slot,
        liquid_kw / per_slot,
        weight_kg=unit.weight_kg.value / per_slot if unit.weight_kg else None,
        rack_units=unit.rack_units.value if is_server and unit.rack_units else None,
    )


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
