"""Costs that accompany rented accelerators: support, storage, network, set-up and debugging."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from dcplan.catalog.schema import Offer, Parameter
from dcplan.inputs.cloud_prices.places import row_of
from dcplan.inputs.log import InputLog
from dcplan.units import GB_PER_TB

STORAGE_OF = "cloud-storage-of-"
EGRESS_OF = "egress-usd-per-gb-"
SUPPORT_OF = "support-of-"
CPU_PRICE = "cloud-cpu-usd-per-accelerator-month"
NETWORK_PRICE = "cloud-network-usd-per-accelerator-month"
SET_UP_PRICE = "cloud-setup-usd-per-accelerator"
DEBUGGING_PRICE = "cloud-debugging-usd-per-month"
STAND_IN = "aws"
"""Provider whose prices replace those missing from another provider's price list."""


class Extra(StrEnum):
    """Cost that accompanies a rent; the value is its name in tables."""

    STORAGE = "storage"
    NETWORK = "network"
    CPU_NODES = "cpu-nodes"
    SUPPORT = "support"
    SET_UP = "set-up"
    DEBUGGING = "debugging"
    EGRESS = "egress"


BY_USE = (Extra.STORAGE, Extra.NETWORK, Extra.CPU_NODES)
"""Costs in proportion to the accelerators in use."""
BY_TIME = (Extra.DEBUGGING, Extra.EGRESS)
"""Costs of every month with rent, whatever its size."""
LEFT_OUT: Mapping[str, tuple[Extra, ...]] = {
    "network-and-egress": (Extra.NETWORK, Extra.EGRESS)
} | {x.value: (x,) for x in Extra if x not in (Extra.NETWORK, Extra.EGRESS)}
"""Name in ``cloud.leave_out`` -> the costs that it leaves out."""


@dataclass(frozen=True)
class RentExtras:
    """Costs that accompany the rent of one offer."""

    support_frac: float = 0.0
    """Support over rent and ``usd_per_month``, of hours by use and of commitments."""
    storage_usd_per_month: float = 0.0
    """Per accelerator in use, as all values in USD per month but the last two."""
    network_usd_per_month: float = 0.0
    cpu_nodes_usd_per_month: float = 0.0
    set_up_usd: float = 0.0
    """Per accelerator, once, for the largest number in use at the same time."""
    debugging_usd_per_month: float = 0.0
    """Of the whole plan while it rents anything."""
    egress_usd_per_month: float = 0.0
    """Of the whole plan while it rents anything, at the prices of this provider."""

    @property
    def usd_per_month(self) -> float:
        """Return the cost of a month per accelerator in use, without support."""
        return sum(self.by_use.values())

    @property
    def by_use(self) -> dict[Extra, float]:
        """Return the costs of a month per accelerator in use, without support."""
        values = (
            self.storage_usd_per_month,
            self.network_usd_per_month,
            self.cpu_nodes_usd_per_month,
        )
        return dict(zip(BY_USE, values, strict=True))

    @property
    def by_time(self) -> dict[Extra, float]:
        """Return the costs of a month with rent, whatever its size."""
        return dict(
            zip(BY_TIME, (self.debugging_usd_per_month, self.egress_usd_per_month), strict=True)
        )

    @property
    def fixed_usd_per_month(self) -> float:
        """Return the cost of a month with rent, whatever its size."""
        return sum(self.by_time.values())

    def usd_per_hour(self, price_usd: float, hours_per_month: float) -> float:
        """Return the cost of an accelerator-hour in use: price, costs by use and support.

        It is (price + month / hours) * (1 + support). [USD]

        Examples
        --------
        >>> round(RentExtras(support_frac=0.1, storage_usd_per_month=73.0).usd_per_hour(2.0, 730.0), 9)
        2.31
        """
        return (price_usd + self.usd_per_month / hours_per_month) * (1.0 + self.support_frac)


@dataclass(frozen=True)
class StoredWork:
    """What rented work stores and sends, and which costs of it do not count."""

    tb_per_accelerator: float = 0.0
    egress_tb_per_month: float = 0.0
    leave_out: Collection[Extra] = ()


def extras_of(offer: str, work: StoredWork, log: InputLog) -> RentExtras:
    """Return the costs that accompany the rent of an offer; those left out are zero."""
    provider = log.catalog.get("cloud", row_of(offer), Offer).provider

    def usd(extra: Extra, key: str, amount: float = 1.0) -> float:
        if extra in work.leave_out or not key or not amount:
            return 0.0
        return amount * log.parameter("finance", key)

    sent_gb = work.egress_tb_per_month * GB_PER_TB
    return RentExtras(
        usd(Extra.SUPPORT, support_parameter(provider, log)),
        usd(Extra.STORAGE, storage_parameter(provider, log), work.tb_per_accelerator),
        usd(Extra.NETWORK, NETWORK_PRICE),
        usd(Extra.CPU_NODES, CPU_PRICE),
        usd(Extra.SET_UP, SET_UP_PRICE),
        usd(Extra.DEBUGGING, DEBUGGING_PRICE),
        usd(Extra.EGRESS, egress_parameter(provider, log), sent_gb),
    )


def storage_parameter(provider: str, log: InputLog) -> str:
    """Return the catalog parameter with the storage price of a provider, or of its stand-in."""
    return STORAGE_OF + (provider if has_storage_price(provider, log) else STAND_IN)


def has_storage_price(provider: str, log: InputLog) -> bool:
    """Return whether the catalog has a storage price for a provider."""
    return _has(STORAGE_OF + provider, log)


def support_parameter(provider: str, log: InputLog) -> str:
    """Return the catalog parameter with the support fee of a provider; empty without one."""
    return SUPPORT_OF + provider if _has(SUPPORT_OF + provider, log) else ""


def egress_parameter(provider: str, log: InputLog) -> str:
    """Return the catalog parameter with the egress price of a provider, or of its stand-in."""
    return EGRESS_OF + (provider if has_egress_price(provider, log) else STAND_IN)


def has_egress_price(provider: str, log: InputLog) -> bool:
    """Return whether the catalog has an egress price for a provider."""
    return _has(EGRESS_OF + provider, log)


def stand_in_notes(offers: Iterable[str], work: StoredWork, log: InputLog) -> list[str]:
    """Return which providers of some offers have no price of storage or egress, a note for each."""
    makers = sorted({log.catalog.get("cloud", row_of(o), Offer).provider for o in offers})
    kinds = (
        (Extra.STORAGE, work.tb_per_accelerator, has_storage_price),
        (Extra.EGRESS, work.egress_tb_per_month, has_egress_price),
    )
    without = {
        extra: [maker for maker in makers if not has_price(maker, log)]
        for extra, amount, has_price in kinds
        if amount and extra not in work.leave_out
    }
    return [
        f"no {extra} price for {', '.join(found)}: the price of AWS is used"
        for extra, found in without.items()
        if found
    ]


def _has(parameter: str, log: InputLog) -> bool:
    return log.catalog.find("finance", parameter, Parameter) is not None
