"""Metrics of a hall: power, PUE and water, cooling loops, energy and carbon."""

from __future__ import annotations

from dcplan.answers.facility.feasibility import unaided_supply_c
from dcplan.answers.facility.resolve import ResolvedFacility
from dcplan.answers.facility.tables import designed_air_frac, heat_kw
from dcplan.catalog.schema import Accelerator, CoolingOption, Parameter
from dcplan.facility.liquid import flow_l_per_min, ride_through_s, units
from dcplan.facility.pue import sizes
from dcplan.inputs.cooling.losses import hall_losses_frac
from dcplan.inputs.cooling.performance import chillers_usd_per_kw
from dcplan.inputs.cooling.setting import Performance
from dcplan.inputs.log import InputLog
from dcplan.result import Metric
from dcplan.specs.facility import cooling as specs
from dcplan.units import (
    GFLOPS_PER_TFLOPS,
    HOURS_PER_DAY,
    HOURS_PER_YEAR,
    KG_PER_TONNE,
    KW_PER_MW,
    L_PER_M3,
)


def metrics_of(
    option: CoolingOption, resolved: ResolvedFacility, found: Performance, log: InputLog
) -> dict[str, Metric]:
    """Return the metrics of a hall, including those that PUE does not show."""
    it_kw = resolved.it_mw * KW_PER_MW
    liquid, _ = heat_kw(option, resolved)
    peak = found.peak_pue * resolved.it_mw
    metrics = {
        **specs.PEAK_ELECTRICAL(_electrical_mw(resolved, log)),
        **specs.ANNUAL_PUE(found.pue.value, low=found.pue.low, high=found.pue.high),
        **specs.PEAK_PUE(found.peak_pue),
        **specs.PEAK_IT(resolved.it_mw),
        **specs.PEAK_FACILITY(peak),
        **specs.ELECTRICAL_LOSSES(_losses_frac(resolved, log) + found.peak_main_frac),
    }
    if found.wue_l_per_kwh:
        w = found.wue_l_per_kwh
        metrics |= specs.ANNUAL_WUE(w.value, low=w.low, high=w.high)
        year = w.value * it_kw * resolved.load * HOURS_PER_YEAR / L_PER_M3
        metrics |= specs.ANNUAL_WATER(year)
    if found.peak_wue_l_per_kwh is not None:
        day = found.peak_wue_l_per_kwh * it_kw * HOURS_PER_DAY / L_PER_M3
        metrics |= specs.PEAK_DAY_WATER(day)
    if found.chiller_frac is not None:
        metrics |= specs.CHILLER_HEAT(found.chiller_frac)
    chillers = chillers_usd_per_kw(option, found, log)
    each = log.take(f"cooling.{option.id}.fit_out_usd_per_kw", option.fit_out_usd_per_kw)
    more = chillers + _air_usd_per_kw(option, resolved, log)
    capex = (each + more) * it_kw
    low, high = ((x + more) * it_kw for x in option.fit_out_usd_per_kw.bounds)
    return (
        metrics
        | specs.FIT_OUT_USD(capex, low=low, high=high)
        | (
            _tank_loop(liquid, option, resolved, log)
            if option.tank
            else _liquid(liquid, option, resolved, log)
        )
        | _server_fans(found, option, resolved, log)
        | _carbon(found, resolved, log)
    )


def _air_usd_per_kw(option: CoolingOption, resolved: ResolvedFacility, log: InputLog) -> float:
    """Return the price of air handlers beyond the share that the fit-out has [USD/kW of IT]."""
    extra = designed_air_frac(option, resolved) - option.air_share_frac.value
    return extra * log.parameter("power", "cooling-air-hall-usd-per-kw") if extra > 0 else 0.0


def _losses_frac(resolved: ResolvedFacility, log: InputLog) -> float:
    """Return losses between utility and racks over IT power that the PUE contains."""
    return hall_losses_frac(resolved.counted_branches(log), sizes(resolved.it_mw), log)


def _electrical_mw(resolved: ResolvedFacility, log: InputLog) -> float:
    """Return the load on breakers and busway: racks at design peak, others at rated power."""
    system = resolved.system
    over = log.parameter("power", "peak-over-rated")
    if system and system.rated_kw and system.peak_kw:
        over = log.take(f"systems.{system.id}.peak_kw", system.peak_kw) / system.rated_kw.value
    return resolved.it_mw * (resolved.other_frac + (1.0 - resolved.other_frac) * over)


