"""From when on, and from what use on, owning costs no more than a rent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from dcplan.answers.tco.owned import Comparison, Rent, compared, resale_usd
from dcplan.answers.tco.request import TcoRequest
from dcplan.economics.break_even import crossing, npv_break_even_months
from dcplan.economics.ranges import Array
from dcplan.inputs.cloud_prices import LENGTHS
from dcplan.units import MONTHS_PER_YEAR


@dataclass(frozen=True)
class OwnedLine:
    """Owned present cost as a line over utilization: energy alone depends on it, in proportion."""

    idle_usd: float
    """Present cost of accelerators that nobody uses."""
    slope_usd: float
    """What full use adds."""


def owned_line(both: Comparison, request: TcoRequest) -> OwnedLine:
    """Price the owned side at a second utilization."""
    here = both.work.used_frac
    there = 1.0 if here <= 0.5 else 0.25
    other = compared(request.question(f"fleet.utilization_frac={there!r}"))
    slope = (other.owned.npv_usd - both.owned.npv_usd) / (there - here)
    return OwnedLine(both.owned.npv_usd - slope * here, slope)


def months_of(both: Comparison, rent: Rent) -> float | None:
    """Return the months after which owning has cost no more, the hardware sold then.

    None where it never does.
    """
    owned = both.owned.after_tax
    monthly = (1.0 + both.rate) ** (1.0 / MONTHS_PER_YEAR) - 1.0
    found = npv_break_even_months(
        _from_today(both.owned.cash_usd, owned.outside_usd),
        _from_today(rent.side.cash_usd, rent.side.outside_usd),
        monthly,
        residual_usd=resale_usd(both),
        for_good=True,
    )
    if found is not None:
        return float(np.asarray(found))
    if both.owned.npv_usd <= rent.npv_usd:
        return float(owned.months)  # ahead by the half month that month ends are late
    return None


def utilization_of(both: Comparison, rent: Rent, line: OwnedLine) -> float | None:
    """Return the share of used hours above which owning is cheaper; None where there is none.

    A commitment is paid used or not: how much it is used changes nothing.
    """
    if rent.term in LENGTHS:
        return None
    return crossing(
        lambda u: both.rented_npv_usd(rent, u) - (line.idle_usd + line.slope_usd * u), 0.0, 1.0
    )


def _from_today(cash: Array, outside: Mapping[int, float]) -> Array:
    """Return payments from today on, one a month.

    Deposits before the first month fall on today, what is due later in the last month.
    """
    found = np.concatenate([[0.0], cash])
    for month, usd in outside.items():
        found[0 if month < 0 else -1] += usd
    return found
