"""Which system may stand where, how many nodes a rack holds, and what one rack draws, weighs and costs."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dcplan.catalog.schema import CoolingOption, System
from dcplan.facility.racks import RACK_UNITS, Fit, RackLimits, nodes_per_rack, split_heat_kw
from dcplan.planning.menu.ledger import Ledger
from dcplan.planning.menu.types import CoolingTerms, HallTerms, LeftOut, PartsTerms, Placement, PortClass, SupplyTerms
from dcplan.provenance import Quantity
from dcplan.scenario.references import makers
from dcplan.scenario.schema import Hall, Scenario, Supply
from dcplan.units import KG_PER_TONNE, KW_PER_MW, QUARTERS_PER_YEAR, quarter_index

DEFAULT_LEAD_QUARTERS = 1
"""Of the scenario format, where neither `supply` nor the catalog gives one."""


@dataclass(frozen=True)
class SystemTerms:
    """One system with its kW, price and ordering terms, before it meets a hall."""

    row: System
    rated_kw: float
    peak_kw: float
    training_kw: float
    research_kw: float
    idle_kw: float
    price_usd: float
    lead: int
    first_order: int
    maintenance_frac_per_year: float
    embodied_t: float
    price_factor: tuple[float, ...] = ()
    makers: tuple[str, ...] = ()


def requested_systems(scenario: Scenario, ledger: Ledger, left_out: list[LeftOut]) -> list[SystemTerms]:
    """Systems the scenario names (or all that are sold), each with what it lacks as a reason."""
    table = ledger.catalog.table("systems", System)
    if scenario.systems == "all":
        ids = list(table)
    else:
        ids = [ledger.catalog.get("systems", name, System).id for name in scenario.systems]
    found = []
    for key in dict.fromkeys(ids):
        row = table[key]
        reason = _lacks(row, fleet=False)
        if reason:
            left_out.append(LeftOut("system", key, "", reason))
            continue
        found.append(system_terms(row, scenario, ledger))
    return found


def _lacks(row: System, *, fleet: bool) -> str:
    if not row.sold and not fleet:
        return row.not_sold_reason or "not for sale"
    if row.rated_kw is None:
        return "no power figure"
    if row.price_usd is None:
        return "no price"
    if row.release is None and not fleet:
        return "no release date"
    if row.scaleout_ports is None or row.scaleout_port_gbps is None or not row.protocols:
        return "no scale-out ports in the catalog"
    return ""


def system_terms(row: System, scenario: Scenario, ledger: Ledger) -> SystemTerms:
    """Resolve the three kW, price, lead and release of one system."""
    key = f"systems.{row.id}"
    rated = ledger.take(f"{key}.rated_kw", _given(row.rated_kw))
    peak = (
        ledger.take(f"{key}.peak_kw", row.peak_kw)
        if row.peak_kw
        else rated * ledger.parameter("power", "peak-over-rated")
    )
    start = quarter_index(scenario.horizon.start)
    supply = next((s for s in scenario.supply if ledger.catalog.get("systems", s.system, System).id == row.id), None)
    promised = supply.lead_quarters if supply else None
    asked = promised if promised is not None else row.lead_quarters
    lead = int(ledger.assumed(f"{key}.lead_quarters", asked, DEFAULT_LEAD_QUARTERS))
    release = quarter_index(row.release) - start if row.release else 0
    since = quarter_index(supply.from_quarter) - start if supply and supply.from_quarter else 0
    embodied = ledger.take(f"{key}.embodied_kg", row.embodied_kg) / KG_PER_TONNE if row.embodied_kg else 0.0

    def state(name: str, given: Quantity | None) -> float:
        if given is not None:
            return ledger.take(f"{key}.average_kw.{name}", given)
        return rated * ledger.parameter("power", f"average-{name}-frac")

    return SystemTerms(
        row=row,
        rated_kw=rated,
        peak_kw=peak,
        training_kw=state("training", row.average_kw.training),
        research_kw=state("research", row.average_kw.research),
        idle_kw=state("idle", row.average_kw.idle),
        price_usd=ledger.take(f"{key}.price_usd", _given(row.price_usd)),
        lead=lead,
        first_order=max(release, since, 0),
        maintenance_frac_per_year=ledger.parameter("finance", "maintenance-hardware-frac-per-year"),
        embodied_t=embodied,
        price_factor=_price_factor(row, supply, scenario, ledger),
        makers=makers(row, ledger.catalog),
    )


def _price_factor(row: System, supply: Supply | None, scenario: Scenario, ledger: Ledger) -> tuple[float, ...]:
    """Price by order quarter over the catalog's: quoted by quarter, or growing at a yearly rate."""
    quarters, base = scenario.horizon.quarters, _given(row.price_usd).value
    if supply is not None and supply.price_usd is not None:
        quoted = ledger.series(f"supply.{row.id}.price_usd", supply.price_usd, quarters)
        return tuple(x / base for x in quoted)
    own = supply.price_change_frac_per_year if supply else None
    change = own or scenario.finance.hardware_price_change_frac_per_year
    if change is None:
        return ()
    key = f"supply.{row.id}.price_change_frac_per_year" if own else "finance.hardware_price_change_frac_per_year"
    rate = ledger.take(key, change)
    return tuple((1.0 + rate) ** (t / QUARTERS_PER_YEAR) for t in range(quarters))