def _liquid(
    heat: float, option: CoolingOption, resolved: ResolvedFacility, log: InputLog
) -> dict[str, Metric]:
    """Return flow, distribution units and ride-through time of the loops."""
    if heat <= 0.0:
        return {}
    rise, each = (
        log.parameter("facility", k) for k in ("coolant-rise-k", "coolant-heat-kj-per-l-k")
    )
    rating = log.parameter("facility", "cdu-rating-kw")
    full_kw = heat / resolved.load
    flow = flow_l_per_min(full_kw, rise, each)
    count = max(
        units(full_kw, rating), units(flow, log.parameter("facility", "cdu-flow-l-per-min"))
    )
    system = resolved.system
    most = system.coolant_supply_max_c.value if system and system.coolant_supply_max_c else None
    set_c = resolved.setting(option, log).supply_c
    coolant = None if set_c is None else set_c + log.parameter("facility", "cdu-approach-k")
    room = most - coolant if most is not None and coolant is not None else rise
    metrics = {
        **specs.FLOW(flow_l_per_min(heat, rise, each)),
        **specs.CDU_COUNT(count),
        **specs.CDU_USD(log.parameter("power", "cooling-cdu-usd-per-kw") * count * rating),
        **specs.RACK_FLOW(
            _rack_flow(resolved, rise, each), label=f"{specs.RACK_FLOW.meaning} at {rise:g} K rise"
        ),
        **specs.CDU_KW(log.parameter("facility", "cdu-pump-frac") * heat),
    }
    loops = (
        (specs.RIDE_THROUGH_PUMPS, ("plate-litres-per-kw",)),
        (specs.RIDE_THROUGH_PLANT, ("loop-litres-per-kw", "facility-loop-litres-per-kw")),
    )
    for spec, keys in loops:
        for key in keys:
            log.parameter("facility", key)
        bounds = [log.catalog.get("facility", key, Parameter).value for key in keys]
        liters = [
            sum(b.bounds[0] for b in bounds),
            sum(b.value for b in bounds),
            sum(b.bounds[1] for b in bounds),
        ]
        low, value, high = (ride_through_s(v / resolved.load, each, room) for v in liters)
        label = f"{spec.meaning}, for a temperature rise of {max(room, 0.0):.3g} K"
        metrics |= spec(value, low=low, high=high, label=label)
    return metrics | _unaided(option, resolved, log)


def _unaided(option: CoolingOption, resolved: ResolvedFacility, log: InputLog) -> dict[str, Metric]:
    reached = unaided_supply_c(option, resolved, log)
    return {} if reached is None else specs.DESIGN_DAY_SUPPLY(reached)


def _tank_loop(
    heat: float, option: CoolingOption, resolved: ResolvedFacility, log: InputLog
) -> dict[str, Metric]:
    """Return flow and pump power of tanks; each has its own pumps and exchanger."""
    metrics = specs.CDU_KW(log.parameter("facility", option.pump or "cdu-pump-frac") * heat)
    if option.tank and option.tank.phase == "single":
        rise, each = (
            log.parameter("facility", k) for k in ("coolant-rise-k", "tank-fluid-heat-kj-per-l-k")
        )
        label = f"Fluid flow through all tanks at {rise:g} K rise"
        metrics |= specs.FLOW(flow_l_per_min(heat, rise, each), label=label)
    return metrics | _unaided(option, resolved, log)


def _rack_flow(resolved: ResolvedFacility, rise_k: float, heat_kj_per_l_k: float) -> float | None:
    """Return the flow of a rack-scale system; None for servers."""
    system = resolved.system
    if system is None or system.rated_kw is None or system.liquid_frac is None or not system.racks:
        return None
    asked = resolved.request.liquid_frac
    liquid = system.liquid_frac.value if asked is None else asked
    return flow_l_per_min(system.rated_kw.value / system.racks * liquid, rise_k, heat_kj_per_l_k)


def _server_fans(
    found: Performance, option: CoolingOption, resolved: ResolvedFacility, log: InputLog
) -> dict[str, Metric]:
    """Return the effect of server fans in IT power: ITUE, TUE, and site power per PFLOP/s."""
    cold = "liquid" in option.accepts and option.model in ("tower", "dry")
    cold = cold and (resolved.system is None or "liquid" in resolved.system.cooling_modes)
    # a server in a tank has no fans
    fans = (
        0.0
        if option.tank
        else log.parameter("facility", f"server-fan-{'liquid' if cold else 'air'}-frac")
    )
    itue = 1.0 / (1.0 - fans)
    metrics = specs.ITUE(itue) | specs.TUE(itue * found.pue.value)
    system = resolved.system
    if system is None or system.rated_kw is None:
        return metrics
    chip = log.catalog.get("accelerators", system.accelerator, Accelerator)
    if chip.bf16_tflops:
        speed = (
            log.take(f"accelerators.{chip.id}.bf16_tflops", chip.bf16_tflops)
            * system.accelerators
            / GFLOPS_PER_TFLOPS
        )
        each = system.rated_kw.value * found.pue.value / speed / (1.0 - resolved.other_frac)
        metrics |= specs.KW_PER_PFLOPS(each)
    return metrics


def _carbon(found: Performance, resolved: ResolvedFacility, log: InputLog) -> dict[str, Metric]:
    site = resolved.where.site
    mwh = found.pue.value * resolved.it_mw * resolved.load * HOURS_PER_YEAR
    metrics = specs.ANNUAL_ENERGY(mwh)
    if site is not None and site.grid_g_per_kwh is not None:
        grid = log.take(f"sites.{site.id}.grid_g_per_kwh", site.grid_g_per_kwh)
        metrics |= specs.CARBON(mwh * grid / KG_PER_TONNE)
    return metrics
