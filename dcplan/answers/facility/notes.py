"""Notes on the basis of an answer of ``dcplan facility``."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dcplan.answers.facility.feasibility import unaided_supply_c
from dcplan.answers.facility.request import CHAIN
from dcplan.answers.facility.resolve import ResolvedFacility
from dcplan.catalog.schema import CoolingOption
from dcplan.inputs.cooling.setting import Performance
from dcplan.inputs.log import InputLog


def _size_note(resolved: ResolvedFacility, found: Performance, *, lit_by_area: bool) -> str:
    """Say what of a hall below the large class has higher losses."""
    chain = resolved.request.electrical_losses == CHAIN
    what, key = (
        ("air handlers and chillers have", "air-rise-k")
        if lit_by_area
        else ("lighting has", "lighting")
        if chain
        else ("UPS, distribution and lighting have", "ups-efficiency")
    )
    note = (
        f"a hall of {resolved.it_mw:g} MW belongs to the {resolved.size} class, whose {what} higher "
        "losses than in halls from 10 MW; from half of the border of a class on, they go over to "
        "those of the next class"
    )
    if lit_by_area:
        note += "; lighting follows the floor area of the racks"
    return note + (
        f"; for newer equipment, set facility.{key}-* in an overlay" if found.modeled else ""
    )


REMARK_HOTTEST = 1.05
"""Power of the hottest hour over that of the design day, above which a note says so."""
NEARLY_LARGE_MW = 5.0
"""Between this size and the large class, a note explains the step between the classes."""


def notes_of(
    option: CoolingOption, resolved: ResolvedFacility, found: Performance, log: InputLog
) -> list[dict[str, str]]:
    """Return notes on the basis of the answer and on unused flags."""
    supply_c = resolved.setting(option, log).supply_c
    by_area = resolved.lighting(option, log) is not None
    notes = (
        *_of_table(option, resolved, found),
        *_of_hall(resolved, found, lit_by_area=by_area),
        *_of_option(option, resolved, supply_c),
        *_of_supply(option, resolved, found, supply_c, log),
        *_of_hottest_hours(resolved, found),
    )
    return [{"code": "pue", "message": note} for note in notes]


def _of_table(
    option: CoolingOption, resolved: ResolvedFacility, found: Performance
) -> Iterator[str]:
    """Yield what an answer from the table of climate zones leaves out, and absent weather."""
    where = resolved.where
    if not found.modeled:
        yield (
            f"{option.id} comes from a table by climate zone and size class: the answer has no "
            "PUE by quarter, ignores part load and supply temperature, and estimates the peak"
            + (
                "; losses before the racks are those of the power chain, not of the table"
                if resolved.request.electrical_losses == CHAIN
                else ""
            )
        )
    if where.climate is None:
        yield (
            f"no weather data for {where.name}: nothing is computed from components, and "
            "an option without a row for the zone uses the row of all zones"
        )
    own_weather = where.site is None and where.climate is not None and where.zone is None
    if not found.modeled and own_weather:
        yield "--epw does not affect an option from the table; the row of all zones is used"


def _of_hall(resolved: ResolvedFacility, found: Performance, *, lit_by_area: bool) -> Iterator[str]:
    """Yield a system without a power figure, and the losses of a hall below the large class."""
    system = resolved.system
    if system is not None and system.rated_kw is None:
        yield f"{system.id} has no power figure in the catalog, so there is no rack layout"
    liquid = found.modeled and system and "liquid" in system.cooling_modes
    if resolved.size != "large" and (liquid or resolved.it_mw >= NEARLY_LARGE_MW):
        yield _size_note(resolved, found, lit_by_area=lit_by_area)


def _of_option(
    option: CoolingOption, resolved: ResolvedFacility, supply_c: float | None
) -> Iterator[str]:
    """Yield what the model of the option samples, ignores or takes from another place."""
    if option.model == "dry" and supply_c is None:
        yield (
            "the supply temperature is sampled over the range of Lei et al., and hours too warm "
            "for spraying use no water; set --system or --supply-c for a design"
        )
    one_path = option.room_air_frac and option.room_air_frac.value in (0.0, 1.0)
    if resolved.request.liquid_frac is not None and one_path:
        yield f"--liquid-frac has no effect: {option.id} removes all heat on one path"
    if resolved.where.site and resolved.where.site.climate is None:
        yield _of_city(resolved)


def _of_city(resolved: ResolvedFacility) -> str:
    """Say whose weather is taken for a site without its own, and its design day."""
    where = resolved.where
    text = f"{where.name} has no weather data; the data of the reference city of zone {where.zone} is used"
    if where.climate is None:
        return text
    dry, wet = where.climate.design_dry_c, where.climate.design_wet_c
    return (
        f"{text}, with a design day of {dry:.1f} °C dry bulb and {wet:.1f} °C wet bulb: take --epw "
        "with a weather file of the place for a design"
    )


def _of_hottest_hours(resolved: ResolvedFacility, found: Performance) -> Iterator[str]:
    """Yield how far the hottest hours of the weather exceed the power of the design day."""
    weather = resolved.where.climate
    if not found.bin_pues or weather is None or resolved.load < 1.0:
        return
    pues = np.array(found.bin_pues)
    most = float(pues.max())
    if most > REMARK_HOTTEST * found.peak_pue:
        hours = float(weather.hours[pues > found.peak_pue].sum())
        mw = most * resolved.it_mw
        yield (
            f"{hours:,.0f} hours of the weather take more power than the design day, up to {mw:,.4g} MW "
            f"(PUE {most:.3f}): they are more humid, so that pads and towers cool less and chillers "
            "more; the plant is for the design day, which 0.4 % of the hours exceed in each temperature"
        )


def _of_supply(
    option: CoolingOption,
    resolved: ResolvedFacility,
    found: Performance,
    supply_c: float | None,
    log: InputLog,
) -> Iterator[str]:
    """Yield a supply temperature that is sampled, and one that needs trim chillers."""
    if found.modeled and supply_c is None:
        yield (
            "no supply temperature and no liquid-cooled system given: the supply temperature is "
            "sampled over the option's range"
        )
    reached_c = unaided_supply_c(option, resolved, log)
    if reached_c is not None and supply_c is not None and reached_c > supply_c + 1e-9:
        yield (
            f"dry coolers with wetted pads reach {reached_c:.1f} °C on the design day; trim chillers "
            f"keep the supply temperature of {supply_c:g} °C"
        )