def _given(quantity: Quantity | None) -> Quantity:
    if quantity is None:  # callers filter with _lacks
        msg = "a system without rated_kw or price reached the menu"
        raise ValueError(msg)
    return quantity


def supply_terms(scenario: Scenario, ledger: Ledger) -> tuple[SupplyTerms, ...]:
    """Vendor limits by order quarter."""
    quarters = scenario.horizon.quarters
    result = []
    for entry in scenario.supply:
        if entry.racks_per_quarter is None:
            continue
        key = ledger.catalog.get("systems", entry.system, System).id
        racks = ledger.series(f"supply.{key}.racks_per_quarter", entry.racks_per_quarter, quarters)
        result.append(SupplyTerms(key, racks))
    return tuple(result)


def parts_terms(scenario: Scenario, ledger: Ledger) -> tuple[PartsTerms, ...]:
    """Limits of parts by quarter, those that are given."""
    given, quarters = scenario.parts_per_quarter, scenario.horizon.quarters
    series = ((name, getattr(given, name)) for name in ("switches", "transceivers", "power_blocks"))
    found = [(name, s) for name, s in series if s is not None]
    return tuple(PartsTerms(n, ledger.series(f"parts_per_quarter.{n}", s, quarters)) for n, s in found)


def placements(
    system: SystemTerms,
    hall: HallTerms,
    given: Hall,
    ledger: Ledger,
    left_out: list[LeftOut],
    nodes_override: int | None = None,
    nodes_per_su: int | None = None,
    busy_frac: float = 0.0,
    fleet_nodes: int | None = None,
) -> list[Placement]:
    """Every cooling option of a hall under which the system fits; the others are named with the reason."""
    result = []
    for cooling in hall.coolings:
        row = ledger.catalog.get("cooling", cooling.id, CoolingOption)
        reason = _incompatible(system.row, row)
        if not reason:
            placed = _placed(system, hall, given, cooling, row, nodes_override, nodes_per_su, busy_frac, fleet_nodes)
            if isinstance(placed, Placement):
                result.append(placed)
                continue
            reason = placed
        left_out.append(LeftOut("system", system.row.id, f"{hall.id} {cooling.id}", reason))
    return result


