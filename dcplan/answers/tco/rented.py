"""The rented side: rent and accompanying costs of each offer and term, by month."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dcplan.answers.tco.conventions import Conventions
from dcplan.answers.tco.rented_hours import SPOT, TermRent, rent_of_mix, rent_of_term, scaled
from dcplan.catalog.schema import Offer
from dcplan.economics.monthly.side import GOODPUT_LOSS, Line, Side
from dcplan.economics.ranges import Array
from dcplan.economics.rental import goodput_loss_usd
from dcplan.economics.spot import spot_calendar_h, spot_usd_per_useful_h, spot_useful_frac
from dcplan.inputs.cloud_prices import LENGTHS, OfferTerms, row_of
from dcplan.inputs.cloud_prices.accompanying import (
    CPU_PRICE,
    DEBUGGING_PRICE,
    NETWORK_PRICE,
    SET_UP_PRICE,
    egress_parameter,
    has_egress_price,
    has_storage_price,
    storage_parameter,
    support_parameter,
)
from dcplan.inputs.log import InputLog
from dcplan.scenario.schema import Scenario
from dcplan.scenario.schema.comparison import RentQuote
from dcplan.units import GB_PER_TB, HOURS_PER_MONTH, MONTHS_PER_QUARTER, SECONDS_PER_HOUR, TB_PER_PB

LOST_GOODPUT = "goodput-loss-frac-of-cloud"
ACCELERATORS = Line("accelerators")
SUPPORT = Line("support")
SET_UP = Line("set-up")
CPU_NODES = Line("CPU nodes")
DEBUGGING = Line("debugging")
STORAGE = Line("storage")
NETWORK = Line("network and egress")
SPOT_LOSS = Line("spot interruptions")
NOTHING = Line("nothing rented")
NAMES = {
    ACCELERATORS: "accelerators",
    SPOT_LOSS: "spot-interruptions",
    STORAGE: "storage",
    NETWORK: "network-and-egress",
    CPU_NODES: "cpu-nodes",
    SUPPORT: "support",
    GOODPUT_LOSS: "goodput-loss",
    SET_UP: "set-up",
    DEBUGGING: "debugging",
}
"""Line -> its name in ``comparison.leave_out``."""
FULL_TOLERANCE = 1e-9
"""Tolerance of the sum of a mix's shares."""
LEAST_USEFUL_FRAC = 0.01
"""Smallest useful share of spot hours; below it a comparison has no meaning."""


@dataclass(frozen=True)
class Work:
    """Work of both sides: accelerators, utilization, storage and egress."""

    accelerators: int
    used_frac: float
    storage_pb: float
    egress_tb_per_month: float
    conventions: Conventions


def terms_of(offer: OfferTerms, conventions: Conventions) -> list[str]:
    """Return the terms of an offer that have a price, and the mixes of such terms."""
    terms = [*offer.planned_terms, *offer.apart_usd_per_hour]
    return terms + [
        mix
        for mix, shares in conventions.mixes.items()
        if set(shares) <= set(terms) and (offer.on_demand or paid_in_full(mix, conventions))
    ]


def paid_in_full(term: str, conventions: Conventions) -> bool:
    """Return whether all hours of a term or mix are paid, used or not."""
    shares = conventions.mixes.get(term, {})
    return term in LENGTHS or sum(shares.values()) >= 1.0 - FULL_TOLERANCE


def _rent(offer: OfferTerms, term: str, work: Work, months: int) -> TermRent:
    """Return the rent of the fleet's accelerators on a term or mix."""
    conventions = work.conventions
    shares = conventions.mixes.get(term)
    upfront = {x: _upfront_frac(offer.id, x, conventions) for x in LENGTHS}
    month = conventions.hours_per_month
    each = (
        rent_of_term(offer, term, work.used_frac, months, month, upfront.get(term, 0.0))
        if shares is None
        else rent_of_mix(offer, shares, work.used_frac, months, month, upfront)
    )
    return scaled(each, work.accelerators)


def _upfront_frac(offer: str, term: str, conventions: Conventions) -> float:
    """Return the share of a commitment's payments that is due at its start."""
    paid = conventions.commitment(offer, term)
    if paid is None or paid.upfront_usd is None:
        return 0.0
    monthly = paid.usd_per_month.value if paid.usd_per_month is not None else 0.0
    total = paid.upfront_usd.value + monthly * LENGTHS[term] * MONTHS_PER_QUARTER
    return paid.upfront_usd.value / total


