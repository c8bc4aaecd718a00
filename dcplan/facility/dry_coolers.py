"""Dry coolers with wetted pads and trim chillers that keep a set supply temperature in every hour."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from dcplan.facility import plant
from dcplan.facility.cooling import (
    Hours,
    Loads,
    Sampled,
    electrical_loss,
    facility_pump_frac,
    room_power,
    turned_down,
)
from dcplan.units import KJ_PER_KWH

Array = npt.NDArray[np.float64]
SEARCH_FLOWS = np.linspace(0.01, 1.0, 100)
"""Air flows over design at which the heat of a cooler is computed; between them it is linear."""
MOST_EFFECTIVENESS = 0.999
MOST_CIRCUITS = 8
"""Circuits that are kept: a year, its design day and its full load, of liquid and room air."""
CIRCUIT_SAMPLES = (
    "facility_rise_k",
    "cooler_approach_k",
    "cooler_air_to_water",
    "cooler_air_exponent",
    "cooler_air_resistance_frac",
    "pad_saturation_frac",
    "cooler_fan_k",
    "cooler_least_flow_frac",
    "chiller_load",
    "chiller_cop_factor",
    "condenser_min_c",
    "least_cop",
    "vaporisation_kj_per_kg",
)
"""Parameters of :func:`circuit`."""


def counterflow(transfer_units: Array, ratio: Array) -> Array:
    r"""Return the effectiveness of a counterflow exchanger.

    .. math:: \varepsilon = \frac{1 - e^{-N(1-z)}}{1 - z e^{-N(1-z)}}, \quad z = C_{min}/C_{max}

    Parameters
    ----------
    transfer_units : array
        UA over the smaller heat capacity rate, not negative. [-]
    ratio : array
        Smaller over larger heat capacity rate, 0 to 1. [-]

    Examples
    --------
    Equal rates: N / (1 + N).

    >>> round(float(counterflow(np.array(1.0), np.array(1.0))), 4)
    0.5
    """
    z = np.minimum(ratio, 1.0 - 1e-6)
    decay = np.exp(-transfer_units * (1.0 - z))
    return np.asarray((1.0 - decay) / (1.0 - z * decay))


def transfer_units(effectiveness: Array, ratio: Array) -> Array:
    """Return the transfer units of a counterflow exchanger of an effectiveness.

    Examples
    --------
    >>> round(float(transfer_units(np.array(0.5), np.array(1.0))), 3)
    1.0
    """
    z = np.minimum(ratio, 1.0 - 1e-6)
    e = np.minimum(effectiveness, MOST_EFFECTIVENESS)
    return np.asarray(np.log((1.0 - e * z) / (1.0 - e)) / (1.0 - z))


def heat_by_flow(p: Sampled) -> Array:
    r"""Return the heat of a cooler at each of :data:`SEARCH_FLOWS`, over its heat at design flow.

    The difference between entering water and entering air is that of the design. Air-side
    resistance, a share s of all at design, falls with the air flow y to the power n:

    .. math:: UA(y) = UA(1) / (1 - s + s\,y^{-n})

    Parameters
    ----------
    p : mapping
        Columns of samples: facility_rise_k, cooler_approach_k, cooler_air_to_water (heat capacity
        rate of air over that of water at design), cooler_air_exponent, cooler_air_resistance_frac.

    References
    ----------
    .. [1] Modelica Buildings library, CoolingTowers.DryCooler: resistances and exponents.
    """
    water, air = 1.0, p["cooler_air_to_water"]
    span = p["facility_rise_k"] / (p["facility_rise_k"] + p["cooler_approach_k"])
    least = np.minimum(water, air)
    whole = transfer_units(span / least, least / np.maximum(water, air)) * least
    flows = air * SEARCH_FLOWS[None, :]
    share = p["cooler_air_resistance_frac"]
    ua = whole / (1.0 - share + share * SEARCH_FLOWS[None, :] ** -p["cooler_air_exponent"])
    small = np.minimum(water, flows)
    heat = counterflow(ua / small, small / np.maximum(water, flows)) * small
    return np.asarray(heat / heat[:, -1:])


def flow_needed(heat_frac: Array, curve: Array) -> Array:
    """Return the air flow over design for a heat over that at design flow; at most 1.

    Examples
    --------
    >>> flow_needed(np.array([[0.505, 2.0]]), SEARCH_FLOWS[None, :]).round(3).tolist()
    [[0.505, 1.0]]
    """
    wide = np.broadcast_to(curve, (heat_frac.shape[0], curve.shape[1]))
    rows = zip(heat_frac, wide, strict=True)
    return np.stack([np.interp(wanted, have, SEARCH_FLOWS) for wanted, have in rows])


@dataclass(frozen=True)
class Circuit:
    """One water circuit over dry coolers, per heat of the circuit; rows are samples."""

    fans: Array
    """Power of the fans."""
    work: Array
    """Power of the trim chillers."""
    chilled: Array
    """Share of the heat that trim chillers remove."""
    water_l_per_kwh: Array
    """Water that the pads evaporate."""


def circuit(dry_c: Array, wet_c: Array, supply_c: Array, p: Sampled, load: float) -> Circuit:
    r"""Return fans, trim chillers and pads of a circuit that is kept at its supply temperature.

    Air enters at the dry bulb. Where the coolers alone do not reach the supply at design flow,
    pads cool the air by as much as is missing, at most by their saturation efficiency times the
    wet-bulb depression; chillers take the rest. Fans take the least flow y that moves the heat:

    .. math:: e_{fan} = \frac{k}{R + A} \max(y, y_0)^3, \qquad
              w = \frac{3600}{h_{fg}} \frac{C_a/C_w}{R}\, y\, \Delta T_{pad}

    Parameters
    ----------
    dry_c, wet_c : array
        Dry and wet bulb of the bins. [C]
    supply_c : array
        Supply temperature of the circuit, a column of samples. [C]
    p : mapping
        As in :func:`heat_by_flow`, and pad_saturation_frac, cooler_fan_k, cooler_least_flow_frac,
        chiller_load, chiller_cop_factor, condenser_min_c, least_cop, vaporisation_kj_per_kg.
    load : float
        Heat of the circuit over its design heat, above 0, at most 1. [-]

    References
    ----------
    .. [1] Fan power and capacity of BAC and Kelvion coolers, as in the rows of the catalog.
    """
    rise, approach = p["facility_rise_k"], p["cooler_approach_k"]
    span = rise + approach
    curve = heat_by_flow(p)
    # at part load the coolers reach the supply with a smaller approach, at the design's flow
    least_k = np.maximum(load * span - rise, 0.0)
    missing = np.maximum(dry_c[None, :] + least_k - supply_c, 0.0)
    most = p["pad_saturation_frac"] * np.maximum(dry_c - wet_c, 0.0)[None, :]
    cooled = np.minimum(missing, most)
    left = missing - cooled
    chilled = np.clip(left / rise, 0.0, 1.0)
    air_c = dry_c[None, :] - cooled
    cop = plant.chiller_cop(
        p["chiller_load"] * load, air_c + approach, p["condenser_min_c"], p["least_cop"]
    )
    work = chilled / (cop * p["chiller_cop_factor"])
    driving = np.maximum(supply_c + rise - air_c, 1e-9)
    flow = np.where(missing > 0.0, 1.0, flow_needed(load * span / driving, curve))
    fans = p["cooler_fan_k"] / span * np.maximum(flow, p["cooler_least_flow_frac"]) ** 3 / load
    evaporated = KJ_PER_KWH / p["vaporisation_kj_per_kg"] * p["cooler_air_to_water"] / rise
    return Circuit(fans * (1.0 + work), work, chilled, evaporated * flow * cooled / load)


def _circuit(dry_c: Array, wet_c: Array, supply_c: Array, p: Sampled, load: float) -> Circuit:
    """Return the circuit of equal inputs once: halls that differ in their air share have the same."""
    columns = (dry_c, wet_c, supply_c, *(p[name] for name in CIRCUIT_SAMPLES))
    wide = (np.asarray(x, dtype=np.float64) for x in columns)
    return _circuit_of(tuple((x.tobytes(), x.shape) for x in wide), load)


@lru_cache(maxsize=MOST_CIRCUITS)
def _circuit_of(columns: tuple[tuple[bytes, tuple[int, ...]], ...], load: float) -> Circuit:
    dry_c, wet_c, supply_c, *samples = (
        np.frombuffer(data, dtype=np.float64).reshape(shape) for data, shape in columns
    )
    return circuit(dry_c, wet_c, supply_c, dict(zip(CIRCUIT_SAMPLES, samples, strict=True)), load)


def over_kept_coolers(
    dry_c: Array, wet_c: Array, supply_c: Array, p: Sampled, loads: Loads
) -> Hours:
    """Return PUE and WUE of dry coolers whose set supply is kept by pads and trim chillers.

    Room air has a circuit of its own, not warmer than air handlers allow.

    Parameters
    ----------
    dry_c, wet_c : array
        Dry and wet bulb of the bins. [C]
    supply_c : array
        Facility water supplied to liquid, a column of samples. [C]
    p : mapping
        As in :func:`circuit` and :func:`dcplan.facility.cooling.over_towers`.
    loads : Loads
        Heat by path, and load.
    """
    electrical = electrical_loss(p, loads)
    heat = 1.0 + (electrical if loads.all_heat else 0.0)
    liquid = _circuit(dry_c, wet_c, supply_c, p, loads.load)
    room = _circuit(dry_c, wet_c, np.minimum(supply_c, p["room_water_c"]), p, loads.load)
    air = loads.air_frac
    fans, work, chilled, water = (
        air * by_air + (1.0 - air) * by_liquid
        for by_air, by_liquid in (
            (room.fans, liquid.fans),
            (room.work, liquid.work),
            (room.chilled, liquid.chilled),
            (room.water_l_per_kwh, liquid.water_l_per_kwh),
        )
    )
    moved = turned_down(room_power(p, loads) + facility_pump_frac(p), p, loads.load)
    pue = 1.0 + electrical + heat * (moved + fans + work)
    return Hours(pue, water * heat, chilled, heat * chilled, heat * (1.0 + work))
