"""Tables and metrics of a hall: heat, quarters, water temperature, power chain."""

from __future__ import annotations

from dcplan.answers.facility.feasibility import dry_supply_c, warmest_c
from dcplan.answers.facility.power import ups_stage
from dcplan.answers.facility.resolve import FacilityAsk
from dcplan.catalog.schema import Accelerator, CoolingOption, Parameter, ReportedSite, Site
from dcplan.facility.liquid import flow_l_per_min, ride_through_s, units
from dcplan.facility.power import blocks_needed
from dcplan.inputs.cooling import Performance, performance
from dcplan.inputs.log import Ledger
from dcplan.result import Cell, Metric, Table
from dcplan.specs import facility as specs
from dcplan.units import (
    GFLOPS_PER_TFLOPS,
    HOURS_PER_DAY,
    HOURS_PER_YEAR,
    KG_PER_TONNE,
    KW_PER_MW,
    L_PER_M3,
)

CLASSES_C = (17.0, 27.0, 32.0, 40.0, 45.0)
"""ASHRAE TC 9.9 facility-water classes W17 to W45 by their warmest supply. [C]"""
QUARTER_NAMES = ("Q1", "Q2", "Q3", "Q4")


def heat_kw(option: CoolingOption, ask: FacilityAsk) -> tuple[float, float]:
    """IT heat into liquid and into air at the asked load. [kW]"""
    it_kw = ask.it_mw * KW_PER_MW * ask.load
    liquid = (
        it_kw * (1.0 - ask.air_frac(option)) if option.model and "liquid" in option.accepts else 0.0
    )
    return liquid, it_kw - liquid


def heat_table(option: CoolingOption, ask: FacilityAsk) -> Table:
    """Heat by path against what the option carries in a hall of this size."""
    liquid, air = heat_kw(option, ask)
    it_kw = ask.it_mw * KW_PER_MW
    paths = (
        ("liquid", liquid, it_kw * option.liquid_share_frac.value),
        ("air", air, it_kw * option.air_share_frac.value),
    )
    return specs.HEAT.table(
        specs.HeatRow(path, heat, capacity, heat <= capacity + 1e-6)
        for path, heat, capacity in paths
    )


def quarters_table(found: Performance) -> Table:
    """PUE and WUE by quarter."""
    rows = [(QUARTER_NAMES[q], pue, wue) for q, (pue, wue) in enumerate(found.quarters)]
    return Table(("quarter", "pue", "wue_l_per_kwh"), tuple(rows))


def warm_water_table(option: CoolingOption, ask: FacilityAsk, ledger: Ledger) -> Table:
    """What warmer facility water saves: PUE, water and chillers by ASHRAE class."""
    rows: list[tuple[Cell, ...]] = []
    limits = [warmest_c(option, ledger)]
    if ask.system and ask.system.coolant_supply_max_c and "liquid" in option.accepts:
        limits.append(
            ask.system.coolant_supply_max_c.value - ledger.parameter("facility", "cdu-approach-k")
        )
    least = dry_supply_c(option, ask, ledger) or 0.0
    for supply in (
        c for c in CLASSES_C if c >= least and all(most is None or c <= most for most in limits)
    ):
        found = performance(option, ask.setting(option, ledger, supply), ledger)
        water = found.wue_l_per_kwh.value if found.wue_l_per_kwh else None
        rows.append(
            (f"W{supply:g}", supply, found.pue.value, found.peak_pue, water, found.chiller_frac)
        )
    return Table(
        ("class", "supply_c", "pue", "peak_pue", "wue_l_per_kwh", "chiller_heat_frac"), tuple(rows)
    )


def chain_table(
    found: Performance, ask: FacilityAsk, rule: str, other_rule: str, ledger: Ledger
) -> Table:
    """Power blocks by load class: compute under one rule, network, storage and cooling under
    another.
    """
    it_mw = ask.it_mw
    cooling_mw = it_mw * (found.peak_pue - 1.0)
    block = ledger.parameter("power", "block-mw-default")
    share = ledger.parameter("facility", "network-storage-share")
    classes = (
        ("compute", it_mw * (1.0 - share), rule),
        ("network and storage", it_mw * share, other_rule),
        ("cooling and losses", cooling_mw, other_rule),
    )
    rows: list[tuple[Cell, ...]] = []
    for name, load_mw, redundancy in classes:
        blocks = blocks_needed(load_mw, block, redundancy)
        each = load_mw / (blocks * block) if blocks else None
        efficiency = ups_stage(ledger).efficiency(each) if each else None
        rows.append((name, load_mw, redundancy, blocks, blocks * block, each, efficiency))
    return Table(
        ("class", "load_mw", "redundancy", "blocks", "installed_mw", "block_load_frac", "ups_frac"),
        tuple(rows),
    )


