"""Book value of hardware that was in service before the plan, until it is sold or worn out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from dcplan.economics.discounting import straight_line_frac
from dcplan.economics.ranges import Array


@dataclass(frozen=True)
class Earlier:
    """Equal pieces of hardware in service before the plan, and when some of them are sold."""

    paid_usd: float
    """Price that was paid for a piece. [USD]"""
    age_months: int
    """Months in service before the horizon."""
    life_months: int
    """Service life, above 0. [months]"""
    pieces: float
    sold: tuple[tuple[int, float], ...] = ()
    """Months of the horizon, and pieces sold in them."""


@dataclass(frozen=True)
class EarlierBook:
    """Book value of earlier hardware by month of the horizon. [USD]."""

    opening_usd: float
    """At the start of the horizon."""
    charge: Array
    """Straight-line depreciation of what is kept."""
    sold: Array
    """Book value of what is sold."""
    value: Array
    """At the end of each month."""


def earlier_book(hardware: Iterable[Earlier], months: int) -> EarlierBook:
    r"""Write off earlier hardware evenly over its life, and take out what is sold.

    A piece has the value :math:`p \max(0, 1 - (a + t) / L)` after t months. What is sold in a month
    leaves at its value at the start of it.

    Parameters
    ----------
    hardware : iterable of Earlier
        Hardware in service at the start.
    months : int
        Months of the horizon.

    Examples
    --------
    Two pieces of 24 USD, 12 of 24 months old: 12 each; one is sold in the second month, at 11:

    >>> found = earlier_book([Earlier(24.0, 12, 24, 2.0, ((1, 1.0),))], 3)
    >>> found.opening_usd, found.charge.tolist(), found.sold.tolist(), found.value.tolist()
    (24.0, [2.0, 1.0, 1.0], [0.0, 11.0, 0.0], [22.0, 10.0, 9.0])
    """
    opening, charge, sold = 0.0, np.zeros(months), np.zeros(months)
    value = np.zeros(months)
    for x in hardware:
        ages = range(x.age_months, x.age_months + months + 1)
        each = x.paid_usd * np.array([straight_line_frac(age, x.life_months) for age in ages])
        gone = np.zeros(months)
        for month, pieces in x.sold:
            gone[month] += pieces
        held = x.pieces - np.cumsum(gone)
        opening += x.pieces * float(each[0])
        charge += held * (each[:-1] - each[1:])
        sold += gone * each[:-1]
        value += held * each[1:]
    return EarlierBook(opening, charge, sold, value)