def rented_side(
    offer: OfferTerms, term: str, work: Work, months: int, log: InputLog
) -> tuple[Side, TermRent, list[str]]:
    """Return the cost lines of an offer under a term or mix, its rent alone, and remarks."""
    conventions, notes = work.conventions, list[str]()
    provider = log.catalog.get("cloud", row_of(offer.id), Offer).provider
    quoted = Quoted(conventions.quotes.get(offer.id), log)
    rent = _rent(offer, term, work, months)
    notes += rent.notes
    lines: dict[Line, Array] = {ACCELERATORS: rent.cash}
    if term == SPOT:
        lines[SPOT_LOSS] = rent.cash * interruptions_frac(offer, work, log, notes)
    monthly = {
        STORAGE: ("storage_usd_per_month", lambda: _stored_usd(provider, work, log, notes)),
        NETWORK: ("network_usd_per_month", lambda: _network_usd(provider, work, log, notes)),
        CPU_NODES: ("cpu_nodes_usd_per_month", lambda: _cpu_usd(work, log)),
    }
    for line, (name, usual) in monthly.items():
        if conventions.counts_rented(NAMES[line]):  # no remark on the price of a line left out
            lines[line] = np.full(months, quoted.usd(name, usual))
    lines = {x: usd for x, usd in lines.items() if conventions.counts_rented(NAMES[x])}
    share = quoted.usd("support_frac", lambda: _support_frac(provider, log))
    loss = quoted.usd("goodput_loss_frac", lambda: log.parameter("finance", LOST_GOODPUT))
    more = {
        SUPPORT: share * np.asarray(sum(lines.values(), np.zeros(months))),
        GOODPUT_LOSS: np.asarray(goodput_loss_usd(rent.cash, 1.0 - loss)),
        SET_UP: np.zeros(months),
        DEBUGGING: np.full(
            months,
            quoted.usd(
                "debugging_usd_per_month", lambda: log.parameter("finance", DEBUGGING_PRICE)
            ),
        ),
    }
    more[SET_UP][0] = quoted.usd(
        "set_up_usd", lambda: work.accelerators * log.parameter("finance", SET_UP_PRICE)
    )
    lines |= {x: usd for x, usd in more.items() if conventions.counts_rented(NAMES[x])}
    later = {ACCELERATORS: 1.0, SUPPORT: share} if rent.after else {}
    outside = {
        line: tuple((m, part * usd) for m, usd in rent.after)
        for line, part in later.items()
        if line in lines
    }
    return Side(lines or {NOTHING: np.zeros(months)}, outside=outside), rent, notes


@dataclass(frozen=True)
class Quoted:
    """Values of a quote, recorded as inputs; without a quote, the catalog's."""

    quote: RentQuote | None
    log: InputLog

    def usd(self, name: str, usual: Callable[[], float]) -> float:
        """Return a value of the quote, or the usual one."""
        given = getattr(self.quote, name) if self.quote is not None else None
        if self.quote is None or given is None:
            return usual()
        return self.log.take(f"comparison.rents.{self.quote.id}.{name}", given)


def interruptions_frac(offer: OfferTerms, work: Work, log: InputLog, notes: list[str]) -> float:
    """Return the paid hours above the useful ones, over the useful ones.

    They cover checkpoints, lost work and restarts of one job on all accelerators, with checkpoints
    at Young's interval. A note reports when paid hours and waits exceed the available time.
    """
    each = log.parameter("finance", "spot-interruptions-per-instance-month") / HOURS_PER_MONTH
    if not each:
        return 0.0
    rate = each * math.ceil(work.accelerators / offer.node_accelerators)
    save = log.parameter("reliability", "checkpoint-write-s") / SECONDS_PER_HOUR
    restart = log.parameter("reliability", "detection-h") + log.parameter(
        "reliability", "restart-h"
    )
    useful = float(np.asarray(spot_useful_frac(rate, math.sqrt(2.0 * save / rate), save, restart)))
    if useful < LEAST_USEFUL_FRAC:
        notes.append("spot interruptions leave too little progress for a job of this size")
    useful = max(useful, LEAST_USEFUL_FRAC)
    wait = log.parameter("finance", "spot-wait-h")
    clock = float(np.asarray(spot_calendar_h(work.used_frac, useful, rate, wait)))
    if clock > 1.0:
        notes.append(
            f"with interruptions, the same work needs {clock:.0%} of the available hours: rent "
            "more accelerators"
        )
    return float(np.asarray(spot_usd_per_useful_h(1.0, useful))) - 1.0


def _stored_usd(provider: str, work: Work, log: InputLog, notes: list[str]) -> float:
    """Return the storage of the work by month."""
    return work.storage_pb * TB_PER_PB * _storage_usd(provider, log, notes)


def _cpu_usd(work: Work, log: InputLog) -> float:
    """Return the CPU nodes of the work by month."""
    return work.accelerators * log.parameter("finance", CPU_PRICE)


def _storage_usd(provider: str, log: InputLog, notes: list[str]) -> float:
    """Return the price of a TB and month; if unknown, the price of AWS with a note."""
    if not has_storage_price(provider, log):
        notes.append(f"no storage price for {provider}: the price of AWS S3 Standard is used")
    return log.parameter("finance", storage_parameter(provider, log))


def _support_frac(provider: str, log: InputLog) -> float:
    """Return support cost over the bill; 0 if the provider's price list has none."""
    key = support_parameter(provider, log)
    return log.parameter("finance", key) if key else 0.0


def _network_usd(provider: str, work: Work, log: InputLog, notes: list[str]) -> float:
    base = work.accelerators * log.parameter("finance", NETWORK_PRICE)
    if not work.egress_tb_per_month:
        return base
    key = egress_parameter(provider, log)
    if not has_egress_price(provider, log):
        notes.append(f"no egress price for {provider}: the price of AWS is used")
    return base + work.egress_tb_per_month * GB_PER_TB * log.parameter("finance", key)


def work_of(
    scenario: Scenario, log: InputLog, accelerators: int, owned_pb: float, conventions: Conventions
) -> Work:
    """Describe the fleet of a planned scenario as work for a cloud.

    The storage equals that of the owned side.
    """
    fleet, storage, cloud = scenario.fleet, scenario.storage, scenario.cloud
    used = (
        log.take("fleet.utilization_frac", fleet.utilization_frac)
        if fleet and fleet.utilization_frac
        else 1.0
    )
    pb = (
        log.take("storage.usable_pb", storage.usable_pb)
        if storage and storage.usable_pb
        else owned_pb
    )
    egress = cloud.egress_tb_per_month if cloud else None
    each_month = log.take("cloud.egress_tb_per_month", egress) if egress else 0.0
    return Work(accelerators, used, pb, each_month, conventions)
