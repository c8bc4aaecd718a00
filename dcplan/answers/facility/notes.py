"""Notes on the basis of an answer of ``dcplan facility``."""

from __future__ import annotations

from dcplan.answers.facility.feasibility import unaided_supply_c
from dcplan.answers.facility.request import CHAIN
from dcplan.answers.facility.resolve import ResolvedFacility
from dcplan.catalog.schema import CoolingOption
from dcplan.inputs.cooling import Performance
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


NEARLY_LARGE_MW = 5.0
"""Between this size and the large class, a note explains the step between the classes."""


def notes_of(
    option: CoolingOption, resolved: ResolvedFacility, found: Performance, log: InputLog
) -> list[dict[str, str]]:
    """Return notes on the basis of the answer and on unused flags."""
    notes = []
    supply = resolved.setting(option, log).supply_c
    if not found.modeled:
        notes.append(
            f"{option.id} comes from a table by climate zone and size class: the answer has no "
            "PUE by quarter, ignores part load and supply temperature, and estimates the peak"
            + (
                "; losses before the racks are those of the power chain, not of the table"
                if resolved.request.electrical_losses == CHAIN
                else ""
            )
        )
    if resolved.where.climate is None:
        notes.append(
            f"no weather data for {resolved.where.name}: nothing is computed from components, and "
            "an option without a row for the zone uses the row of all zones"
        )
    if (
        not found.modeled
        and resolved.where.site is None
        and resolved.where.climate is not None
        and resolved.where.zone is None
    ):
        notes.append("--epw does not affect an option from the table; the row of all zones is used")
    if resolved.system is not None and resolved.system.rated_kw is None:
        notes.append(
            f"{resolved.system.id} has no power figure in the catalog, so there is no rack layout"
        )
    liquid = found.modeled and resolved.system and "liquid" in resolved.system.cooling_modes
    if resolved.size != "large" and (liquid or resolved.it_mw >= NEARLY_LARGE_MW):
        by_area = resolved.lighting(option, log) is not None
        notes.append(_size_note(resolved, found, lit_by_area=by_area))
    if option.model == "dry" and supply is None:
        notes.append(
            "the supply temperature is sampled over the range of Lei et al., and hours too warm "
            "for spraying use no water; set --system or --supply-c for a design"
        )
    if (
        resolved.request.liquid_frac is not None
        and option.room_air_frac
        and option.room_air_frac.value in (0.0, 1.0)
    ):
        notes.append(f"--liquid-frac has no effect: {option.id} removes all heat on one path")
    if resolved.where.site and resolved.where.site.climate is None:
        notes.append(
            f"{resolved.where.name} has no weather data; the data of the reference city of zone "
            f"{resolved.where.zone} is used"
        )
    if found.modeled and supply is None:
        notes.append(
            "no supply temperature and no liquid-cooled system given: the supply temperature is "
            "sampled over the option's range"
        )
    reached = unaided_supply_c(option, resolved, log)
    if reached is not None and supply is not None and reached > supply + 1e-9:
        notes.append(
            f"dry coolers with wetted pads reach {reached:.1f} °C on the design day; trim chillers "
            f"keep the supply temperature of {supply:g} °C"
        )
    return [{"code": "pue", "message": note} for note in notes]
