"""Every choice of integer decisions of one hall of a tiny menu, with its payments.

Networks have integer switch counts. A hall is fitted in the first quarter in which it holds racks,
because a later payment costs less.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from dcplan.planning.exact_network import Network, exact_network
from dcplan.planning.problem.terms import ExistingTerms, HallTerms, PlanningProblem
from tests.planning.brute import fits

Counts = dict[tuple[str, int], int]
"""Racks by system or entry, and quarter."""


@dataclass(frozen=True)
class HallChoice:
    """Integer decisions of one hall, with what follows from them."""

    hall: HallTerms
    ordered: Counts
    disposed: Counts
    fabric: str | None
    racks: tuple[dict[str, int], ...]
    """Racks in service by quarter and system."""
    net_kw: tuple[float, ...]
    fitted: int | None
    """First quarter with a fitted hall."""
    cash: tuple[float, ...]
    """Payments by quarter that a budget counts, in USD."""
    other_usd: float
    """Present value of everything else: sales and residual values."""


def middle(problem: PlanningProblem, t: float) -> float:
    """Discount factor of the middle of a quarter."""
    return float((1.0 + problem.finance.discount_rate) ** (-(t + 0.5) / 4))


def end(problem: PlanningProblem) -> float:
    """Discount factor of the end of the horizon."""
    return float((1.0 + problem.finance.discount_rate) ** (-problem.quarters / 4))


def hall_choices(problem: PlanningProblem, hall: HallTerms) -> Iterator[HallChoice]:
    """Every choice of orders, disposals and fabric that the hall can hold."""
    book = _HallBook(problem, hall)
    place = book.place
    keys = [
        (k, q)
        for k, p in place.items()
        for q in range(p.first_order, problem.quarters - p.lead)
        if k in problem.orderable
    ]
    fabrics = [o.id for o in problem.fabrics if o.hall == hall.id]
    for counts in itertools.product(*(range(place[k].max_racks_unit + 1) for k, _ in keys)):
        ordered = {key: n for key, n in zip(keys, counts, strict=True) if n}
        for gone in itertools.product(*(_exits(x) for x in book.there)):
            disposed = {
                (x.id, q): n for x, way in zip(book.there, gone, strict=True) for q, n in way
            }
            bare = not ordered and not any(x.in_service or kept(x, disposed, 0) for x in book.there)
            for fabric in [None] if bare else fabrics:
                made = book.choice(ordered, disposed, fabric)
                if made is not None:
                    yield made


def _exits(x: ExistingTerms) -> list[tuple[tuple[int, int], ...]]:
    """Every way in which the racks of an asset or order leave: quarters with numbers of racks."""
    window = list(x.disposal_window)
    found = itertools.product(range(x.racks + 1), repeat=len(window))
    return [
        tuple((q, n) for q, n in zip(window, way, strict=True) if n)
        for way in found
        if sum(way) <= x.racks
    ]


def kept(x: ExistingTerms, disposed: Mapping[tuple[str, int], int], t: int) -> int:
    """Racks of an asset or order that are not sold or cancelled by a quarter."""
    return x.racks - sum(n for (i, q), n in disposed.items() if i == x.id and q <= t)


class _HallBook:
    """One hall with the networks that were already sized."""

    def __init__(self, problem: PlanningProblem, hall: HallTerms) -> None:
        self.problem, self.hall = problem, hall
        self.place = {p.system: p for p in problem.placements if p.hall == hall.id}
        self.there = [x for x in problem.existing if x.key[0] == hall.id]
        self._sized: dict[tuple[str, tuple[int, ...]], Network | None] = {}

    def _network(self, fabric: str, racks: Mapping[str, int]) -> Network | None:
        """The network of racks; None beyond its reach."""
        key = (fabric, tuple(racks.values()))
        if key not in self._sized:
            whole = {self.place[k].key: n for k, n in racks.items()}
            try:
                self._sized[key] = exact_network(self.problem, self.hall.id, fabric, whole)
            except ValueError:
                self._sized[key] = None
        return self._sized[key]

    def _serving(self, ordered: Counts, disposed: Counts, t: int) -> dict[str, int]:
        own = {
            k: sum(n for (s, q), n in ordered.items() if s == k and q + p.lead <= t)
            for k, p in self.place.items()
        }
        for x in (x for x in self.there if x.serves(t)):
            own[x.key[2]] += kept(x, disposed, t)
        return own

    def _connected(
        self, ordered: Counts, disposed: Counts, t: int, *, with_new: bool
    ) -> dict[str, int]:
        """Racks whose network is paid; that of assets is paid before the plan until their end."""
        last = t if with_new else t - 1
        own = {
            k: sum(n for (s, q), n in ordered.items() if s == k and q <= last) for k in self.place
        }
        for x in (x for x in self.there if t < x.last):
            if x.in_service:
                own[x.key[2]] += x.racks
            elif t > 0 or with_new:
                own[x.key[2]] += kept(x, disposed, t)
        return own

    def choice(self, ordered: Counts, disposed: Counts, fabric: str | None) -> HallChoice | None:
        """The choice with its payments; None where the hall does not hold it."""
        quarters, hall = range(self.problem.quarters), self.hall
        racks = tuple(self._serving(ordered, disposed, t) for t in quarters)
        busy = [t for t in quarters if any(racks[t].values())]
        fitted = 0 if hall.existing_units else min(busy, default=None)
        if fitted is not None and fitted < hall.available_from:
            return None
        net_kw, cash, other = [], [], 0.0
        for t in quarters:
            kw, net_usd = 0.0, 0.0
            if fabric is not None:
                serving = self._network(fabric, racks[t])
                after, before = (
                    self._network(fabric, self._connected(ordered, disposed, t, with_new=new))
                    for new in (True, False)
                )
                if serving is None or after is None or before is None:
                    return None
                open_ = fitted is not None and t >= fitted
                if not fits(hall, self.place, racks[t], serving.kw, serving.racks, open_=open_):
                    return None
                kw, net_usd = serving.kw, after.usd - before.usd
            paid, worth = self._paid(ordered, disposed, t, net_usd, new=t == fitted)
            net_kw.append(kw)
            cash.append(paid + self._upkeep(racks[t]))
            other -= worth
        worth_end = sum(x.end_usd * kept(x, disposed, len(quarters)) for x in self.there)
        other -= end(self.problem) * worth_end
        return HallChoice(
            hall, ordered, disposed, fabric, racks, tuple(net_kw), fitted, tuple(cash), other
        )

    def _paid(
        self, ordered: Counts, disposed: Counts, t: int, net_usd: float, *, new: bool
    ) -> tuple[float, float]:
        """Payments of a quarter in USD, and the present value of what stays of them or is sold."""
        fin, last = self.problem.finance, end(self.problem)
        usd = net_usd + sum(n * self.place[k].price_usd for (k, q), n in ordered.items() if q == t)
        worth = last * fin.hardware_residual_frac[t] * usd
        if new and not self.hall.existing_units:
            cool = self.hall.coolings[0]
            usd += cool.fit_out_usd + cool.building_usd
            worth += last * fin.cooling_residual_frac[t] * cool.fit_out_usd
            worth += last * fin.building_residual_frac[t] * cool.building_usd
        for x in self.there:
            gone = disposed.get((x.id, t), 0)
            usd += x.due_usd * kept(x, disposed, t) if t == x.first else 0.0
            if x.cancel_usd is not None:
                usd += gone * x.cancel_usd
            elif gone:
                worth += middle(self.problem, t) * gone * x.resale_usd[t]
        return usd, worth

    def _upkeep(self, racks: Mapping[str, int]) -> float:
        """Maintenance of racks and facility in a quarter, in USD."""
        each = self.problem.site(self.hall.site).opex_usd_per_kw_quarter
        own = ((self.place[k], n) for k, n in racks.items())
        return sum(n * (p.maintenance_usd_per_quarter + p.rated_kw * each) for p, n in own)
