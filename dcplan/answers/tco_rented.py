"""The rented side: the eight adders of each offer and term, by month."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dcplan.catalog.schema import Offer, Parameter
from dcplan.economics.cashflow import Flow
from dcplan.economics.monthly import Side
from dcplan.economics.ranges import Array
from dcplan.economics.rental import goodput_loss_usd
from dcplan.planning.audit.cloud import use_by_month
from dcplan.planning.menu.ledger import Ledger
from dcplan.planning.menu.types import Menu
from dcplan.planning.menu.work import CommitTerms, OfferTerms
from dcplan.planning.plan import Decisions
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
    """Price of a TB and month; one that is not known is stood in for by AWS's, and marked."""
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


def with_adders(offer: OfferTerms, menu: Menu, ledger: Ledger) -> OfferTerms:
    """An offer whose hourly prices hold what comes with an hour: storage, network, CPU nodes, support, lost goodput."""
    provider = ledger.catalog.get("cloud", offer.id, Offer).provider
    share = ledger.parameter("finance", "support-frac-of-cloud") if provider in WITH_SUPPORT else 0.0
    loss = ledger.parameter("finance", "goodput-loss-frac-of-cloud")
    month = (menu.storage.usable_tb if menu.storage else 0.0) * _storage_usd(provider, ledger, [])
    month += ledger.parameter("finance", "cloud-network-usd-per-accelerator-month")
    month += ledger.parameter("finance", "cloud-cpu-usd-per-accelerator-month")
    more = month / HOURS_PER_MONTH * (1.0 + share)

    def loaded(prices: tuple[float, ...], extra: float) -> tuple[float, ...]:
        return tuple(p * (1.0 + share + loss) + extra for p in prices)

    terms = tuple(
        replace(c, usd_per_accelerator_hour=loaded(c.usd_per_accelerator_hour, more)) for c in offer.committed
    )
    hourly = loaded(offer.usd_per_accelerator_hour, more if offer.on_demand else 0.0)
    return replace(offer, usd_per_accelerator_hour=hourly, committed=terms)


def rent_lines(menu: Menu, d: Decisions, flows: Sequence[Flow], ledger: Ledger) -> dict[str, Array]:
    """What a plan rents, by month, with the adders that come with it; commitments after the horizon in its last month.

    Storage follows the accelerators as it does in a hall; set-up counts for the most that are rented at once.
    """
    months = menu.quarters * MONTHS_PER_QUARTER
    rent, after = np.zeros(months), 0.0
    for flow in flows:
        if flow.group == "cloud":
            first = flow.quarter * MONTHS_PER_QUARTER
            rent[first : first + MONTHS_PER_QUARTER] += flow.usd / MONTHS_PER_QUARTER
        after += flow.usd if flow.group == "after" else 0.0
    if not rent.any() and not after:
        return {}
    use = {o.id: _use(menu, d, o, months) for o in menu.offers}
    held = np.asarray(sum(use.values()))
    provider = {o.id: ledger.catalog.get("cloud", o.id, Offer).provider for o in menu.offers}
    each_tb = menu.storage.usable_tb if menu.storage else 0.0
    stored = sum(u * each_tb * _storage_usd(provider[o], ledger, []) for o, u in use.items())
    rate = ledger.parameter("finance", "cloud-network-usd-per-accelerator-month")
    cpu = ledger.parameter("finance", "cloud-cpu-usd-per-accelerator-month")
    hyper = sum(u for o, u in use.items() if provider[o] in WITH_SUPPORT) / np.maximum(held, 1e-9)
    lines = {"rented accelerators": rent, "rented storage": np.asarray(stored), "network": rate * held,
             "CPU nodes": cpu * held}  # fmt: skip
    share = ledger.parameter("finance", "support-frac-of-cloud") * hyper
    lines["support"] = np.asarray(share * sum(lines.values()))
    loss = ledger.parameter("finance", "goodput-loss-frac-of-cloud")
    lines["goodput loss of rent"] = np.asarray(goodput_loss_usd(rent, 1.0 - loss))
    lines["set-up"] = np.zeros(months)
    if held.any():
        lines["set-up"][int(np.flatnonzero(held)[0])] = held.max() * ledger.parameter(
            "finance", "cloud-setup-usd-per-accelerator"
        )
    lines["debugging"] = (held > 0) * ledger.parameter("finance", "cloud-debugging-usd-per-month")
    if after:
        lines["commitments after the horizon"] = np.append(np.zeros(months - 1), after)
    return {"rented " + k if k == "network" else k: v for k, v in lines.items()}


def _use(menu: Menu, d: Decisions, offer: OfferTerms, months: int) -> Array:
    found = use_by_month(menu, d, offer)
    return np.array([found.get(m, 0.0) for m in range(months)])
