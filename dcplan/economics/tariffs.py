"""Tariffs with prices by tier."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from dcplan.economics.ranges import Value, as_value, within


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
