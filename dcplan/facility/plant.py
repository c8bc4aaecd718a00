"""Power and water of cooling equipment, all over the heat that it moves."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
AIR_J_PER_M3_K = 1206.0
"""Volumetric heat of air at 20 C."""
AIR_KG_PER_M3 = 1.2
WATER_J_PER_M3_K = 4.186e6
WATER_KJ_PER_KG_K = 4.186
VAPORISATION_KJ_PER_KG = 2450.0
"""Of water at 20 to 25 C; -0.0013 T^2 - 2.3097 T + 2500.5 is 2,454 at 20 C (Lei and Masanet 2020).
"""
LEAST_COP = 2.0
COLDEST_CONDENSER_C = 12.0
"""Chillers are not run on colder condenser water."""


def chiller_cop(load: Array, condenser_c: Array) -> Array:
    r"""Coefficient of performance of a water chiller.

    .. math:: COP = 16.798751 + 0.008840 t^2 - 8.528931 L^2 + 9.885294 L - 0.760621 t + 0.084615 L t

    Parameters
    ----------
    load : array
        Load over rating, 0 to 1. [-]
    condenser_c : array
        Condenser-side temperature; not below 12 C is used, nor above the fit's lowest point (38 to
        43 C). [C]

    References
    ----------
    .. [1] N. Lei, E. Masanet, Energy 201, 117556 (2020).

    Examples
    --------
    >>> round(float(chiller_cop(np.array(0.5), np.array(25.0))), 3)
    7.176
    """
    lowest = (0.760621 - 0.084615 * load) / (2.0 * 0.008840)  # past it the fit would rise again
    t = np.clip(condenser_c, COLDEST_CONDENSER_C, lowest)
    cop = (
        16.798751
        + 0.008840 * t * t
        - 8.528931 * load * load
        + 9.885294 * load
        - 0.760621 * t
        + 0.084615 * load * t
    )
    return np.maximum(cop, LEAST_COP)


def fan_frac(pressure_pa: Array, efficiency: Array, rise_k: Array) -> Array:
    r"""Fan power over heat moved by air: :math:`\Delta p / (\eta\,\rho c_p\,\Delta T)`.

    Examples
    --------
    >>> round(float(fan_frac(np.array(650.0), np.array(0.775), np.array(16.65))), 4)
    0.0418
    """
    return pressure_pa / (efficiency * AIR_J_PER_M3_K * rise_k)


def pump_frac(head_kpa: Array, efficiency: Array, rise_k: Array) -> Array:
    r"""Pump power over heat moved by water: :math:`\Delta p / (\eta\,\rho c_p\,\Delta T)`.

    Examples
    --------
    >>> round(float(pump_frac(np.array(165.0), np.array(0.7), np.array(7.5))), 5)
    0.00751
    """
    return head_kpa * 1000.0 / (efficiency * WATER_J_PER_M3_K * rise_k)


def tower_fan_frac(
    pressure_pa: Array, efficiency: Array, liquid_to_air: Array, range_k: Array
) -> Array:
    """Tower fan power over heat: air in proportion to water by mass.

    Examples
    --------
    >>> round(float(tower_fan_frac(np.array(150.0), np.array(0.7), np.array(2.3), np.array(5.0))), 5)
    0.00371
    """
    water_kg_per_kj = 1.0 / (WATER_KJ_PER_KG_K * range_k)
    return water_kg_per_kj / liquid_to_air / AIR_KG_PER_M3 * pressure_pa / efficiency / 1000.0


def tower_water_l_per_kwh(cycles: Array, windage_frac: Array, range_k: Array) -> Array:
    r"""Water of a tower over heat rejected: evaporation, and the larger of drift and blowdown.

    .. math:: w = e + \max\left(\phi\,\frac{3600}{c\,\Delta T},\; \frac{e}{CoC - 1}\right),\quad e = 3600 / h_{fg}

    Parameters
    ----------
    cycles : array
        Cycles of concentration, above 1. [-]
    windage_frac : array
        Droplets lost over circulated water. [-]
    range_k : array
        Cooling of the tower water. [K]

    Examples
    --------
    Five cycles without drift: 1.47 L evaporated and a quarter of that blown down.

    >>> round(float(tower_water_l_per_kwh(np.array(5.0), np.array(0.0), np.array(5.0))), 3)
    1.837
    """
    evaporated = 3600.0 / VAPORISATION_KJ_PER_KG
    drift = windage_frac * 3600.0 / (WATER_KJ_PER_KG_K * range_k)
    return evaporated + np.maximum(drift, evaporated / (cycles - 1.0))


def mechanical_frac(source_c: Array, supply_c: Array, rise_k: Array) -> Array:
    r"""Share of heat that chillers take: none while the source is colder than the supply, all from
    the return on.

    .. math:: f = \mathrm{clip}\left(\frac{T_{source} - T_{supply}}{\Delta T}, 0, 1\right)

    Examples
    --------
    >>> mechanical_frac(np.array([15.0, 23.0, 40.0]), np.array(20.0), np.array(6.0)).tolist()
    [0.0, 0.5, 1.0]
    """
    return np.clip((source_c - supply_c) / rise_k, 0.0, 1.0)


def electrical_frac(ups: Array, distribution: Array, lighting: Array) -> Array:
    """Losses before the racks and lighting, over IT power.

    Examples
    --------
    >>> round(float(electrical_frac(np.array(0.945), np.array(0.01), np.array(0.001))), 4)
    0.0699
    """
    return 1.0 / ups / (1.0 - distribution) - 1.0 + lighting


def part_load(full_frac: Array, load: float, fixed_frac: Array) -> Array:
    r"""A loss over IT power at part load: a fixed share, and one that falls with the cube of flow,
    never below zero.

    .. math:: l(x) = l(1)\,\left(f/x + (1-f)\,x^2\right)

    Examples
    --------
    >>> round(float(part_load(np.array(0.05), 0.5, np.array(0.3))), 5)
    0.03875
    """
    return full_frac * (fixed_frac / load + (1.0 - fixed_frac) * load * load)
