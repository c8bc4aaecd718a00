"""Break-even of owning against a rent: by month and by utilization."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dcplan.answers.tco.comparison import Comparison, Rent, compared, from_today, resale_usd
from dcplan.answers.tco.conventions import utilization_change
from dcplan.answers.tco.request import TcoRequest
from dcplan.economics.break_even import crossing, npv_break_even_months
from dcplan.units import MONTHS_PER_YEAR


@dataclass(frozen=True)
class OwnedLine:
    """Present cost of owning as a linear function of utilization; only energy depends on it."""

    idle_usd: float
    """Present cost of unused accelerators."""
    slope_usd: float
    """Added present cost at full use."""


def owned_line(both: Comparison, request: TcoRequest) -> OwnedLine:
    """Compute the line from the cost of owning at a second utilization."""
    here = both.work.used_frac
    there = 1.0 if here <= 0.5 else 0.25
    other = compared(request.question(utilization_change(both.question, there)))
    slope = (other.owned.npv_usd - both.owned.npv_usd) / (there - here)
    return OwnedLine(both.owned.npv_usd - slope * here, slope)


def months_of(both: Comparison, rent: Rent) -> float | None:
    """Return the months after which owning costs no more, if the hardware is then sold.

    None if there is no break-even.
    """
    owned = both.owned.after_tax
    monthly = (1.0 + both.rate) ** (1.0 / MONTHS_PER_YEAR) - 1.0
    found = npv_break_even_months(
        from_today(both.owned.cash_usd, owned.outside_usd),
        from_today(rent.side.cash_usd, rent.side.outside_usd),
        monthly,
        residual_usd=resale_usd(both),
        for_good=True,
    )
    if found is not None:
        return float(np.asarray(found))
    if both.owned.npv_usd <= rent.npv_usd:
        return float(owned.months)  # owning is ahead only within the last half month
    return None


def utilization_of(both: Comparison, rent: Rent, line: OwnedLine) -> float | None:
    """Return the utilization above which owning is cheaper, or None.

    A commitment is paid in full, so its cost does not depend on utilization.
    """
    if rent.paid_in_full:
        return None
    return crossing(
        lambda u: both.rented_npv_usd(rent, u) - (line.idle_usd + line.slope_usd * u), 0.0, 1.0
    )
