"""Lighting of a hall whose racks are known, by floor area."""

from __future__ import annotations

import itertools

from dcplan.catalog.schema import CoolingOption, Parameter, System
from dcplan.facility.floor import lighting_frac, m2_per_kw
from dcplan.inputs.log import InputLog

Range = tuple[float, float, float]
"""Low, value and high."""
KEYS = (
    ("facility", "lighting-w-per-m2"),
    ("facility", "lighting-area-ratio"),
    ("network", "rack-pitch-m"),
    ("network", "row-pitch-m"),
    ("facility", "network-storage-rack-kw"),
)


def lighting_by_area(
    system: System | None, option: CoolingOption, other_frac: float, log: InputLog
) -> Range | None:
    """Return lighting over IT power by the floor area of the racks; None without a known rack.

    Low and high are the least and the largest over all bounds.

    Parameters
    ----------
    system : System or None
        System in the compute racks.
    option : CoolingOption
        Cooling option of the hall, which limits the power of a rack.
    other_frac : float
        Share of IT power in network and storage racks, 0 to 1. [-]
    log : InputLog
        Catalog and log.
    """
    rack_kw = _rack_kw(system, option, log) if system else None
    if rack_kw is None:
        return None

    def frac(w: float, ratio: float, width: float, depth: float, other_kw: float) -> float:
        return lighting_frac(w, ratio * m2_per_kw(rack_kw, other_kw, other_frac, width * depth))

    value = frac(*(log.parameter(kind, key) for kind, key in KEYS))
    bounds = [log.catalog.get(kind, key, Parameter).value.bounds for kind, key in KEYS]
    corners = [frac(*corner) for corner in itertools.product(*bounds)]
    return min(corners), value, max(corners)


def _rack_kw(system: System, option: CoolingOption, log: InputLog) -> float | None:
    """Return the power of a rack: of the rack-scale system, or of the nodes that its cooling allows."""
    if system.rated_kw is None:
        return None
    each = log.take(f"systems.{system.id}.rated_kw", system.rated_kw) / max(system.racks, 1)
    if system.racks:
        return each
    wet = option.takes_liquid and system.cooling_modes != ("air",)
    limit = option.liquid_rack_kw_max if wet else option.air_rack_kw_max
    return each * max(system.nodes_per_rack or int(limit.value / each), 1)
