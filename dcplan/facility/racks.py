"""Nodes per rack by electrical, thermal, weight and space limits."""

from __future__ import annotations

import math
from dataclasses import dataclass

AIR_HEAT = "air heat of the cooling"
NAMES = ("rack_kw_max", AIR_HEAT, "liquid heat of the cooling", "rack_kg_max", "rack units")
TANK_NAMES = ("rack_kw_max", AIR_HEAT, "heat of the tank", "rack_kg_max", "height of the tank")
UNITS = ("kW", "kW", "kW", "kg", "U")


@dataclass(frozen=True)
class RackLimits:
    """Limits of one rack position, or of one tank. Infinity means no limit."""

    electrical_kw: float
    air_kw: float
    liquid_kw: float
    weight_kg: float = math.inf
    rack_units: float = math.inf
    tank: bool = False
    """Whether the limits are those of a tank."""
    air_path: str = "the room air"
    """What carries the air heat, for the reason of a misfit."""
    air_remedy: str = "use liquid cooling"
    """Next step if the air heat is too large."""


@dataclass(frozen=True)
class Fit:
    """Nodes per rack and the binding limit; 0 nodes means that no node fits."""

    nodes: int
    limit: str
    reason: str


def split_heat_kw(
    rated_kw: float, liquid_frac: float, *, liquid_cooled_hall: bool
) -> tuple[float, float]:
    """Return air and liquid heat of one unit; an air-cooled server has only air heat.

    In a tank, the liquid share of every system is 1.

    Examples
    --------
    >>> tuple(round(x, 2) for x in split_heat_kw(132.0, 0.87, liquid_cooled_hall=True))
    (17.16, 114.84)
    >>> split_heat_kw(10.2, 0.0, liquid_cooled_hall=True)
    (10.2, 0.0)
    """
    liquid = rated_kw * liquid_frac if liquid_cooled_hall else 0.0
    return rated_kw - liquid, liquid


def nodes_per_rack(
    limits: RackLimits,
    rated_kw: float,
    air_kw: float,
    liquid_kw: float,
    weight_kg: float | None = None,
    rack_units: float | None = None,
) -> Fit:
    r"""Return the largest number of nodes within every limit of a rack.

    .. math:: n = \lfloor \min_i (limit_i / need_i) \rfloor

    Parameters
    ----------
    limits : RackLimits
        The rack position. [kW, kW, kW, kg, U]
    rated_kw : float
        Sustained maximum of one node. [kW]
    air_kw, liquid_kw : float
        Heat of one node into air and into liquid. [kW]
    weight_kg, rack_units : float, optional
        Weight and height of one node; unknown values do not limit, and the reason reports it if a
        weight limit is not checked. [kg, U]

    Examples
    --------
    >>> nodes_per_rack(RackLimits(17.0, 30.0, 0.0), 10.2, 10.2, 0.0, rack_units=8)
    Fit(nodes=1, limit='rack_kw_max', reason='1 node: 10.2 kW of 17 kW (rack_kw_max)')
    >>> nodes_per_rack(RackLimits(40.0, 30.0, 0.0, weight_kg=900.0), 10.2, 10.2, 0.0).reason
    '2 nodes: 20.4 kW of 30 kW (air heat of the cooling); weight unknown, rack_kg_max not checked'
    >>> nodes_per_rack(RackLimits(160.0, 30.0, 200.0), 200.0, 26.0, 174.0).reason
    'does not fit: 200 kW > 160 kW (rack_kw_max)'
    >>> nodes_per_rack(RackLimits(160.0, 75.0, 0.0), 125.0, 125.0, 0.0).reason
    '125 kW of air heat per rack; the room air carries at most 75 kW; use liquid cooling'
    """
    if limits.weight_kg <= 0.0:
        reason = "does not fit: the filled tank alone is heavier than rack_kg_max of its positions"
        return Fit(0, NAMES[3], reason)
    needs = (rated_kw, air_kw, liquid_kw, weight_kg or 0.0, rack_units or 0.0)
    most = (
        limits.electrical_kw,
        limits.air_kw,
        limits.liquid_kw,
        limits.weight_kg,
        limits.rack_units,
    )
    names = TANK_NAMES if limits.tank else NAMES
    ratios = [
        (limit / need if need > 0 else math.inf, name, need, limit, unit)
        for name, need, limit, unit in zip(names, needs, most, UNITS, strict=True)
    ]
    ratio, name, need, limit, unit = min(ratios, key=lambda r: r[0])
    nodes = math.floor(ratio + 1e-9) if ratio < math.inf else 0
    if nodes == 0 and name == AIR_HEAT:
        head = f"{need:g} kW of air heat per rack; {limits.air_path} carries at most {limit:g} kW"
        return Fit(0, name, f"{head}; {limits.air_remedy}")
    if nodes == 0:
        return Fit(0, name, f"does not fit: {need:g} {unit} > {limit:g} {unit} ({name})")
    plural = "s" if nodes > 1 else ""
    reason = f"{nodes} node{plural}: {need * nodes:g} {unit} of {limit:g} {unit} ({name})"
    unchecked = weight_kg is None and limits.weight_kg < math.inf
    return Fit(
        nodes, name, reason + ("; weight unknown, rack_kg_max not checked" if unchecked else "")
    )
