"""Data of the rents of the workbook: inputs of their costs, parts of mixes, and hours by month."""

from __future__ import annotations

from collections.abc import Iterator

from dcplan.answers.tco import rented
from dcplan.answers.tco.comparison import Comparison, Rent
from dcplan.answers.tco.rented import NAMES
from dcplan.answers.tco.rented_hours import BLOCK, SPOT, Hours, schedules
from dcplan.catalog.schema import Offer, Parameter
from dcplan.economics.monthly.side import Line
from dcplan.inputs.cloud_prices import LENGTHS, ON_DEMAND, OfferTerms, accompanying, row_of
from dcplan.inputs.log import InputLog
from dcplan.scenario.schema.comparison import RentQuote
from dcplan.specs.plan import tco_book as specs
from dcplan.units import MONTHS_PER_QUARTER


def rent_row(rent: Rent, both: Comparison) -> specs.RentRow:
    """Return the inputs of what accompanies a rent: those of its quote, or the usual prices."""
    log, offer, conventions = both.log, rent.offer, both.conventions
    provider = log.catalog.get("cloud", row_of(offer.id), Offer).provider
    quote = conventions.quotes.get(offer.id)

    def counts(line: Line) -> bool:
        return conventions.counts_rented(NAMES[line])

    def quoted(name: str) -> str | None:
        given = getattr(quote, name) if quote is not None else None
        return None if quote is None or given is None else f"comparison.rents.{quote.id}.{name}"

    def usual(parameter: str) -> str | None:
        return same_row(log, parameter) if parameter else None

    storage, network = quoted("storage_usd_per_month"), quoted("network_usd_per_month")
    egress = counts(rented.NETWORK) and both.work.egress_tb_per_month and network is None
    return specs.RentRow(
        rent=rent.name,
        offer=offer.id,
        term=rent.term,
        node_accelerators=offer.node_accelerators,
        storage_input=(storage or usual(accompanying.storage_parameter(provider, log)))
        if counts(rented.STORAGE)
        else None,
        support_input=(
            quoted("support_frac") or usual(accompanying.support_parameter(provider, log))
        )
        if counts(rented.SUPPORT)
        else None,
        egress_input=usual(accompanying.egress_parameter(provider, log)) if egress else None,
        interruptions_frac=rented.interruptions_frac(offer, both.work, log, [])
        if rent.term == SPOT
        else None,
        network_input=network,
        cpu_nodes_input=quoted("cpu_nodes_usd_per_month"),
        goodput_loss_input=quoted("goodput_loss_frac"),
        set_up_input=quoted("set_up_usd"),
        debugging_input=quoted("debugging_usd_per_month"),
        storage_quoted=storage is not None,
    )


def rent_inputs(row: specs.RentRow) -> set[str]:
    """Return the keys of the inputs of what accompanies a rent."""
    keys = (
        row.storage_input,
        row.support_input,
        row.egress_input,
        row.network_input,
        row.cpu_nodes_input,
        row.goodput_loss_input,
        row.set_up_input,
        row.debugging_input,
    )
    return {key for key in keys if key}


def same_row(log: InputLog, name: str) -> str:
    """Return the first input that the catalog row of a parameter gives.

    Providers may share a row under several aliases; an edit changes it for all of them.
    """
    row = log.catalog.get("finance", name, Parameter).id
    names = sorted({name, row, *log.catalog.get("finance", name, Parameter).aliases})
    return next(f"finance.{x}" for x in names if f"finance.{x}" in log.rows)


def part_rows(rent: Rent, both: Comparison) -> Iterator[specs.PartRow]:
    """Yield the terms of a rent with their shares of the fleet; the rest of a mix is on demand."""
    shares, quote = (
        both.conventions.mixes.get(rent.term),
        both.conventions.quotes.get(rent.offer.id),
    )
    if shares is None:
        yield specs.PartRow(rent.name, rent.term, 1.0, None, *_commitment(rent.term, quote))
        return
    for term, share in shares.items():
        key = f"comparison.mixes.{rent.term}.shares.{term}"
        yield specs.PartRow(rent.name, term, share, key, *_commitment(term, quote))
    if rent.offer.on_demand:
        rest = max(1.0 - sum(shares.values()), 0.0)
        yield specs.PartRow(rent.name, ON_DEMAND, rest, None, 0, None, None)


def _commitment(term: str, quote: RentQuote | None) -> tuple[int, str | None, str | None]:
    """Return the months of a commitment, and the keys of its payments if they are quoted."""
    months = LENGTHS.get(term, 0) * MONTHS_PER_QUARTER
    for i, paid in enumerate(quote.commitments if quote is not None else ()):
        if quote is not None and paid.term == term:
            key = f"comparison.rents.{quote.id}.commitments[{i}]"
            upfront = f"{key}.upfront_usd" if paid.upfront_usd is not None else None
            monthly = f"{key}.usd_per_month" if paid.usd_per_month is not None else None
            return months, upfront, monthly
    return months, None, None


def hours_rows(rent: Rent, both: Comparison) -> Iterator[specs.HoursRow]:
    """Yield the months of a rent in each way to pay it, those with the same price in one row."""
    months = both.owned.after_tax.months
    for part in part_rows(rent, both):
        ways = schedules(rent.offer, part.part, both.work.used_frac, months)
        for number, hours in enumerate(ways, start=1):
            yield from _way(rent.name, rent.offer, part.part, number, hours)


def _way(
    rent: str, offer: OfferTerms, part: str, way: int, hours: Hours
) -> Iterator[specs.HoursRow]:
    known = list(zip(hours.terms, hours.quarters, strict=True))
    first = 0
    for month in range(1, len(known) + 1):
        if month < len(known) and known[month] == known[first]:
            continue
        term, quarter = known[first]
        yield specs.HoursRow(
            rent=rent,
            part=part,
            way=way,
            first_month=first,
            last_month=month - 1,
            price_input=f"cloud.{row_of(offer.id)}.{term.replace('-', '_')}_usd_per_h",
            price_quarter=quarter,
            paid=_paid(term),
            own_term=term == part,
        )
        first = month


def _paid(term: str) -> specs.Paid:
    if term in LENGTHS:
        return specs.Paid.ALL
    return specs.Paid.DAYS if term == BLOCK else specs.Paid.USED
