"""Power and water of cooling equipment, per unit of removed heat."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from dcplan.facility import moist
from dcplan.units import J_PER_KJ, KG_PER_M3_OF_WATER, KJ_PER_KWH, PA_PER_KPA

Array = npt.NDArray[np.float64]
SEARCH_AIR_C = np.arange(-45.0, 60.0, 0.1)
"""Temperatures between which that of saturated air is found by its enthalpy."""


def chiller_cop(load: Array, condenser_c: Array, coldest_c: Array, least_cop: Array) -> Array:
    r"""Return the coefficient of performance of a water chiller.

    .. math:: COP = 16.798751 + 0.008840 t^2 - 8.528931 L^2 + 9.885294 L - 0.760621 t + 0.084615 L t

    Parameters
    ----------
    load : array
        Load relative to rating, 0 to 1. [-]
    condenser_c : array
        Condenser-side temperature; at most that of the lowest point of the fit, 38 to 43 C. [C]
    coldest_c : array
        Condenser-side temperature below which chillers do not run. [C]
    least_cop : array
        Lower bound of the result. [-]

    References
    ----------
    .. [1] N. Lei, E. Masanet, Energy 201, 117556 (2020).

    Examples
    --------
    >>> load, water_c, coldest_c, least = (np.array(x) for x in (0.5, 25.0, 12.0, 2.0))
    >>> round(float(chiller_cop(load, water_c, coldest_c, least)), 3)
    7.176
    """
    lowest = (0.760621 - 0.084615 * load) / (
        2.0 * 0.008840
    )  # beyond it the fit would increase again
    t = np.clip(condenser_c, coldest_c, lowest)
    cop = (
        16.798751
        + 0.008840 * t * t
        - 8.528931 * load * load
        + 9.885294 * load
        - 0.760621 * t
        + 0.084615 * load * t
    )
    return np.maximum(cop, least_cop)


def fan_frac(pressure_pa: Array, efficiency: Array, rise_k: Array, air_j_per_m3_k: Array) -> Array:
    r"""Return fan power per heat removed by air: :math:`\Delta p / (\eta\,\rho c_p\,\Delta T)`.

    Examples
    --------
    >>> pressure_pa, efficiency, rise_k, heat = (np.array(x) for x in (650.0, 0.775, 16.65, 1206.0))
    >>> round(float(fan_frac(pressure_pa, efficiency, rise_k, heat)), 4)
    0.0418
    """
    return pressure_pa / (efficiency * air_j_per_m3_k * rise_k)


def pump_frac(head_kpa: Array, efficiency: Array, rise_k: Array, water_kj_per_kg_k: Array) -> Array:
    r"""Return pump power per heat removed by water: :math:`\Delta p / (\eta\,\rho c_p\,\Delta T)`.

    Examples
    --------
    >>> head_kpa, efficiency, rise_k, heat = (np.array(x) for x in (165.0, 0.7, 7.5, 4.186))
    >>> round(float(pump_frac(head_kpa, efficiency, rise_k, heat)), 5)
    0.00751
    """
    by_volume = water_kj_per_kg_k * J_PER_KJ * KG_PER_M3_OF_WATER
    return head_kpa * PA_PER_KPA / (efficiency * by_volume * rise_k)


def tower_fan_frac(
    pressure_pa: Array,
    efficiency: Array,
    liquid_to_air: Array,
    range_k: Array,
    water_kj_per_kg_k: Array,
    air_kg_per_m3: Array,
) -> Array:
    """Return tower fan power per heat; the air mass is proportional to the water mass.

    Examples
    --------
    >>> given = (np.array(x) for x in (150.0, 0.7, 2.3, 5.0, 4.186, 1.2))
    >>> round(float(tower_fan_frac(*given)), 5)
    0.00371
    """
    water_kg_per_kj = 1.0 / (water_kj_per_kg_k * range_k)
    air_m3_per_kj = water_kg_per_kj / liquid_to_air / air_kg_per_m3
    return air_m3_per_kj * pressure_pa / efficiency / J_PER_KJ


def tower_evaporation_frac(
    dry_c: Array, wet_c: Array, hot_c: Array, rise_kj_per_kg: Array, vaporisation_kj_per_kg: Array
) -> Array:
    r"""Return the share of a tower's heat that leaves as vapor; the rest warms the air.

    Air leaves saturated, with the heat of the water, and not warmer than the water that enters:

    .. math:: \varphi = h_{fg}\,\frac{W_s(T_o) - W_i}{h_s(T_o) - h_i}, \quad
              h_s(T_o) = h_i + \Delta h, \quad T_o \le T_{hot}

    It is above 1 where the air leaves colder than it enters.

    Parameters
    ----------
    dry_c, wet_c : array
        Dry and wet bulb of the entering air. [C]
    hot_c : array
        Water that enters the tower, above the wet bulb. [C]
    rise_kj_per_kg : array
        Heat of the tower by kg of air: water over air by mass x range x heat capacity of water.
    vaporisation_kj_per_kg : array
        Heat of vaporization h_fg of water.

    References
    ----------
    .. [1] EnergyPlus, Engineering Reference, cooling towers: evaporation loss mode SaturatedExit.

    Examples
    --------
    By 48.1 kJ/kg: a cold and a hot, dry day.

    >>> dry, wet = np.array([5.0, 40.0]), np.array([4.0, 20.0])
    >>> tower_evaporation_frac(dry, wet, wet + 9.75, np.array(48.1), np.array(2450.0)).round(2)
    array([0.58, 1.2 ])
    """
    humidity = moist.humidity_kg_per_kg(dry_c, wet_c)
    entering = moist.enthalpy_kj_per_kg(dry_c, humidity)
    by_heat = np.interp(entering + rise_kj_per_kg, _saturated_kj_per_kg(SEARCH_AIR_C), SEARCH_AIR_C)
    leaving = np.minimum(by_heat, hot_c)
    vapor = moist.saturated_kg_per_kg(leaving) - humidity
    return np.asarray(vaporisation_kj_per_kg * vapor / (_saturated_kj_per_kg(leaving) - entering))


def _saturated_kj_per_kg(air_c: Array) -> Array:
    return moist.enthalpy_kj_per_kg(air_c, moist.saturated_kg_per_kg(air_c))


def tower_water_l_per_kwh(
    cycles: Array,
    windage_frac: Array,
    range_k: Array,
    vaporisation_kj_per_kg: Array,
    water_kj_per_kg_k: Array,
    evaporation_frac: Array | float = 1.0,
) -> Array:
    r"""Return tower water per rejected heat: evaporation plus the larger of drift and blowdown.

    .. math:: w = e + \max\left(\phi\,\frac{3600}{c\,\Delta T},\; \frac{e}{CoC - 1}\right),\quad
              e = 3600\,\varphi / h_{fg}

    Parameters
    ----------
    cycles : array
        Cycles of concentration, above 1. [-]
    windage_frac : array
        Droplet loss relative to circulated water. [-]
    range_k : array
        Temperature range of the tower water. [K]
    vaporisation_kj_per_kg, water_kj_per_kg_k : array
        Heat of vaporization h_fg and specific heat c of water. [kJ/kg, kJ/kg/K]
    evaporation_frac : array or float
        Share of the heat that leaves as vapor (:func:`tower_evaporation_frac`), or 1. [-]

    Examples
    --------
    Five cycles without drift: 1.47 L evaporated and a quarter of that blown down.

    >>> given = (np.array(x) for x in (5.0, 0.0, 5.0, 2450.0, 4.186))
    >>> round(float(tower_water_l_per_kwh(*given)), 3)
    1.837
    """
    evaporated = KJ_PER_KWH / vaporisation_kj_per_kg * evaporation_frac
    drift = windage_frac * KJ_PER_KWH / (water_kj_per_kg_k * range_k)
    return evaporated + np.maximum(drift, evaporated / (cycles - 1.0))


def mechanical_frac(source_c: Array, supply_c: Array, rise_k: Array) -> Array:
    r"""Return the share of heat that chillers remove.

    It is 0 while the source is colder than the supply, and 1 from the return temperature on.

    .. math:: f = \mathrm{clip}\left(\frac{T_{source} - T_{supply}}{\Delta T}, 0, 1\right)

    Examples
    --------
    >>> mechanical_frac(np.array([15.0, 23.0, 40.0]), np.array(20.0), np.array(6.0)).tolist()
    [0.0, 0.5, 1.0]
    """
    return np.clip((source_c - supply_c) / rise_k, 0.0, 1.0)


def electrical_frac(ups: Array, distribution: Array, lighting: Array) -> Array:
    """Return losses before the racks and lighting, relative to IT power.

    Examples
    --------
    >>> round(float(electrical_frac(np.array(0.945), np.array(0.01), np.array(0.001))), 4)
    0.0699
    """
    return 1.0 / ups / (1.0 - distribution) - 1.0 + lighting


def part_load(full_frac: Array, load: float, fixed_frac: Array) -> Array:
    r"""Return a loss relative to IT power at part load.

    It has a fixed share and a share that decreases with the cube of the flow.

    .. math:: l(x) = l(1)\,\left(f/x + (1-f)\,x^2\right)

    Examples
    --------
    >>> round(float(part_load(np.array(0.05), 0.5, np.array(0.3))), 5)
    0.03875
    """
    return full_frac * (fixed_frac / load + (1.0 - fixed_frac) * load * load)