def reported_table(ask: FacilityAsk, ledger: Ledger) -> Table:
    """What real sites of the same place or climate zone report, whatever cools them; nothing is
    fitted to them.
    """
    catalog, here = ledger.catalog, ask.where
    sites = catalog.table("sites", Site)
    rows: list[tuple[Cell, ...]] = []
    for real in catalog.table("reported", ReportedSite).values():
        zone = real.zone or (sites[real.site].climate_zone if real.site else None)
        same_place = here.site is not None and real.site == here.site.id
        if same_place or (here.zone is not None and zone == here.zone):
            water = real.wue_l_per_kwh.value if real.wue_l_per_kwh else None
            rows.append((real.name, real.basis, zone, same_place, real.pue.value, water))
    rows.sort(key=lambda row: (not row[3], str(row[0])))
    return Table(("site", "basis", "zone", "same_place", "pue", "wue_l_per_kwh"), tuple(rows))


def metrics_of(
    option: CoolingOption, ask: FacilityAsk, found: Performance, ledger: Ledger
) -> dict[str, Metric]:
    """Keys that others rely on, and the measures that PUE hides."""
    it_kw = ask.it_mw * KW_PER_MW
    liquid, _ = heat_kw(option, ask)
    peak = found.peak_pue * ask.it_mw
    metrics = {
        **specs.PEAK_ELECTRICAL(_electrical_mw(ask, ledger)),
        **specs.ANNUAL_PUE(found.pue.value, low=found.pue.low, high=found.pue.high),
        **specs.PEAK_PUE(found.peak_pue),
        "power.peak_it_mw": Metric(ask.it_mw, "MW", "IT power built for"),
        "power.peak_facility_mw": Metric(peak, "MW", "All of the site on the design day"),
    }
    if found.wue_l_per_kwh:
        w = found.wue_l_per_kwh
        metrics["water.annual_wue_l_per_kwh"] = Metric(
            w.value, "L/kWh", "Site water over IT energy", w.low, w.high
        )
        year = w.value * it_kw * ask.load * HOURS_PER_YEAR / L_PER_M3
        metrics["water.annual_m3"] = Metric(year, "m3", "Site water of a year at this load")
    if found.peak_wue_l_per_kwh is not None:
        day = found.peak_wue_l_per_kwh * it_kw * HOURS_PER_DAY / L_PER_M3
        metrics["water.peak_day_m3"] = Metric(day, "m3", "A day at the design condition")
    if found.chiller_frac is not None:
        metrics["cooling.chiller_heat_frac"] = Metric(
            found.chiller_frac, "", "Heat that chillers move over the year"
        )
    capex = (
        ledger.take(f"cooling.{option.id}.fit_out_usd_per_kw", option.fit_out_usd_per_kw) * it_kw
    )
    low, high = (x * it_kw for x in option.fit_out_usd_per_kw.bounds)
    metrics["cooling.capex_usd"] = Metric(capex, "USD", "Fit-out of the hall", low, high)
    return (
        metrics
        | _liquid(liquid, option, ask, ledger)
        | _hidden(found, option, ask, ledger)
        | _carbon(found, ask, ledger)
    )


def _electrical_mw(ask: FacilityAsk, ledger: Ledger) -> float:
    """What breakers and busway carry: racks of the system at its design peak, the others as rated."""
    system = ask.system
    over = ledger.parameter("power", "peak-over-rated")
    if system and system.rated_kw and system.peak_kw:
        over = ledger.take(f"systems.{system.id}.peak_kw", system.peak_kw) / system.rated_kw.value
    return ask.it_mw * (ask.other_frac + (1.0 - ask.other_frac) * over)