def _incompatible(system: System, cooling: CoolingOption) -> str:
    if not set(system.cooling_modes) & set(cooling.accepts):
        return f"{'/'.join(system.cooling_modes)}-cooled, {cooling.id} accepts {'/'.join(cooling.accepts)}"
    supply, limit = cooling.coolant_supply_c, system.coolant_supply_max_c
    uses_liquid = "liquid" in system.cooling_modes and "liquid" in cooling.accepts
    if uses_liquid and supply and limit and supply.value > limit.value:
        return f"coolant {supply.value:g} °C on the design day > {limit.value:g} °C allowed"
    return ""


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
    liquid_hall = "liquid" in row.accepts and "liquid" in unit.cooling_modes
    share = unit.liquid_frac.value if unit.liquid_frac else 0.0
    air, liquid = split_heat_kw(system.rated_kw, share, liquid_cooled_hall=liquid_hall)
    fit = _fit(system, given, row, air, liquid)
    nodes = fit.nodes if nodes_override is None else nodes_override
    if nodes == 0:
        return fit.reason
    if fleet_nodes is not None:
        nodes = evenly_filled(fleet_nodes, nodes) if nodes_override is None else min(nodes, fleet_nodes)
    if unit.form != "server":
        nodes = 1
    slots = max(unit.racks, 1)
    cdu_frac = row.cdu_frac.value if row.cdu_frac else 0.0
    fan_frac = row.fan_frac.value if row.fan_frac else 0.0
    overhead_node = cdu_frac * liquid + fan_frac * air
    bound, name = min(
        (hall.racks / slots, "rack positions"),
        (hall.it_mw * KW_PER_MW / (nodes * (system.rated_kw + overhead_node)), "it_mw"),
        (_ratio(cooling.air_mw * KW_PER_MW, nodes * air), "air_mw"),
        (_ratio(cooling.liquid_mw * KW_PER_MW, nodes * liquid), "liquid_mw"),
    )
    most = math.floor(bound + 1e-9)
    if most < 1:
        return f"not one rack fits the hall's {name}"
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
        standing_kw=standing_kw(system.idle_kw, system.training_kw, busy_frac) * nodes,
        training_kw=system.training_kw * nodes,
        research_kw=system.research_kw * nodes,
        air_kw=air * nodes,
        liquid_kw=liquid * nodes,
        overhead_kw=overhead_node * nodes,
        weight_kg=(unit.weight_kg.value if unit.weight_kg else 0.0) * nodes,
        ports=(unit.scaleout_ports or 0) * nodes,
        rails=unit.scaleout_rails or unit.scaleout_ports or 1,
        port_class=PortClass(
            unit.scaleout_port_gbps.value if unit.scaleout_port_gbps else 0.0,
            tuple(unit.protocols),
            nodes_per_su or unit.nodes_per_su or 1,
            unit.scaleout_ports_per_cage,
        ),
        price_usd=system.price_usd * nodes,
        maintenance_usd_per_quarter=system.price_usd * nodes * system.maintenance_frac_per_year / QUARTERS_PER_YEAR,
        lead=system.lead,
        first_order=system.first_order,
        max_racks_unit=most,
        embodied_t=system.embodied_t * nodes,
        price_factor=system.price_factor,
        makers=system.makers,
        derived_nodes=fit.nodes if unit.form == "server" else 1,
        fit_reason=fit.reason if nodes_override is None else f"given: {nodes} nodes per rack (derived: {fit.nodes})",
    )


def _ratio(limit_kw: float, used_kw: float) -> float:
    """How many fit; without use, any number."""
    return limit_kw / used_kw if used_kw > 0 else math.inf


def standing_kw(idle_kw: float, training_kw: float, busy_frac: float) -> float:
    """Average power of a unit that works at training power for a share of the time. [kW]

    Examples
    --------
    >>> round(standing_kw(2.0, 8.0, 0.7), 6), standing_kw(2.0, 8.0, 0.0)
    (6.2, 2.0)
    """
    return idle_kw + busy_frac * (training_kw - idle_kw)


def _fit(system: SystemTerms, given: Hall, row: CoolingOption, air_kw: float, liquid_kw: float) -> Fit:
    unit = system.row
    per_slot = max(unit.racks, 1)  # a pod spreads over several racks; the limits hold for each
    limits = RackLimits(
        electrical_kw=given.rack_kw_max.value,
        air_kw=row.air_rack_kw_max.value,
        liquid_kw=row.liquid_rack_kw_max.value,
        weight_kg=given.rack_kg_max.value if given.rack_kg_max else math.inf,
        rack_units=given.rack_units.value if given.rack_units else RACK_UNITS,
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
    """Nodes per rack, at most ``most``, that fill every rack alike; ``most`` when that would take twice the racks.

    Examples
    --------
    >>> evenly_filled(64, 5), evenly_filled(127, 4)
    (4, 4)
    """
    even = max(n for n in range(1, most + 1) if nodes % n == 0)
    return even if 2 * even >= most else most
