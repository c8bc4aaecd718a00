"""A rented cluster with all eight adders: USD per accelerator-hour is not the cost of ownership."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from dcplan.economics.ranges import Value, above, as_value, within


@dataclass(frozen=True)
class RentedCluster:
    """Lines of one month of a contract; every field may be an array of samples.

    References
    ----------
    .. [1] SemiAnalysis, ClusterMAX TCO page, 2026.

    Examples
    --------
    >>> cluster = RentedCluster(1000.0, 100.0, support_frac=0.1, setup_usd=1200.0, contract_months=12)
    >>> cluster.month_usd, cluster.contract_usd
    (1310.0, 15720.0)
    """

    accelerators_usd: Value
    storage_usd: Value = 0.0
    network_usd: Value = 0.0
    """Network and egress."""
    cpu_nodes_usd: Value = 0.0
    support_frac: Value = 0.0
    """Support over the four lines above. [-]"""
    goodput_loss_usd: Value = 0.0
    """Of :func:`goodput_loss_usd`."""
    debugging_usd: Value = 0.0
    setup_usd: Value = 0.0
    """Paid once."""
    contract_months: Value = 1.0
    """Length of the contract, over which set-up is spread."""

    def __post_init__(self) -> None:
        for name in (
            "accelerators_usd",
            "storage_usd",
            "network_usd",
            "cpu_nodes_usd",
            "support_frac",
        ):
            within(name, getattr(self, name), 0.0)
        for name in ("goodput_loss_usd", "debugging_usd", "setup_usd"):
            within(name, getattr(self, name), 0.0)
        above("contract_months", self.contract_months)

    @property
    def support_usd(self) -> Value:
        """Support of a month: its share of accelerators, storage, network and CPU nodes. [USD]"""
        billed = (self.accelerators_usd, self.storage_usd, self.network_usd, self.cpu_nodes_usd)
        return as_value(np.asarray(self.support_frac) * sum(np.asarray(line) for line in billed))

    def lines_usd(self) -> dict[str, Value]:
        """The eight adders of an average month. [USD]"""
        return {
            "accelerators": self.accelerators_usd,
            "storage": self.storage_usd,
            "network": self.network_usd,
            "cpu_nodes": self.cpu_nodes_usd,
            "support": self.support_usd,
            "goodput_loss": self.goodput_loss_usd,
            "setup": as_value(np.asarray(self.setup_usd) / self.contract_months),
            "debugging": self.debugging_usd,
        }

    @property
    def month_usd(self) -> Value:
        """All eight adders of an average month. [USD]"""
        return as_value(sum(np.asarray(line) for line in self.lines_usd().values()))

    @property
    def contract_usd(self) -> Value:
        """All months together, set-up once. [USD]"""
        return as_value(np.asarray(self.month_usd) * self.contract_months)


def accelerators_usd_per_month(
    accelerators: Value, usd_per_accelerator_hour: Value, hours_per_month: float
) -> Value:
    """Rent of a month at full time; 720 or 730 hours a month is the price list's own convention.

    Examples
    --------
    >>> accelerators_usd_per_month(4096, 2.0, 720)
    5898240.0
    """
    count, rate = (
        within("accelerators", accelerators, 0.0),
        within("usd_per_accelerator_hour", usd_per_accelerator_hour, 0),
    )
    return as_value(count * rate * above("hours_per_month", hours_per_month))


def goodput_loss_usd(
    accelerators_usd: Value,
    goodput_frac: Value,
    *,
    basis: Literal["spend", "replacement"] = "spend",
) -> Value:
    r"""Money lost on hours without progress.

    Parameters
    ----------
    accelerators_usd : float or array
        Rent of the accelerators. [USD]
    goodput_frac : float or array
        Useful over paid time, above 0, at most 1. [-]
    basis : {"spend", "replacement"}
        Part of the rent that bought nothing, :math:`S(1-g)` (ClusterMAX); or the rent of the
        further hours that deliver the missing work, :math:`S(1/g-1)`.

    Examples
    --------
    >>> round(goodput_loss_usd(100.0, 0.8), 6), round(goodput_loss_usd(100.0, 0.8, basis="replacement"), 6)
    (20.0, 25.0)
    """
    good = above("goodput_frac", within("goodput_frac", goodput_frac, high=1.0))
    return as_value(
        within("accelerators_usd", accelerators_usd, 0.0)
        * (1.0 - good)
        / (good if basis == "replacement" else 1.0)
    )


def discounted_usd(list_usd: Value, *discounts_frac: Value) -> Value:
    """A list price after discounts, each on what the one before left: commitment first, then the
    negotiated one.

    Examples
    --------
    >>> round(discounted_usd(100.0, 0.4, 0.1), 6)
    54.0
    """
    left = within("list_usd", list_usd, 0.0)
    for discount in discounts_frac:
        left = left * (1.0 - within("discount", discount, high=1.0))
    return as_value(left)


def tiered_usd(quantity: Value, tier_ends: npt.ArrayLike, usd_per_unit: npt.ArrayLike) -> Value:
    """Price of a quantity where each tier has its own unit price: egress, storage.

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
        msg = f"tier_ends must rise and be one fewer than the prices, got {len(ends)} ends for {len(prices)} prices"
        raise ValueError(msg)
    starts = np.concatenate([[0.0], ends])
    room = np.diff(np.concatenate([starts, [np.inf]]))
    filled = np.clip(within("quantity", quantity, 0.0)[..., None] - starts, 0.0, room)
    return as_value(filled @ prices)


def storage_usd_per_month(stored_tb: Value, usd_per_tb_month: Value) -> Value:
    """Rent of a month of storage at one price; a TB is 1,000 GB.

    Examples
    --------
    >>> storage_usd_per_month(50.0, 23.0)
    1150.0
    """
    return as_value(
        within("stored_tb", stored_tb, 0.0) * within("usd_per_tb_month", usd_per_tb_month, 0.0)
    )
