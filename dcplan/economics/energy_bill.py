"""The electricity bill: energy by kWh, demand by kW, and what a contract makes one pay without
using it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dcplan.economics.ranges import Array, Value, above, as_value, within


def facility_kw(it_kw: Value, pue: Value) -> Value:
    """Power at the meter: IT power x PUE. [kW]

    Examples
    --------
    >>> facility_kw(1000.0, 1.4)
    1400.0
    """
    return as_value(within("it_kw", it_kw, 0.0) * within("pue", pue, 1.0))


def facility_energy_usd(
    it_kw: Value, pue: Value, hours: Value, usd_per_kwh: Value, *, load_frac: Value = 1.0
) -> Value:
    """Energy of a facility: kW x PUE x hours x USD/kWh. Without kW there is no energy to price.

    Parameters
    ----------
    it_kw : float or array
        IT power at full load, at least 0. [kW]
    pue : float or array
        Over the same hours, at least 1. [-]
    hours : float or array
        8,760 or 8,766 a year, 720 or 730 a month, 1 for the cost of an hour. [h]
    usd_per_kwh : float or array
        May be negative in wholesale markets. [USD/kWh]
    load_frac : float or array
        Mean over full load, 0 to 1. [-]

    Examples
    --------
    >>> round(facility_energy_usd(1000.0, 1.4, 8_760, 0.09))
    1103760
    """
    kwh = (
        np.asarray(facility_kw(it_kw, pue))
        * within("load_frac", load_frac, 0.0, 1.0)
        * within("hours", hours, 0.0)
    )
    return as_value(kwh * within("usd_per_kwh", usd_per_kwh))


def billed_demand_kw(
    metered_peak_kw: npt.ArrayLike,
    *,
    contracted_kw: npt.ArrayLike = 0.0,
    floor_frac: Value = 0.0,
    ratchet_frac: Value = 0.0,
    ratchet_months: int = 11,
) -> Array:
    r"""Demand that is billed: the metered peak, or the minimum take, or the ratchet, whichever is
    most.

    .. math:: \max(P_t,\ f\,C_t,\ \rho \max_{s = t-m \ldots t-1} P_s)

    Parameters
    ----------
    metered_peak_kw : array, shape (..., months)
        Peak of each month. [kW]
    contracted_kw : float or array, shape (..., months)
        Contracted demand; a row of months makes a ramp. [kW]
    floor_frac : float or array of samples
        Part of the contract that is paid in any case, 0 to 1. [-]
    ratchet_frac : float or array of samples
        Part of the highest peak of earlier months that is paid, 0 to 1. [-]
    ratchet_months : int
        How many earlier months the ratchet remembers.

    References
    ----------
    .. [1] AEP Ohio data-center tariff: 60 % floor, 85 or 90 % proposed, by contracted capacity.

    Examples
    --------
    >>> billed_demand_kw([100.0, 40.0], contracted_kw=[100.0, 100.0], floor_frac=0.6).tolist()
    [100.0, 60.0]
    >>> billed_demand_kw([100.0, 40.0, 40.0], ratchet_frac=0.8, ratchet_months=1).tolist()
    [100.0, 80.0, 40.0]
    """
    peak = within("metered_peak_kw", metered_peak_kw, 0.0)
    floor = within("floor_frac", floor_frac, 0.0, 1.0)[..., None] * within(
        "contracted_kw", contracted_kw, 0.0
    )
    memory = within("ratchet_frac", ratchet_frac, 0.0, 1.0)
    billed = (
        np.maximum(peak, floor) + 0.0 * memory[..., None]
    )  # one row for each sample of the ratchet
    for t in range(1, peak.shape[-1]):
        before = peak[..., max(0, t - ratchet_months) : t]
        if before.shape[-1]:
            billed[..., t] = np.maximum(billed[..., t], memory * before.max(axis=-1))
    return billed


@dataclass(frozen=True)
class EnergyBill:
    """Bill by month. Shape (..., months). [USD]"""

    energy_usd: Array
    demand_usd: Array
    fixed_usd: Array

    @property
    def total_usd(self) -> Array:
        """All three, by month."""
        return np.asarray(self.energy_usd + self.demand_usd + self.fixed_usd)


def energy_bill(
    kwh: npt.ArrayLike,
    demand_kw: npt.ArrayLike,
    *,
    usd_per_kwh: npt.ArrayLike,
    usd_per_kw_month: npt.ArrayLike,
    minimum_kwh: npt.ArrayLike = 0.0,
    fixed_usd_per_month: npt.ArrayLike = 0.0,
) -> EnergyBill:
    """Energy, demand and fixed charge by month.

    Parameters
    ----------
    kwh : array, shape (..., months)
        Metered energy. [kWh]
    demand_kw : array, shape (..., months)
        Billed demand, of :func:`billed_demand_kw`. [kW]
    usd_per_kwh, usd_per_kw_month : float or array, shape (..., months)
        Prices, which may change by month.
    minimum_kwh : float or array, shape (..., months)
        Energy paid whether taken or not (take or pay). [kWh]
    fixed_usd_per_month : float or array, shape (..., months)
        Customer charge. [USD]

    Examples
    --------
    >>> bill = energy_bill([100.0, 10.0], [2.0, 2.0], usd_per_kwh=0.1, usd_per_kw_month=5.0, minimum_kwh=50.0)
    >>> bill.total_usd.tolist()
    [20.0, 15.0]
    """
    taken = np.maximum(within("kwh", kwh, 0.0), within("minimum_kwh", minimum_kwh, 0.0))
    demand = within("demand_kw", demand_kw, 0.0)
    energy, power, fixed = np.broadcast_arrays(
        taken * within("usd_per_kwh", usd_per_kwh),
        demand * within("usd_per_kw_month", usd_per_kw_month, 0.0),
        within("fixed_usd_per_month", fixed_usd_per_month, 0.0),
    )
    return EnergyBill(np.asarray(energy), np.asarray(power), np.asarray(fixed))


def demand_usd_per_kwh(
    usd_per_kw_month: Value, load_factor_frac: Value, hours_per_month: float
) -> Value:
    """What a demand charge adds to each kWh at a load factor (mean over billed kW).

    Examples
    --------
    >>> round(demand_usd_per_kwh(7.30, 0.5, 730), 6)
    0.02
    """
    used = above("load_factor_frac", within("load_factor_frac", load_factor_frac, high=1.0))
    return as_value(
        within("usd_per_kw_month", usd_per_kw_month, 0.0)
        / (used * above("hours_per_month", hours_per_month))
    )
