"""Placement of a system in a hall: suitable cooling options, and the amounts of a rack."""

from __future__ import annotations

from dataclasses import replace

from dcplan.catalog.schema import Accelerator, CoolingOption, System
from dcplan.facility.immersion import without_fans_kw
from dcplan.inputs.excluded import ExcludedOption, Kind
from dcplan.inputs.heat_paths import UNCHANGED, Conversion, conversion, misfit
from dcplan.inputs.log import InputLog
from dcplan.inputs.recovery import hosts_of
from dcplan.planning.problem.rack import NodeHeat, Rack, node_heat, rack_of
from dcplan.planning.problem.systems import SystemTerms
from dcplan.planning.problem.terms import CoolingTerms, HallTerms, Placement, PortClass
from dcplan.scenario.schema import Hall
from dcplan.units import QUARTERS_PER_YEAR


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
                result.append(
                    replace(
                        placed,
                        fan_frac=change.fan_frac,
                        conversion_usd=change.usd,
                        domain=_domain(system.row, log),
                    )
                )
                continue
            reason = placed
        excluded.append(
            ExcludedOption(Kind.SYSTEM, system.row.id, f"{hall.id} {cooling.id}", reason)
        )
    return result


def _domain(system: System, log: InputLog) -> int:
    """Return the accelerators that need no network between them: a scale-up domain, or a server."""
    if system.form == "server":
        return system.accelerators
    return log.catalog.get("accelerators", system.accelerator, Accelerator).scaleup_domain or 1


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
    """Return the placement under one cooling option, or why the hall holds no rack."""
    heat = node_heat(system, row)
    rack = rack_of(system, hall, given, cooling, row, heat, nodes_override, fleet_nodes)
    if isinstance(rack, str):
        return rack
    return _placement(system, hall.id, row, heat, rack, nodes_per_su, busy_frac)


def _placement(
    system: SystemTerms,
    hall: str,
    row: CoolingOption,
    heat: NodeHeat,
    rack: Rack,
    nodes_per_su: int | None,
    busy_frac: float,
) -> Placement:
    """Return the amounts of one rack: those of a node times its nodes."""
    unit, nodes, tank = system.row, rack.nodes, row.tank
    idle_average = idle_average_kw(system.idle_kw, system.training_kw, busy_frac)
    yearly_usd = system.price_usd * nodes * system.maintenance_frac_per_year
    return Placement(
        hall=hall,
        cooling=row.id,
        system=unit.id,
        accelerator=unit.accelerator,
        accelerators=unit.accelerators * nodes,
        nodes=nodes,
        slots=rack.slots,
        rated_kw=system.rated_kw * nodes,
        peak_kw=system.peak_kw * nodes,
        idle_kw=system.idle_kw * nodes,
        idle_average_kw=idle_average * nodes,
        training_kw=system.training_kw * nodes,
        research_kw=system.research_kw * nodes,
        air_kw=heat.air_kw * nodes,
        liquid_kw=heat.liquid_kw * nodes,
        overhead_kw=heat.cooling_kw * nodes,
        weight_kg=(unit.weight_kg.value if unit.weight_kg else 0.0) * nodes
        + (tank.filled_kg.value if tank else 0.0),
        ports=(unit.scaleout_ports or 0) * nodes,
        rails=unit.scaleout_rails or unit.scaleout_ports or 1,
        port_class=_port_class(unit, nodes_per_su),
        price_usd=system.price_usd * nodes,
        maintenance_usd_per_quarter=yearly_usd / QUARTERS_PER_YEAR,
        lead=system.lead,
        first_order=system.first_order,
        max_racks_unit=rack.most,
        price_factor=system.price_factor,
        makers=system.makers,
        derived_nodes=rack.derived_nodes,
        in_tank=tank is not None,
        fit_reason=rack.fit_reason,
    )


def _port_class(unit: System, nodes_per_su: int | None) -> PortClass:
    """Return the class of the system's ports, with the scalable unit that is given or its own."""
    return PortClass(
        unit.scaleout_port_gbps.value if unit.scaleout_port_gbps else 0.0,
        tuple(unit.protocols),
        nodes_per_su or unit.nodes_per_su or 1,
        unit.scaleout_ports_per_cage,
        0 if nodes_per_su else _rack_nodes(unit),
    )


def _rack_nodes(row: System) -> int:
    """Return the hosts of a rack-scale system whose scalable unit has several racks, otherwise 1."""
    if row.form == "server":
        return 1
    hosts = hosts_of(row) // max(row.racks, 1)
    return max(hosts, 1) if (row.nodes_per_su or 1) > hosts else 1


def idle_average_kw(idle_kw: float, training_kw: float, busy_frac: float) -> float:
    """Return the average power of a unit that runs at training power for a share of the time [kW].

    Examples
    --------
    >>> round(idle_average_kw(2.0, 8.0, 0.7), 6), idle_average_kw(2.0, 8.0, 0.0)
    (6.2, 2.0)
    """
    return idle_kw + busy_frac * (training_kw - idle_kw)
