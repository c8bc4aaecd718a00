"""Paid hours of a rent and their price, by month."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dcplan.economics.ranges import Array
from dcplan.inputs.cloud_prices import LENGTHS, ON_DEMAND, CommitTerms, OfferTerms
from dcplan.units import DAYS_PER_MONTH, MONTHS_PER_QUARTER

SPOT, BLOCK = "spot", "capacity-block"


@dataclass(frozen=True)
class Hours:
    """Payment per accelerator and month: a share of all hours at a price."""

    usd_per_h: Array
    paid_frac: Array
    after: tuple[float, ...] = ()
    """Price of the months of a commitment after the horizon, all paid [USD/h]."""
    note: str = ""
    terms: tuple[str, ...] = ()
    """Term whose price applies, by month, with the months after the horizon."""
    quarters: tuple[int, ...] = ()
    """Quarter whose price applies, by month, with the months after the horizon."""

    @property
    def worth(self) -> float:
        """Undiscounted total price, to compare options."""
        return float(self.usd_per_h @ self.paid_frac) + sum(self.after)


def hours_of(offer: OfferTerms, term: str, used_frac: float, months: int) -> Hours:
    """Return the paid hours of a horizon on a term.

    Commitments are paid in full, capacity blocks by complete days. If the last commitment would
    extend beyond the horizon, the remaining months use the cheapest option: a shorter commitment
    that ends in time, on-demand rent, or the full commitment.
    """
    return min(schedules(offer, term, used_frac, months), key=lambda way: way.worth)


def schedules(offer: OfferTerms, term: str, used_frac: float, months: int) -> list[Hours]:
    """Return every way to pay a horizon on a term; more than one where a commitment is cut off."""
    commit = next((c for c in offer.committed if c.term == term), None)
    if commit is None:
        paid = used_frac
        if term == BLOCK:
            paid = min(math.ceil(used_frac * DAYS_PER_MONTH - 1e-9) / DAYS_PER_MONTH, 1.0)
        prices = np.array(offer.apart_usd_per_hour.get(term, offer.usd_per_accelerator_hour))
        quarters = np.arange(months) // MONTHS_PER_QUARTER
        return [_priced(term, prices, quarters, np.full(months, paid))]
    length = commit.quarters * MONTHS_PER_QUARTER
    rest = months % length
    whole = months - rest
    begun = np.arange(whole) // length * commit.quarters
    prices = np.array(commit.usd_per_accelerator_hour)
    if not rest:
        return [_priced(term, prices, begun, np.ones(whole))]
    return [
        Hours(
            np.concatenate([prices[begun], last.usd_per_h]),
            np.concatenate([np.ones(whole), last.paid_frac]),
            last.after,
            last.note,
            (term,) * whole + last.terms,
            (*(int(q) for q in begun), *last.quarters),
        )
        for last in _rests(offer, commit, used_frac, whole, rest)
    ]


def _priced(
    term: str, prices: Array, quarters: npt.NDArray[np.int_], paid: Array, note: str = ""
) -> Hours:
    """Return the hours of months that pay the price of a term in the given quarters."""
    return Hours(
        prices[quarters],
        paid,
        note=note,
        terms=(term,) * len(quarters),
        quarters=tuple(int(q) for q in quarters),
    )


def _rests(
    offer: OfferTerms, commit: CommitTerms, used_frac: float, first: int, rest: int
) -> Iterator[Hours]:
    """Yield the options for the months from ``first`` on that no complete commitment fills."""
    quarters = (first + np.arange(rest)) // MONTHS_PER_QUARTER
    price = commit.usd_per_accelerator_hour[first // MONTHS_PER_QUARTER]
    over = commit.quarters * MONTHS_PER_QUARTER - rest
    note = f"the last commitment extends {over} months beyond the horizon and is paid in full"
    yield Hours(
        np.full(rest, price),
        np.ones(rest),
        (price,) * over,
        note,
        (commit.term,) * (rest + over),
        (first // MONTHS_PER_QUARTER,) * (rest + over),
    )
    for other in offer.committed:
        length = other.quarters * MONTHS_PER_QUARTER
        if length <= rest and rest % length == 0:
            begun = first // MONTHS_PER_QUARTER + np.arange(rest) // length * other.quarters
            note = f"the last {rest} months are on {other.term}"
            prices = np.array(other.usd_per_accelerator_hour)
            yield _priced(other.term, prices, begun, np.ones(rest), note)
    if offer.on_demand:
        prices = np.array(offer.usd_per_accelerator_hour)
        note = f"the last {rest} months are on demand"
        yield _priced(offer.term, prices, quarters, np.full(rest, used_frac), note)


@dataclass(frozen=True)
class TermRent:
    """Rent of accelerators on a term or a mix of terms, by month [USD]."""

    cash: Array
    after: tuple[tuple[int, float], ...] = ()
    """Payments after the horizon, as month and USD."""
    committed_usd: float = 0.0
    """Sum of the payments of commitments, used or not."""
    notes: tuple[str, ...] = ()

    def __add__(self, other: TermRent) -> TermRent:
        after = dict(self.after)
        for month, usd in other.after:
            after[month] = after.get(month, 0.0) + usd
        return TermRent(
            self.cash + other.cash,
            tuple(sorted(after.items())),
            self.committed_usd + other.committed_usd,
            tuple(dict.fromkeys((*self.notes, *other.notes))),
        )


def rent_of_term(
    offer: OfferTerms,
    term: str,
    used_frac: float,
    months: int,
    hours_per_month: float,
    upfront_frac: float = 0.0,
) -> TermRent:
    """Return the rent of one accelerator on a term.

    ``upfront_frac`` is the share of a commitment's payments that is due at its start.
    """
    hours = hours_of(offer, term, used_frac, months)
    cash = hours_per_month * hours.paid_frac * hours.usd_per_h
    after = [hours_per_month * usd for usd in hours.after]
    if term not in LENGTHS:
        return TermRent(cash, notes=(hours.note,) if hours.note else ())
    length = LENGTHS[term] * MONTHS_PER_QUARTER
    complete = len(cash) if after else len(cash) // length * length
    paid = np.append(cash[:complete], after)
    due = (1.0 - upfront_frac) * paid
    for first in range(0, len(paid), length):
        due[first] += upfront_frac * paid[first : first + length].sum()
    cash = np.append(due[:complete], cash[complete:])
    later = tuple((months + i, float(usd)) for i, usd in enumerate(due[complete:]))
    return TermRent(cash, later, float(paid.sum()), (hours.note,) if hours.note else ())


def rent_of_mix(
    offer: OfferTerms,
    shares: Mapping[str, float],
    used_frac: float,
    months: int,
    hours_per_month: float,
    upfront_frac: Mapping[str, float],
) -> TermRent:
    """Return the rent of one accelerator on a mix: commitments for shares, the rest on demand."""
    rest = max(1.0 - sum(shares.values()), 0.0)
    total = TermRent(np.zeros(months))
    for term, share in {**shares, ON_DEMAND: rest}.items():
        if share:
            part = rent_of_term(
                offer, term, used_frac, months, hours_per_month, upfront_frac.get(term, 0.0)
            )
            total += scaled(part, share)
    return total


def scaled(rent: TermRent, count: float) -> TermRent:
    """Return the rent of a number of accelerators, from that of one."""
    after = tuple((month, count * usd) for month, usd in rent.after)
    return TermRent(count * rent.cash, after, count * rent.committed_usd, rent.notes)