def _liquid(
    heat: float, option: CoolingOption, ask: FacilityAsk, ledger: Ledger
) -> dict[str, Metric]:
    """Flow, distribution units and seconds of the loops."""
    if heat <= 0.0:
        return {}
    rise, each = (
        ledger.parameter("facility", k) for k in ("coolant-rise-k", "coolant-heat-kj-per-l-k")
    )
    rating = ledger.parameter("facility", "cdu-rating-kw")
    full_kw = heat / ask.load
    flow = flow_l_per_min(full_kw, rise, each)
    count = max(
        units(full_kw, rating), units(flow, ledger.parameter("facility", "cdu-flow-l-per-min"))
    )
    system = ask.system
    most = system.coolant_supply_max_c.value if system and system.coolant_supply_max_c else None
    set_c = ask.setting(option, ledger).supply_c
    warmest = max(set_c, dry_supply_c(option, ask, ledger) or 0.0) if set_c is not None else None
    coolant = None if warmest is None else warmest + ledger.parameter("facility", "cdu-approach-k")
    room = most - coolant if most is not None and coolant is not None else rise
    metrics = {
        "cooling.flow_l_per_min": Metric(
            flow_l_per_min(heat, rise, each), "L/min", "Coolant through racks"
        ),
        "cooling.cdu_count": Metric(
            count, "", "Coolant distribution units by heat and by flow, one of them spare"
        ),
        "cooling.cdu_usd": Metric(
            ledger.parameter("facility", "cdu-usd-per-kw") * count * rating,
            "USD",
            "Their price, part of the fit-out",
        ),
        "cooling.rack_flow_l_per_min": Metric(
            _rack_flow(ask, rise, each), "L/min", f"Coolant of one rack, {rise:g} K"
        ),
        "cooling.cdu_kw": Metric(
            ledger.parameter("facility", "cdu-pump-frac") * heat, "kW", "Their pumps"
        ),
    }
    loops = {
        "pumps": (("plate-litres-per-kw",), "Cold plates when the pumps of the rack loop stop"),
        "plant": (
            ("loop-litres-per-kw", "facility-loop-litres-per-kw"),
            "Both loops without heat rejection, pumps running",
        ),
    }
    for name, (keys, label) in loops.items():
        for key in keys:
            ledger.parameter("facility", key)
        bounds = [ledger.catalog.get("facility", key, Parameter).value for key in keys]
        litres = [
            sum(b.bounds[0] for b in bounds),
            sum(b.value for b in bounds),
            sum(b.bounds[1] for b in bounds),
        ]
        low, value, high = (ride_through_s(v / ask.load, each, room) for v in litres)
        metrics[f"cooling.ride_through_{name}_s"] = Metric(
            value, "s", f"{label}, until {max(room, 0.0):.3g} K warmer", low, high
        )
    reached = dry_supply_c(option, ask, ledger)
    if reached is not None:
        metrics["cooling.design_day_supply_c"] = Metric(
            max(reached, set_c or 0.0),
            "C",
            "Facility water that sprayed dry coolers reach on the design day",
        )
    return metrics


def _rack_flow(ask: FacilityAsk, rise_k: float, heat_kj_per_l_k: float) -> float | None:
    """Of a rack-scale system; None of servers, whose racks are laid out."""
    system = ask.system
    if system is None or system.rated_kw is None or system.liquid_frac is None or not system.racks:
        return None
    liquid = system.liquid_frac.value if ask.liquid_frac is None else ask.liquid_frac
    return flow_l_per_min(system.rated_kw.value / system.racks * liquid, rise_k, heat_kj_per_l_k)


def _hidden(
    found: Performance, option: CoolingOption, ask: FacilityAsk, ledger: Ledger
) -> dict[str, Metric]:
    """Server fans stand in IT power: ITUE, TUE, and kW for what the chips can do."""
    cold = "liquid" in option.accepts and option.model in ("tower", "dry")
    cold = cold and (ask.system is None or "liquid" in ask.system.cooling_modes)
    fans = ledger.parameter("facility", f"server-fan-{'liquid' if cold else 'air'}-frac")
    itue = 1.0 / (1.0 - fans)
    metrics = {
        "itue": Metric(itue, "", "IT power over power without server fans"),
        "tue": Metric(itue * found.pue.value, "", "Site power over IT power without server fans"),
    }
    system = ask.system
    if system is None or system.rated_kw is None:
        return metrics
    chip = ledger.catalog.get("accelerators", system.accelerator, Accelerator)
    if chip.bf16_tflops:
        speed = (
            ledger.take(f"accelerators.{chip.id}.bf16_tflops", chip.bf16_tflops)
            * system.accelerators
            / GFLOPS_PER_TFLOPS
        )
        each = system.rated_kw.value * found.pue.value / speed / (1.0 - ask.other_frac)
        label = "Site power, network and storage in it, of one dense BF16 PFLOP/s of peak speed"
        metrics["facility_kw_per_pflops"] = Metric(each, "kW", label)
    return metrics


def _carbon(found: Performance, ask: FacilityAsk, ledger: Ledger) -> dict[str, Metric]:
    site = ask.where.site
    mwh = found.pue.value * ask.it_mw * ask.load * HOURS_PER_YEAR
    metrics = {"energy.annual_mwh": Metric(mwh, "MWh", "Site energy of a year at this load")}
    if site is not None and site.grid_g_per_kwh is not None:
        grid = ledger.take(f"sites.{site.id}.grid_g_per_kwh", site.grid_g_per_kwh)
        metrics["carbon.operational_t"] = Metric(
            mwh * grid / KG_PER_TONNE, "t", "Of that energy on the site's grid"
        )
    return metrics
