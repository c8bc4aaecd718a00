"""Where a larger cluster than a duration needs may be the better choice, and its counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from dcplan.economics.discounting import discount_factor
from dcplan.planning.problem.terms import FinanceTerms, HallTerms, Placement
from dcplan.planning.problem.work.targets import Target
from dcplan.units import QUARTERS_PER_YEAR

SEARCH_STEP, SEARCH_COARSE_STEP = 1.05, 1.2
"""Ratio of two counts between those of the durations to try, with few and with many places."""
SEARCH_FEW = 30
"""Jobs times places up to which the fine step is used; beyond, an objective that counts the days
has the coarse step, and others none, because a hundred thousand options cost more than they save."""


@dataclass(frozen=True)
class Larger:
    """Quarters of a place in which sizes between those of whole months may pay.

    A run needs its accelerators for whole months, so that the smallest cluster of a number of months
    is the cheapest of them, with two exceptions: an objective that counts the days, and a hall that
    keeps more book value where work fills it.
    """

    every: bool
    """Whether days count in all places and quarters."""
    halls: Mapping[str, HallTerms]
    placed: tuple[Placement, ...]
    finance: FinanceTerms
    quarters: int
    tried: int
    """Jobs times places."""

    @property
    def few(self) -> bool:
        """Return whether there are few jobs and places, so that more sizes cost little time."""
        return self.tried <= SEARCH_FEW

    @property
    def step(self) -> float:
        """Return the ratio of two counts; infinite if none are added."""
        if self.few:
            return SEARCH_STEP
        return SEARCH_COARSE_STEP if self.every else float("inf")

    def pays(self, target: Target) -> frozenset[int]:
        r"""Return the quarters of a first use in which a larger cluster may pay.

        .. math:: \beta\,B / W > P\,(1 - \beta\,\rho_q) / w

        with B the book value of a fitted hall that only work keeps, W its rated power when full, P
        the price of a rack ordered in the quarter, w its rated power, :math:`\rho` the share of the
        price that is left at the end of the horizon, and :math:`\beta` the discount from the quarter
        to that end. Under a lease, the present value of its payments takes the place of
        :math:`1 - \beta\,\rho_q` where it is less. Energy, network and power would only add to the
        right side, so that no quarter in which a larger cluster is cheaper is left out.
        """
        quarters = range(self.quarters)
        if self.every:
            return frozenset(quarters)
        if not self.few:
            return frozenset()
        hall = self.halls.get(target.place)
        if hall is None or self.finance.empty_hall_frac >= 1.0:
            return frozenset()
        racks = [p for p in self.placed if (p.hall, p.system) == (target.place, target.system)]
        return frozenset(t for t in quarters if any(self._fills(hall, p, t) for p in racks))

    def _fills(self, hall: HallTerms, rack: Placement, t: int) -> bool:
        """Return whether a rack costs less than the value of the hall that it keeps."""
        finance = self.finance
        years = (self.quarters - t - 0.5) / QUARTERS_PER_YEAR
        later = discount_factor(finance.discount_rate, years)
        book_usd = max(
            c.building_usd * finance.building_residual_frac[t]
            + c.fit_out_usd * finance.cooling_residual_frac[t]
            for c in hall.coolings
            if c.id == rack.cooling
        )
        kept_usd_per_kw = later * (1.0 - finance.empty_hall_frac) * book_usd / hall.full_kw
        leased = [x for x in finance.leases if x.covers(rack.system)]
        lost_frac = min(
            1.0 - later * finance.hardware_residual_frac[t],
            *(x.least_frac(finance.discount_rate, rack.lead) for x in leased),
            1.0,
        )
        return kept_usd_per_kw > rack.order_usd(t) * lost_frac / rack.rated_kw


def between(counts: Iterable[float], chosen: Iterable[float], step: float) -> list[int]:
    """Return the places of counts from the smallest chosen one on, a ratio apart.

    Parameters
    ----------
    counts : iterable of float
        Counts that a run may have, ascending. [accelerators]
    chosen : iterable of float
        Counts of the durations to try; steps start again at each of them. [accelerators]
    step : float
        Least ratio of two counts, above 1. [-]

    Examples
    --------
    From 100 on, 101 and 104 are too near; 120 is chosen, and 121 is too near to it.

    >>> between([90, 100, 101, 104, 106, 112, 120, 121, 126], [100, 120], 1.05)
    [4, 5, 8]
    """
    found, marks = list[int](), set(chosen)
    last = min(marks, default=float("inf"))
    for i, count in enumerate(counts):
        if count in marks:
            last = count
        elif count >= last * step:
            found.append(i)
            last = count
    return found
