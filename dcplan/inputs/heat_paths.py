"""Paths of a system's heat under a cooling option: refusals, conversion for a tank, rack limits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dcplan.catalog.schema import CoolingOption, System
from dcplan.facility.immersion import without_fans_kw
from dcplan.facility.racks import RackLimits
from dcplan.inputs.log import InputLog
from dcplan.provenance import Quantity, Status

COLD_PLATES = "use direct-liquid-tower or direct-liquid-dry-cooler"


@dataclass(frozen=True)
class Misfit:
    """Reason why a system cannot run under a cooling option, with the next step."""

    cause: str
    remedy: str

    def __str__(self) -> str:
        """Return cause and next step in one line."""
        return f"{self.cause}; {self.remedy}"


@dataclass(frozen=True)
class Conversion:
    """Conversion of one server for a tank; a system made for tanks needs none."""

    fan_frac: float
    """Share of its power that the removed fans used."""
    usd: float
    """Price of the conversion of one server."""


UNCHANGED = Conversion(0.0, 0.0)


def misfit(system: System, option: CoolingOption) -> Misfit | None:
    """Return why the heat of a system has no path under the option, or None."""
    modes, accepts = set(system.cooling_modes), set(option.accepts)
    if option.tank is not None:
        return _tank_misfit(system)
    if modes & accepts:
        return None
    cause = f"needs {', '.join(system.cooling_modes)} cooling, but {option.id} provides {', '.join(option.accepts)}"
    return Misfit(cause, COLD_PLATES if modes == {"liquid"} else "use another cooling option")


def _tank_misfit(system: System) -> Misfit | None:
    stated = system.immersion
    if stated is not None and not stated.allowed:
        return Misfit(f"the maker does not allow a tank ({stated.source})", "use another option")
    if stated is not None or "immersion" in system.cooling_modes:
        return None
    if "air" not in system.cooling_modes:
        cause = "needs cold plates; the maker does not state that it runs in a tank"
        return Misfit(cause, COLD_PLATES)
    if system.form != "server":
        cause = "is a complete rack; only single servers are converted for a tank"
        return Misfit(cause, "order its servers without the rack")
    return None


def is_converted(system: System, option: CoolingOption) -> bool:
    """Return whether an air-cooled server loses its fans to run in a tank of the option."""
    modes = system.cooling_modes
    return option.tank is not None and "immersion" not in modes and "air" in modes


def conversion(system: System, option: CoolingOption, log: InputLog) -> Conversion:
    """Return the conversion of a system for the option's tanks."""
    if not is_converted(system, option):
        return UNCHANGED
    fans = log.chosen(
        f"systems.{system.id}.fan_frac", system.fan_frac, "facility", "server-fan-air-frac"
    )
    return Conversion(fans, log.parameter("facility", "tank-conversion-usd"))


def in_tank(system: System, option: CoolingOption, log: InputLog) -> System:
    """Return the row of a system as it runs under the option: in a tank without its fans.

    All its heat then goes into the fluid.
    """
    if option.tank is None:
        return system
    change = conversion(system, option, log)
    average = system.average_kw
    whole = Quantity(value=1.0, status=Status.DERIVED, source="a tank removes all heat")
    return system.model_copy(
        update={
            "rated_kw": _without_fans(system.rated_kw, change),
            "peak_kw": _without_fans(system.peak_kw, change),
            "average_kw": average.model_copy(
                update={name: _without_fans(value, change) for name, value in average}
            ),
            "cooling_modes": ("immersion",),
            "liquid_frac": whole,
            "nodes_per_rack": None,
        }
    )


def _without_fans(power: Quantity | None, change: Conversion) -> Quantity | None:
    if power is None or not change.fan_frac:
        return power
    note = (
        f"{power.value:g} kW less {change.fan_frac:.3g} of it for fans, which a tank does not need"
    )
    return power.model_copy(
        update={
            "value": without_fans_kw(power.value, change.fan_frac),
            "low": None if power.low is None else without_fans_kw(power.low, change.fan_frac),
            "high": None if power.high is None else without_fans_kw(power.high, change.fan_frac),
            "status": Status.DERIVED,
            "note": note,
        }
    )


