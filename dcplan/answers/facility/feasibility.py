"""Whether a cooling option fits a system: heat of a rack by path, and coolant temperature."""

from __future__ import annotations

from dcplan.answers.facility.resolve import ResolvedFacility
from dcplan.catalog.schema import CoolingOption, Parameter, System
from dcplan.facility.racks import Fit, nodes_per_rack, split_heat_kw
from dcplan.inputs.heat_paths import misfit, rack_limits
from dcplan.inputs.log import InputLog

UNLIMITED = float("inf")


def holds(
    option: CoolingOption, resolved: ResolvedFacility, log: InputLog
) -> list[tuple[str, str]]:
    """Return why the option does not fit, each reason with a remedy; nothing without a system.

    A rack of the system must fit by its heat on each path. On the design day, the coolant must not
    exceed the system's limit, unless the option has chillers.
    """
    unfit = misfit(resolved.system, option) if resolved.system else None
    if unfit is not None and resolved.system:
        plates = "liquid" in resolved.system.cooling_modes and option.tank is None
        more = ", or --retrofit for an existing air hall" if plates else ""
        step = f"{unfit.remedy}; dcplan facility --compare{more}"
        return [(f"{resolved.system.id} {unfit.cause}", step)]
    resolved = resolved.under(option, log)
    found: list[tuple[str, str]] = []
    found += _balance(option, resolved)
    most = warmest_c(option, log)
    supply_c = resolved.request.supply_c
    if most is not None and supply_c is not None and supply_c > most:
        limit = f"whose {'tanks need' if option.tank else 'air cooling needs'} at most {most:g} °C"
        cause = f"the facility water of {supply_c:g} °C is too warm for {option.id}, {limit}"
        found.append((cause, "set a lower --supply-c"))
    if resolved.system is not None:
        found += _rack(option, resolved.system, log)
        found += _temperature(option, resolved, resolved.system, log)
    return found


def _balance(option: CoolingOption, resolved: ResolvedFacility) -> list[tuple[str, str]]:
    """Reject an air-cooled system in a hall of cold plates, which is built for a share of air.

    A liquid-cooled system fits with any share: the hall has the air handlers that it needs.
    """
    system = resolved.system
    if not (option.takes_liquid and option.room_air_frac) or system is None:
        return []
    if system.cooling_modes != ("air",) or option.tank is not None:
        return []
    return [
        (
            f"{system.id} is air-cooled: {resolved.air_frac(option):.0%} of the heat goes into "
            f"air, and {option.id} has cold plates for most of it",
            "choose an option for air, rear doors, or an immersion option; dcplan facility "
            "--compare",
        )
    ]


def _rack(option: CoolingOption, system: System, log: InputLog) -> list[tuple[str, str]]:
    if system.rated_kw is None:
        return []
    rated = log.take(f"systems.{system.id}.rated_kw", system.rated_kw) / max(system.racks, 1)
    fit = fit_of(option, system, None, rated, log)
    return (
        []
        if fit.nodes
        else [(f"{system.id}: {fit.reason}", "compare the options: dcplan facility --compare")]
    )


def fit_of(
    option: CoolingOption, system: System, rack_kw: float | None, rated_kw: float, log: InputLog
) -> Fit:
    """Return the nodes of a system in a rack under the option, with the binding limit."""
    wet = option.takes_liquid and system.cooling_modes != ("air",)
    frac = system.liquid_frac.value if system.liquid_frac and wet else 0.0
    air, liquid = split_heat_kw(rated_kw, frac, liquid_cooled_hall=option.takes_liquid)
    for name in ("air_rack_kw_max", "liquid_rack_kw_max"):
        log.take(f"cooling.{option.id}.{name}", getattr(option, name))
    limits = rack_limits(
        option,
        system,
        electrical_kw=UNLIMITED if rack_kw is None else rack_kw,
        # a rack-scale system includes its rack
        rack_units=UNLIMITED if system.racks else log.parameter("facility", "rack-units"),
    )
    units = None if system.racks or system.rack_units is None else system.rack_units.value
    weight = system.weight_kg.value if system.weight_kg else None
    return nodes_per_rack(limits, rated_kw, air, liquid, weight, units)


def _temperature(
    option: CoolingOption, resolved: ResolvedFacility, system: System, log: InputLog
) -> list[tuple[str, str]]:
    """Reject a set temperature that is too warm for the system; chillers keep what is set."""
    limit = system.coolant_supply_max_c
    if limit is None or option.model is None or not option.takes_liquid:
        return []
    most = log.take(f"systems.{system.id}.coolant_supply_max_c", limit)
    approach = log.parameter("facility", "cdu-approach-k")
    set_c = resolved.setting(option, log).supply_c or 0.0
    coolant = set_c + approach
    if coolant <= most + 1e-9:
        return []
    cause = (
        f"the coolant has {coolant:.1f} °C ({coolant - approach:.1f} °C of facility water plus "
        f"{approach:g} K approach of the distribution unit), but {system.id} allows at most "
        f"{most:g} °C"
    )
    return [(cause, "set a lower --supply-c")]


def unaided_supply_c(
    option: CoolingOption, resolved: ResolvedFacility, log: InputLog
) -> float | None:
    """Return the water temperature of dry coolers with wetted pads on the design day, or None."""
    weather = resolved.where.climate
    if option.model != "dry" or weather is None or resolved.setting(option, log).supply_c is None:
        return None
    approach, pads = (
        log.parameter("facility", key) for key in ("cooler-approach-k", "pad-saturation-frac")
    )
    dry_c, wet_c = weather.design_dry_c, weather.design_wet_c
    return dry_c - pads * max(dry_c - wet_c, 0.0) + approach


def warmest_c(option: CoolingOption, log: InputLog) -> float | None:
    """Return the warmest water that an option allows; None without a limit.

    Air handlers and doors need water colder than the air that they cool; tanks have a limit of
    their own.
    """
    if option.tank is not None:
        return log.take(f"cooling.{option.id}.tank.water_max_c", option.tank.water_max_c)
    if option.model is None or "liquid" in option.accepts or option.supply is None:
        return None
    return log.catalog.get("facility", option.supply, Parameter).value.bounds[1]
