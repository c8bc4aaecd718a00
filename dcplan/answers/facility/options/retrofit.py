"""Retrofits of an air hall for liquid-cooled racks: sidecars, a water loop, rear doors on the air share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace

from dcplan.answers.common.catalog_rows import named
from dcplan.answers.facility.feasibility import fit_of, holds
from dcplan.answers.facility.resolve import ResolvedFacility
from dcplan.catalog.schema import CoolingOption, Parameter, System
from dcplan.errors import EXIT_OK, InputError, Place, Problem
from dcplan.facility.retrofit import (
    Group,
    Hall,
    Rack,
    mixed_pue,
    on_loop,
    racks_that_fit,
    sidecar_pue,
    with_sidecars,
)
from dcplan.inputs.cooling.performance import chillers_usd_per_kw, performance
from dcplan.inputs.cooling.setting import Performance
from dcplan.inputs.log import InputLog
from dcplan.result import Result
from dcplan.specs.facility.cooling import RETROFIT, RetrofitRow
from dcplan.units import KW_PER_MW

LOOPS = ("direct-liquid-tower", "direct-liquid-dry-cooler")
DOOR = "rear-door-tower"
SIDECAR_NAME = "liquid-to-air sidecars"
LOOP_NAME = "water loop; room air takes the air share"
DOOR_NAME = "water loop; rear doors take the air share"


@dataclass(frozen=True)
class Existing:
    """The air hall, and the racks that it shall take."""

    option: CoolingOption
    performance: Performance
    hall: Hall
    rack: Rack
    position_kw: float
    """Air heat of one rack position."""
    other_frac: float

    @property
    def liquid_frac(self) -> float:
        """Heat in cold plates over IT power of the hall."""
        return (1.0 - self.other_frac) * self.rack.liquid_frac


def retrofitted(resolved: ResolvedFacility, log: InputLog) -> Result:
    """Compare the retrofits of an air hall for a liquid-cooled system; the most racks come first.

    Raises
    ------
    InputError
        When the hall is not air-cooled, or the system has no known power or no cold plates.
    """
    existing = _existing(resolved, log)
    system = _system(resolved)
    rows = [_sidecars(existing, system, log)]
    for name in LOOPS:
        loop = log.catalog.get("cooling", name, CoolingOption)
        rows += _loops(existing, loop, resolved, log)
    rows.sort(key=lambda row: (-(row.racks or 0), row.retrofit_usd or 0.0))
    best = rows[0]
    headline = (
        f"{existing.option.id} at {resolved.where.name} with {resolved.it_mw:g} MW of IT: "
        f"{best.racks or 0:,} racks of {system.id} fit with {best.retrofit}"
        + (f" ({best.loop})" if best.loop else "")
    )
    return Result(
        "facility",
        "ok",
        EXIT_OK,
        headline,
        tables={RETROFIT.name: RETROFIT.table(rows)},
        inputs=[asdict(row) for _, row in sorted(log.rows.items())],
    )


def _existing(resolved: ResolvedFacility, log: InputLog) -> Existing:
    request, system = resolved.request, _system(resolved)
    if request.cooling is None:
        cause = "--retrofit needs the cooling of the existing hall"
        raise _refused(cause, "--cooling", "name it, such as --cooling air-chiller")
    option = named(log.catalog, "cooling", request.cooling, CoolingOption, "--cooling")
    if option.takes_liquid or option.tank is not None or "air" not in option.accepts:
        cause = f"{option.id} is no hall for air-cooled racks"
        raise _refused(cause, "--cooling", "name the existing cooling, such as air-chiller")
    position_kw = log.take(f"cooling.{option.id}.air_rack_kw_max", option.air_rack_kw_max)
    it_kw = resolved.it_mw * KW_PER_MW
    positions = request.rack_positions
    if positions is None:
        positions = int(it_kw / position_kw + 1e-9)
    other_kw = it_kw * resolved.other_frac
    other_racks = -(-other_kw // log.parameter("facility", "network-storage-rack-kw"))
    compute_kw = it_kw - other_kw
    hall = Hall(compute_kw, compute_kw, max(positions - int(other_racks), 0))
    at = replace(resolved, system=None)
    try:
        found = performance(option, at.setting(option, log), log)
    except LookupError as error:
        raise InputError(
            [Problem("DC060", str(error), Place("facility"), help="--climate-zone or --epw")]
        ) from error
    rack = _rack(system, resolved, log)
    return Existing(option, found, hall, rack, position_kw, resolved.other_frac)


def _system(resolved: ResolvedFacility) -> System:
    system = resolved.system
    if system is None or system.rated_kw is None or "liquid" not in system.cooling_modes:
        cause = "--retrofit needs a liquid-cooled system with a known power"
        raise _refused(cause, "--retrofit", "--system gb300-nvl72")
    return system


def _rack(system: System, resolved: ResolvedFacility, log: InputLog) -> Rack:
    """Return one rack of the system; servers fill a rack as in a hall of cold plates."""
    assert system.rated_kw is not None  # noqa: S101 - checked with the system
    rated = log.take(f"systems.{system.id}.rated_kw", system.rated_kw) / max(system.racks, 1)
    loop = log.catalog.get("cooling", LOOPS[0], CoolingOption)
    fit = fit_of(loop, system, resolved.request.rack_kw, rated, log)
    if not fit.nodes:
        cause = f"{system.id}: {fit.reason}"
        raise _refused(cause, "--rack-kw", "set a larger --rack-kw")
    nodes = 1 if system.racks else min(fit.nodes, system.nodes_per_rack or fit.nodes)
    given = resolved.request.liquid_frac
    own = system.liquid_frac
    liquid = given if given is not None else own.value if own else 1.0
    return Rack(rated * nodes, liquid)


def _sidecars(existing: Existing, system: System, log: InputLog) -> RetrofitRow:
    """Return the retrofit without water: sidecars blow the heat of cold plates into the room."""
    unit, fans, approach_k, room_c = (
        log.parameter("facility", key)
        for key in ("sidecar-kw", "sidecar-fan-frac", "sidecar-approach-k", "room-water-max-c")
    )
    most = system.coolant_supply_max_c
    if most is not None and room_c + approach_k > most.value:
        why = (
            f"sidecars in room air of {room_c:g} C supply coolant of {room_c + approach_k:g} C, and "
            f"{system.id} takes at most {most.value:g} C"
        )
        return RetrofitRow(SIDECAR_NAME, None, existing.rack.kw, why_not=why)
    each = log.parameter("power", "cooling-sidecar-usd-per-kw")
    group = with_sidecars(existing.rack, unit, fans, existing.position_kw)
    pues = [
        sidecar_pue(pue, fans, existing.liquid_frac)
        for pue in (existing.performance.pue.value, existing.performance.peak_pue)
    ]
    return _row(SIDECAR_NAME, None, existing, group, pues, each * existing.rack.liquid_kw)


def _loops(
    existing: Existing, loop: CoolingOption, resolved: ResolvedFacility, log: InputLog
) -> Iterator[RetrofitRow]:
    """Return a new water loop for the cold plates, without and with rear doors for the rest."""
    rack = existing.rack
    plates, rejection = (
        log.parameter("power", f"cooling-{name}-usd-per-kw")
        for name in ("direct-liquid", "dry-cooler")
    )
    unfit = "; ".join(cause for cause, _ in holds(loop, resolved, log))
    if unfit:
        yield RetrofitRow(LOOP_NAME, loop.id, rack.kw, why_not=unfit)
        return
    setting = replace(resolved.setting(loop, log), air_frac=0.0)
    found = performance(loop, setting, log)
    more = chillers_usd_per_kw(loop, found, log)
    usd = rack.liquid_kw * (plates + rejection + more)
    air = existing.other_frac + (1.0 - existing.other_frac) * (1.0 - rack.liquid_frac)
    pues = [
        mixed_pue(before, after, air)
        for before, after in (
            (existing.performance.pue.value, found.pue.value),
            (existing.performance.peak_pue, found.peak_pue),
        )
    ]
    yield _row(LOOP_NAME, loop.id, existing, on_loop(rack, existing.position_kw), pues, usd)
    yield _doors(existing, loop, setting.supply_c, found, usd, log)


def _doors(
    existing: Existing,
    loop: CoolingOption,
    supply_c: float | None,
    found: Performance,
    usd: float,
    log: InputLog,
) -> RetrofitRow:
    """Return rear doors on the loop for the air share; ``usd`` is the price without them."""
    rack = existing.rack
    doors, rejection, pipes = (
        log.parameter("power", f"cooling-{name}-usd-per-kw")
        for name in ("rear-door", "dry-cooler", "pipework")
    )
    door = log.catalog.get("cooling", DOOR, CoolingOption)
    door_kw = log.take(f"cooling.{DOOR}.air_rack_kw_max", door.air_rack_kw_max)
    warmest = log.catalog.get("facility", "supply-door-c", Parameter).value.bounds[1]
    why_not = None
    if rack.air_kw > door_kw:
        why_not = f"{rack.air_kw:g} kW of air heat exceed the {door_kw:g} kW of a door"
    elif supply_c is not None and supply_c > warmest:
        why_not = f"doors need water of at most {warmest:g} C, and the loop has {supply_c:g} C"
    if why_not is not None:
        return RetrofitRow(DOOR_NAME, loop.id, rack.kw, why_not=why_not)
    more = chillers_usd_per_kw(loop, found, log)
    usd += rack.air_kw * (doors + pipes + rejection + more)
    each = log.take(f"cooling.{DOOR}.fan_frac", door.fan_frac) if door.fan_frac else 0.0
    fans = each * (1.0 - rack.liquid_frac)
    pues = [
        mixed_pue(before, after + fans, existing.other_frac)
        for before, after in (
            (existing.performance.pue.value, found.pue.value),
            (existing.performance.peak_pue, found.peak_pue),
        )
    ]
    return _row(DOOR_NAME, loop.id, existing, Group(0, 1, 0.0), pues, usd)


def _row(
    name: str,
    loop: str | None,
    existing: Existing,
    group: Group,
    pues: list[float],
    rack_usd: float,
) -> RetrofitRow:
    """Return a retrofit with the racks that fit; ``rack_usd`` is the price for one rack."""
    rack = existing.rack
    racks, limit = racks_that_fit(existing.hall, rack, group)
    return RetrofitRow(
        name,
        loop,
        rack.kw,
        sidecars=group.sidecars,
        positions=group.positions,
        position_kw=rack.kw / group.positions,
        room_air_kw=group.room_kw,
        racks=racks,
        compute_mw=racks * rack.kw / KW_PER_MW,
        limit=limit,
        annual_pue=pues[0],
        peak_pue=pues[1],
        retrofit_usd=racks * rack_usd,
        usd_per_kw=rack_usd / rack.kw,
    )


def _refused(cause: str, flag: str, step: str) -> InputError:
    return InputError([Problem("DC062", cause, Place(flag), help=step)])
