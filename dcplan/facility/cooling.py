"""PUE and WUE of water-cooled and dry-cooled halls from their components.

All weather bins and samples are computed at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dcplan.facility import plant
from dcplan.facility.electrical.chain import Branch, losses_frac
from dcplan.units import KJ_PER_KWH

Array = npt.NDArray[np.float64]
Sampled = Mapping[str, Array]
"""Parameter -> column of samples."""


@dataclass(frozen=True)
class Loads:
    """Heat loads of a hall on its cooling."""

    air_frac: Array | float
    """Share of the IT heat that room fans remove; the rest goes to liquid, or to a door without room
    fans."""
    cdu: bool
    """Whether the liquid passes coolant distribution units."""
    all_heat: bool
    """Whether losses before the racks also heat the hall and leave through the same plant."""
    load: float = 1.0
    """IT power divided by the design IT power of the plant."""
    designed: bool = False
    """Whether the supply temperature is a design value: room air then has its own colder water if
    the supply is too warm for air."""
    branches: tuple[Branch, ...] = ()
    """Load classes behind power blocks; empty: the UPS and distribution of a size class."""


@dataclass(frozen=True)
class Hours:
    """Rows are samples, columns weather bins; all values are per IT energy."""

    pue: Array
    wue_l_per_kwh: Array
    chiller_frac: Array
    """Share of heat that chillers remove."""
    chilled: Array
    """Heat that chillers remove."""
    rejected: Array
    """Heat that towers or dry coolers reject: the heat of the hall, and the work of the
    chillers."""


def over_towers(wet_c: Array, supply_c: Array, p: Sampled, loads: Loads) -> Hours:
    r"""Return PUE and WUE of towers with a waterside economizer and chillers.

    .. math:: PUE = 1 + e_{el} + q\left(a\,e_{fan} + (1-a)\,e_{CDU} + e_{pump} + (1 + f/COP)(e_{cond} + e_{tower})
              + f/COP\right)

    with the chiller share f of :func:`dcplan.facility.plant.mechanical_frac` for a source at the
    wet bulb plus the approaches of tower and exchanger; q is IT heat, and losses before the racks
    if they stay in the hall. Water is lost with the heat that reaches the tower: IT heat,
    chiller work, and those losses.

    Parameters
    ----------
    wet_c : array
        Wet bulb of the bins. [C]
    supply_c : array
        Supply temperature of facility water, a column of samples. [C]
    p : mapping
        Samples of ups, distribution, lighting, fan_pa, fan_efficiency, air_rise_k, chiller_load,
        chiller_cop_factor, cycles, tower_approach_k, exchanger_approach_k, tower_range_k,
        facility_rise_k, windage_frac, pump_efficiency, facility_head_kpa, tower_head_kpa,
        tower_fan_pa, tower_fan_efficiency, liquid_to_air, cdu_frac, pump_fixed_frac,
        ups_fixed_frac; and the constants air_j_per_m3_k, air_kg_per_m3, water_kj_per_kg_k,
        vaporisation_kj_per_kg, condenser_min_c, least_cop, room_water_c.
    loads : Loads
        Heat by path, and load.

    References
    ----------
    .. [1] N. Lei et al., Resources, Conservation & Recycling 219, 108310 (2025), cases 2 and 15.
    """
    electrical = electrical_loss(p, loads)
    heat = 1.0 + (electrical if loads.all_heat else 0.0)
    chilled = _chilled_frac(wet_c, supply_c, p, loads)
    cop = plant.chiller_cop(
        p["chiller_load"] * loads.load,
        wet_c[None, :] + p["tower_approach_k"],
        p["condenser_min_c"],
        p["least_cop"],
    )
    work = chilled / (cop * p["chiller_cop_factor"])
    moving = room_power(p, loads) + facility_pump_frac(p) + _tower_frac(p) * (1.0 + work)
    moved = turned_down(moving, p, loads.load)
    water = plant.tower_water_l_per_kwh(
        p["cycles"],
        p["windage_frac"],
        p["tower_range_k"],
        p["vaporisation_kj_per_kg"],
        p["water_kj_per_kg_k"],
    )
    rejected = heat * (1.0 + work)
    return Hours(
        1.0 + electrical + heat * (moved + work),
        water * rejected,
        chilled,
        heat * chilled,
        rejected,
    )


def _chilled_frac(wet_c: Array, supply_c: Array, p: Sampled, loads: Loads) -> Array:
    """Return the share of heat that chillers remove in the bins.

    With a supply of a design, air has its own water, which is cold enough for a room.
    """
    source = wet_c[None, :] + p["tower_approach_k"] + p["exchanger_approach_k"]
    chilled = plant.mechanical_frac(source, supply_c, p["facility_rise_k"])
    if not loads.designed:
        return chilled
    for_air = plant.mechanical_frac(
        source, np.minimum(supply_c, p["room_water_c"]), p["facility_rise_k"]
    )
    return np.asarray(loads.air_frac * for_air + (1.0 - loads.air_frac) * chilled)


def _tower_frac(p: Sampled) -> Array:
    """Return the power of condenser pumps and tower fans over the heat that towers reject."""
    pumps = plant.pump_frac(
        p["tower_head_kpa"], p["pump_efficiency"], p["tower_range_k"], p["water_kj_per_kg_k"]
    )
    fans = plant.tower_fan_frac(
        p["tower_fan_pa"],
        p["tower_fan_efficiency"],
        p["liquid_to_air"],
        p["tower_range_k"],
        p["water_kj_per_kg_k"],
        p["air_kg_per_m3"],
    )
    return np.asarray(pumps + fans)


def over_dry_coolers(
    dry_c: Array, wet_c: Array, supply_c: Array, p: Sampled, loads: Loads
) -> Hours:
    r"""Return PUE and WUE of dry coolers over a range of supply temperatures, without chillers.

    It repeats the study of Lei et al.: fans have one power, and the supply is not kept in hours
    that are too warm to spray. A design's own supply is in
    :func:`dcplan.facility.dry_coolers.over_kept_coolers`.

    Water cools the air by the missing temperature difference,
    :math:`w = \frac{3600}{h_{fg}}\min\left((T_{dry} + A - T_s) / \Delta T_{air}, 1\right)`, while
    :math:`T_{wet} + B \le T_s`; above that the supply temperature rises above its setting.

    Parameters
    ----------
    dry_c, wet_c : array
        Dry and wet bulb of the bins. [C]
    supply_c : array
        Facility water temperature above which spraying starts, a column of samples. [C]
    p : mapping
        As in :func:`over_towers`, and dry_approach_k, spray_approach_k, dry_air_rise_k, dry_fan_pa.
    loads : Loads
        Heat by path, and load.

    References
    ----------
    .. [1] N. Lei et al., Resources, Conservation & Recycling 219, 108310 (2025), case 16_2.
    """
    electrical = electrical_loss(p, loads)
    missing = dry_c[None, :] + p["dry_approach_k"] - supply_c
    sprayed = (missing > 0.0) & (wet_c[None, :] + p["spray_approach_k"] <= supply_c)
    share = np.minimum(missing / p["dry_air_rise_k"], 1.0)
    water = np.where(sprayed, KJ_PER_KWH / p["vaporisation_kj_per_kg"] * share, 0.0)
    fans = plant.fan_frac(
        p["dry_fan_pa"], p["tower_fan_efficiency"], p["dry_air_rise_k"], p["air_j_per_m3_k"]
    )
    moved = turned_down(room_power(p, loads) + facility_pump_frac(p) + fans, p, loads.load)
    heat = 1.0 + (electrical if loads.all_heat else 0.0)
    none = np.zeros_like(water)
    pue = 1.0 + electrical + heat * moved
    return Hours(np.broadcast_to(pue, water.shape), water * heat, none, none, none + heat)


def electrical_loss(p: Sampled, loads: Loads) -> Array:
    """Return losses before the racks and lighting over IT power, at a load over the design load.

    Losses are those of transformers, UPS and busway at the load of their blocks. Without blocks,
    they are those of a size class, which have a fixed part and one with the square of the load.
    """
    lighting = p["lighting"] / loads.load
    if loads.branches:
        return np.asarray(losses_frac(loads.branches, loads.load, p) + lighting)
    full = plant.electrical_frac(p["ups"], p["distribution"], np.zeros_like(p["ups"]))
    fixed = p["ups_fixed_frac"]
    return np.asarray(full * (fixed / loads.load + (1.0 - fixed) * loads.load) + lighting)


def room_power(p: Sampled, loads: Loads) -> Array:
    """Return the power of room fans and of pumps in distribution units over IT power, at full load."""
    fans = (
        plant.fan_frac(p["fan_pa"], p["fan_efficiency"], p["air_rise_k"], p["air_j_per_m3_k"])
        * loads.air_frac
    )
    return np.asarray(fans + (p["cdu_frac"] * (1.0 - loads.air_frac) if loads.cdu else 0.0))


def facility_pump_frac(p: Sampled) -> Array:
    r"""Return the power of the pumps of facility water over the heat that it moves.

    .. math:: e_{pump} = \frac{\Delta p}{\eta\,c\,R_f}

    Parameters
    ----------
    p : mapping
        Samples of facility_head_kpa, pump_efficiency and facility_rise_k; the constant
        water_kj_per_kg_k.

    Examples
    --------
    200 kPa, a pump of 70 % and 10 K: 200 / (0.7 x 1000 x 4.186 x 10) = 0.0068.

    >>> p = {"facility_head_kpa": 200.0, "pump_efficiency": 0.7, "facility_rise_k": 10.0}
    >>> p = {key: np.array([value]) for key, value in p.items()}
    >>> facility_pump_frac(p | {"water_kj_per_kg_k": np.array(4.186)}).round(4)
    array([0.0068])
    """
    return plant.pump_frac(
        p["facility_head_kpa"], p["pump_efficiency"], p["facility_rise_k"], p["water_kj_per_kg_k"]
    )


def turned_down(moved: Array, p: Sampled, load: float) -> Array:
    """Return the power of fans and pumps over IT power at a load over the design load."""
    return plant.part_load(moved, load, p["pump_fixed_frac"])


@dataclass(frozen=True)
class Spread:
    """Median, 5th and 95th percentile of the samples."""

    low: float
    value: float
    high: float

    @classmethod
    def of(cls, draws: Array) -> Spread:
        """Return the percentiles over samples."""
        low, value, high = np.percentile(draws, [5.0, 50.0, 95.0])
        return cls(float(low), float(value), float(high))
