"""The rented side: the eight adders of each offer and term, by month."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dcplan.catalog.schema import Offer, Parameter
from dcplan.economics.monthly import Side
from dcplan.economics.ranges import Array
from dcplan.economics.rental import goodput_loss_usd
from dcplan.planning.menu.ledger import Ledger
from dcplan.planning.menu.work import CommitTerms, OfferTerms
from dcplan.scenario.schema import Scenario
from dcplan.units import DAYS_PER_MONTH, HOURS_PER_DAY, MONTHS_PER_QUARTER

HOURS_PER_MONTH = DAYS_PER_MONTH * HOURS_PER_DAY
"""730.5: a month of 365.25 / 12 days; price lists that count 720 or 730 are converted by the hour."""
GB_PER_TB, TB_PER_PB = 1_000.0, 1_000.0
STORAGE = {
    "aws": "aws-standard", "azure": "azure-hot", "gcp": "gcp-standard", "oci": "oci-standard",
    "coreweave": "coreweave-hot",
}  # fmt: skip
"""Provider -> storage class that stands in for its shared storage."""
WITH_SUPPORT = ("aws", "azure", "gcp", "oci")
"""Hyperscalers; the neoclouds of the source charge none."""


@dataclass(frozen=True)
class Work:
    """What both sides deliver: so many accelerators, used so much, with storage and egress."""

    accelerators: int
    used_frac: float
    storage_pb: float
    egress_tb_per_month: float


def terms_of(offer: OfferTerms) -> list[str]:
    """Terms of an offer that have a price."""
    return [*(["on-demand"] if offer.on_demand else []), *(c.term for c in offer.committed)]


def rented_side(offer: OfferTerms, term: str, work: Work, months: int, ledger: Ledger) -> tuple[Side, list[str]]:
    """Lines of an offer under a term, and what is to be known about them."""
    notes: list[str] = []
    provider = ledger.catalog.get("cloud", offer.id, Offer).provider
    commit = next((c for c in offer.committed if c.term == term), None)
    hourly = _hourly(offer, commit, months)
    used = work.used_frac if commit is None else 1.0  # a commitment is paid used or not
    rent = work.accelerators * used * HOURS_PER_MONTH * hourly
    lines: dict[str, Array] = {"accelerators": rent}
    lines["storage"] = np.full(months, work.storage_pb * TB_PER_PB * _storage_usd(provider, ledger, notes))
    lines["network and egress"] = np.full(months, _network_usd(provider, work, ledger, notes))
    lines["CPU nodes"] = np.full(
        months, work.accelerators * ledger.parameter("finance", "cloud-cpu-usd-per-accelerator-month")
    )
    share = ledger.parameter("finance", "support-frac-of-cloud") if provider in WITH_SUPPORT else 0.0
    lines["support"] = share * np.asarray(sum(lines.values()))
    loss = ledger.parameter("finance", "goodput-loss-frac-of-cloud")
    lines["goodput loss"] = np.asarray(goodput_loss_usd(rent, 1.0 - loss))
    lines["set-up"] = np.zeros(months)
    lines["set-up"][0] = work.accelerators * ledger.parameter("finance", "cloud-setup-usd-per-accelerator")
    lines["debugging"] = np.full(months, ledger.parameter("finance", "cloud-debugging-usd-per-month"))
    if commit is not None and months % (commit.quarters * MONTHS_PER_QUARTER):
        notes.append("the last commitment ends after the horizon: counted within it alone")
    return Side(lines), notes


def _hourly(offer: OfferTerms, commit: CommitTerms | None, months: int) -> Array:
    """Price of an accelerator-hour by month: as it is then, or as it was when the commitment began."""
    quarter = np.arange(months) // MONTHS_PER_QUARTER
    if commit is None:
        return np.array(offer.usd_per_accelerator_hour)[quarter]
    begun = quarter // commit.quarters * commit.quarters
    return np.array(commit.usd_per_accelerator_hour)[begun]


def _storage_usd(provider: str, ledger: Ledger, notes: list[str]) -> float:
    """Price of a TB and month; one that is not known is the dearest hyperscaler's, and marked."""
    key = STORAGE.get(provider)
    if key is None:
        notes.append(f"no storage price of {provider}: AWS S3 Standard stands in")
    return ledger.parameter("finance", f"cloud-storage-usd-per-tb-month-{key or 'aws-standard'}")


def _network_usd(provider: str, work: Work, ledger: Ledger, notes: list[str]) -> float:
    base = work.accelerators * ledger.parameter("finance", "cloud-network-usd-per-accelerator-month")
    if not work.egress_tb_per_month:
        return base
    key = f"egress-usd-per-gb-{provider}"
    if ledger.catalog.find("finance", key, Parameter) is None:
        notes.append(f"no egress price of {provider}: AWS's stands in")
        key = "egress-usd-per-gb-aws"
    return base + work.egress_tb_per_month * GB_PER_TB * ledger.parameter("finance", key)


def work_of(scenario: Scenario, ledger: Ledger, accelerators: int) -> Work:
    """The scenario's fleet as work that a cloud could do."""
    fleet, storage, cloud = scenario.fleet, scenario.storage, scenario.cloud
    used = ledger.take("fleet.utilization_frac", fleet.utilization_frac) if fleet and fleet.utilization_frac else 1.0
    pb = ledger.take("storage.usable_pb", storage.usable_pb) if storage and storage.usable_pb else 0.0
    egress = cloud.egress_tb_per_month if cloud else None
    return Work(accelerators, used, pb, ledger.take("cloud.egress_tb_per_month", egress) if egress else 0.0)