def room_air_frac(
    system: System | None,
    option: CoolingOption,
    other_frac: float,
    liquid_frac: float | None = None,
) -> float:
    r"""Return the share of IT heat that leaves by room air.

    It is 0 for rear doors and 1 for air handlers. In a hall of tanks it is that of network and
    storage, s. In a hall of cold plates it is

    .. math:: a = 1 - (1 - s)\,l

    with the liquid share l of the system; 1 for a system without cold plates. Without a system, or
    without its liquid share, it is the usual share of the option.

    Parameters
    ----------
    system : System or None
        System in the hall.
    option : CoolingOption
        Cooling option of the hall.
    other_frac : float
        Share s of IT power in network and storage, which are air-cooled, 0 to 1. [-]
    liquid_frac : float, optional
        Liquid share l, 0 to 1, instead of the system's. [-]
    """
    usual = option.room_air_frac.value if option.room_air_frac else 1.0
    if option.tank is not None:
        return usual if system is None else other_frac
    if usual in (0.0, 1.0):
        return usual
    if system and "liquid" not in system.cooling_modes:
        return 1.0
    own = system.liquid_frac.value if system and system.liquid_frac else None
    liquid = own if liquid_frac is None else liquid_frac
    return usual if liquid is None else 1.0 - (1.0 - other_frac) * liquid


def most_air(systems: Sequence[System], option: CoolingOption, other_frac: float) -> System | None:
    r"""Return the system whose air heat a hall of several possible systems is designed for.

    It is that of the largest :func:`room_air_frac`, :math:`\max_k a_k`, of the liquid-cooled systems
    that the option cools. Others count only where none is liquid-cooled: the air capacity of the
    hall limits them. None where the option cools no system.

    Parameters
    ----------
    systems : sequence of System
        Systems that may stand in the hall.
    option : CoolingOption
        Cooling option of the hall.
    other_frac : float
        Share of IT power in network and storage, 0 to 1. [-]
    """
    cooled = [x for x in systems if misfit(x, option) is None]
    plates = [x for x in cooled if "liquid" in x.cooling_modes]
    return max(plates or cooled, key=lambda x: room_air_frac(x, option, other_frac), default=None)


def rack_limits(
    option: CoolingOption,
    system: System,
    *,
    electrical_kw: float,
    weight_kg: float = math.inf,
    rack_units: float = math.inf,
) -> RackLimits:
    """Return the limits of one rack position, or of one tank on all of its positions."""
    tank = option.tank
    if tank is not None:
        return RackLimits(
            electrical_kw=electrical_kw * tank.rack_positions,
            air_kw=0.0,
            liquid_kw=option.liquid_rack_kw_max.value,
            weight_kg=weight_kg * tank.rack_positions - tank.filled_kg.value,
            rack_units=tank.rack_units.value,
            tank=True,
        )
    liquid = "liquid" in system.cooling_modes and option.takes_liquid
    return RackLimits(
        electrical_kw=electrical_kw,
        air_kw=option.air_rack_kw_max.value,
        liquid_kw=option.liquid_rack_kw_max.value,
        weight_kg=weight_kg,
        rack_units=rack_units,
        air_path=_air_path(option),
        air_remedy="use an option with more air heat per rack" if liquid else "use liquid cooling",
    )


def _air_path(option: CoolingOption) -> str:
    """Return what carries the air heat: a rear door has no room air."""
    door = option.room_air_frac is not None and option.room_air_frac.value == 0.0
    return "a rear door" if door else "the room air"


def tank_notes(option: CoolingOption, system: System | None) -> list[str]:
    """Return what a buyer of tanks must know: warranty, and supply of a boiling fluid."""
    notes: list[str] = []
    if option.tank is None:
        return notes
    if option.tank.phase == "two":
        notes.append(
            "the supply of two-phase fluids ends: 3M stopped its fluids by the end of 2025, and "
            "rules on PFAS tighten; secure the fluid for the life of the hall"
        )
    if system is not None and is_converted(system, option):
        notes.append(
            f"conversion normally ends the maker's warranty: the catalog has no statement that "
            f"{system.id} is certified for a tank; agree on warranty and fluid before the order"
            if system.immersion is None
            else f"the maker certifies {system.id} for a tank: {system.immersion.source}"
        )
    return notes
