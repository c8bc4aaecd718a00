"""Tariffs: an electricity bill by kWh and kW with its minimum take, and prices by tier."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dcplan.economics.ranges import Array, Value, as_value, within


def billed_demand_kw(
    metered_peak_kw: npt.ArrayLike,
    *,
    contracted_kw: npt.ArrayLike = 0.0,
    floor_frac: Value = 0.0,
    ratchet_frac: Value = 0.0,
    ratchet_months: int = 11,
) -> Array:
    r"""Return the billed demand: the maximum of metered peak, minimum demand and ratchet.

    .. math:: \max(P_t,\ f\,C_t,\ \rho \max_{s = t-m \ldots t-1} P_s)

    Parameters
    ----------
    metered_peak_kw : array, shape (..., months)
        Peak of each month. [kW]
    contracted_kw : float or array, shape (..., months)
        Contracted demand; a row of months makes a ramp. [kW]
    floor_frac : float or array of samples
        Part of the contract that is always paid, 0 to 1. [-]
    ratchet_frac : float or array of samples
        Part of the highest peak of earlier months that is paid, 0 to 1. [-]
    ratchet_months : int
        Number of earlier months in the ratchet.

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
    """Bill by month in USD, shape (..., months)."""

    energy_usd: Array
    demand_usd: Array
    fixed_usd: Array

    @property
    def total_usd(self) -> Array:
        """Return the total of all three, by month."""
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
    """Bill energy, demand and a fixed charge by month.

    Parameters
    ----------
    kwh : array, shape (..., months)
        Metered energy. [kWh]
    demand_kw : array, shape (..., months)
        Billed demand, of :func:`billed_demand_kw`. [kW]
    usd_per_kwh, usd_per_kw_month : float or array, shape (..., months)
        Prices, which may change by month.
    minimum_kwh : float or array, shape (..., months)
        Minimum energy that is always paid (take or pay). [kWh]
    fixed_usd_per_month : float or array, shape (..., months)
        Customer charge. [USD]

    Examples
    --------
    >>> prices = {"usd_per_kwh": 0.1, "usd_per_kw_month": 5.0}
    >>> energy_bill([100.0, 10.0], [2.0, 2.0], minimum_kwh=50.0, **prices).total_usd.tolist()
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


def tiered_usd(quantity: Value, tier_ends: npt.ArrayLike, usd_per_unit: npt.ArrayLike) -> Value:
    """Price a quantity where each tier has its own unit price: egress, storage.

    Parameters
    ----------
    quantity : float or array
        GB, TB …, at least 0, in the unit of the prices (clouds often bill GiB).
    tier_ends : array, shape (tiers - 1,)
        Quantity at which each tier but the last ends, rising.
    usd_per_unit : array, shape (tiers,)
        Unit price of each tier. [USD/unit]

    Raises
    ------
    ValueError
        When the ends do not rise or do not match the prices.

    Examples
    --------
    50 TB of egress, the first 10 TB at 0.09 USD/GB, the rest at 0.085:

    >>> round(tiered_usd(50_000.0, [10_000.0], [0.09, 0.085]), 2)
    4300.0
    """
    ends, prices = within("tier_ends", tier_ends, 0.0), within("usd_per_unit", usd_per_unit, 0.0)
    if len(prices) != len(ends) + 1 or np.any(np.diff(ends) <= 0.0):
        given = f"{len(ends)} ends for {len(prices)} prices"
        msg = f"tier_ends must rise and be one fewer than the prices, got {given}"
        raise ValueError(msg)
    starts = np.concatenate([[0.0], ends])
    room = np.diff(np.concatenate([starts, [np.inf]]))
    filled = np.clip(within("quantity", quantity, 0.0)[..., None] - starts, 0.0, room)
    return as_value(filled @ prices)
