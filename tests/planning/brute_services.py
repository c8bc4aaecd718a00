"""Enumerate racks, commitments and replicas of a tiny menu of services, and price them without Pyomo.

The continuous rest of a quarter is a small linear program for each choice of replicas. All programs
of one quarter have the same rows, so they are solved as one program of separate blocks.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterator
from functools import cache

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array, identity, kron

from dcplan.planning.problem.terms import Placement, PlanningProblem
from dcplan.planning.problem.work.terms import DemandTerms

HOURS = 91.3125 * 24
K = 1000.0
"""Money is in 1,000 USD."""
MISSING_KUSD = 1e5
"""Cost of a unit that nothing serves: a choice with such a unit is infeasible."""
Racks = tuple[int, ...]


def best_cost(problem: PlanningProblem) -> float:
    """Cheapest net present cost in USD; infinite when nothing is feasible."""
    orders = [x for x in _orders(problem) if _within(problem, x)]
    nodes = list(_commitments(problem))
    racks = {x: [_in_service(problem, x, t) for t in range(problem.quarters)] for x in orders}
    force = {n: [_in_force(problem, n, t) for t in range(problem.quarters)] for n in nodes}
    served = [
        _quarter_costs(problem, t, {racks[x][t] for x in orders}, {force[n][t] for n in nodes})
        for t in range(problem.quarters)
    ]
    best = math.inf
    for order in orders:
        fixed = _orders_usd(problem, order, racks[order])
        for node in nodes:
            usd = fixed + _commitments_usd(problem, node)
            for t, costs in enumerate(served):
                usd += _middle(problem, t) * costs[racks[order][t], force[node][t]]
            best = min(best, usd)
    return best


def _middle(problem: PlanningProblem, t: float) -> float:
    return float((1.0 + problem.finance.discount_rate) ** (-(t + 0.5) / 4))


def _orders(problem: PlanningProblem) -> Iterator[Racks]:
    """Racks ordered by placement and quarter, quarters of one placement together."""
    ranges = []
    for p in problem.placements:
        for t in range(problem.quarters):
            open_ = p.system in problem.orderable and t + p.lead < problem.quarters
            ranges.append(range(p.max_racks_unit + 1 if open_ else 1))
    yield from itertools.product(*ranges)


def _by_place(problem: PlanningProblem, order: Racks) -> list[Racks]:
    n = problem.quarters
    return [order[i : i + n] for i in range(0, len(order), n)]


def _in_service(problem: PlanningProblem, order: Racks, t: int) -> Racks:
    own = zip(problem.placements, _by_place(problem, order), strict=True)
    return tuple(sum(n for q, n in enumerate(x) if q + p.lead <= t) for p, x in own)


def _within(problem: PlanningProblem, order: Racks) -> bool:
    """Rack positions and power of each site."""
    for t in range(problem.quarters):
        there = list(zip(problem.placements, _in_service(problem, order, t), strict=True))
        if any(n > p.max_racks_unit for p, n in there):
            return False
        for hall in problem.halls:
            own = [(p, n) for p, n in there if p.hall == hall.id]
            if sum(n for _, n in own) > hall.racks:
                return False
            mw = sum(p.rated_kw * n for p, n in own) * hall.coolings[0].peak_pue / K
            if mw > problem.site(hall.site).utility_mw[t] + 1e-9:
                return False
    return True


def _commitments(problem: PlanningProblem) -> Iterator[Racks]:
    """Nodes by offer, term and first quarter."""
    ranges = [
        range(o.max_accelerators // o.node_accelerators + 1)
        for o in problem.offers
        for _ in o.committed
        for _ in range(problem.quarters)
    ]
    most = [o.max_accelerators for o in problem.offers]
    for nodes in itertools.product(*ranges):
        force = [_in_force(problem, nodes, t) for t in range(problem.quarters)]
        if all(n <= m for row in force for n, m in zip(row, most, strict=True)):
            yield nodes


def _terms(problem: PlanningProblem) -> list[tuple[int, int, int]]:
    """Offer, term and first quarter of each number of nodes."""
    return [
        (i, j, t)
        for i, o in enumerate(problem.offers)
        for j in range(len(o.committed))
        for t in range(problem.quarters)
    ]


def _in_force(problem: PlanningProblem, nodes: Racks, t: int) -> Racks:
    """Committed accelerators by offer."""
    found = [0] * len(problem.offers)
    for (i, j, first), n in zip(_terms(problem), nodes, strict=True):
        offer = problem.offers[i]
        if first <= t < first + offer.committed[j].quarters:
            found[i] += n * offer.node_accelerators
    return tuple(found)


def _commitments_usd(problem: PlanningProblem, nodes: Racks) -> float:
    usd = 0.0
    for (i, j, first), n in zip(_terms(problem), nodes, strict=True):
        offer = problem.offers[i]
        term = offer.committed[j]
        each = offer.node_accelerators * HOURS * term.usd_per_accelerator_hour[first]
        usd += n * each * sum(_middle(problem, first + q) for q in range(term.quarters))
    return usd


def _orders_usd(problem: PlanningProblem, order: Racks, racks: list[Racks]) -> float:
    """Racks less their residual value, maintenance, and the energy of idle racks."""
    fin, usd = problem.finance, 0.0
    end = (1.0 + fin.discount_rate) ** (-problem.quarters / 4)
    own = zip(problem.placements, _by_place(problem, order), strict=True)
    for p, counts in own:
        for t, n in enumerate(counts):
            left = end * fin.hardware_residual_frac[t]
            usd += n * p.price_usd * (_middle(problem, t) - left)
    for t, there in enumerate(racks):
        for p, n in zip(problem.placements, there, strict=True):
            site = problem.site(problem.hall(p.hall).site)
            each = p.maintenance_usd_per_quarter + site.opex_usd_per_kw_quarter * p.rated_kw
            each += p.idle_kw * _kwh_usd(problem, p, t)
            usd += _middle(problem, t) * n * each
    return usd


def _kwh_usd(problem: PlanningProblem, p: Placement, t: int) -> float:
    """Cost of 1 kW of IT power for a quarter."""
    hall = problem.hall(p.hall)
    return HOURS * hall.coolings[0].pue * problem.site(hall.site).usd_per_kwh[t]


def _groups(problem: PlanningProblem) -> list[list[int]]:
    """Periods that a service of all hours couples."""
    periods = list(range(len(problem.periods)))
    return [periods] if any(d.period is None for d in problem.demands) else [[p] for p in periods]


def _quarter_costs(
    problem: PlanningProblem, t: int, racks: set[Racks], force: set[Racks]
) -> dict[tuple[Racks, Racks], float]:
    """Least cost of serving a quarter in USD for each number of racks and committed accelerators."""
    total: dict[tuple[Racks, Racks], float] = defaultdict(float)
    for periods in _groups(problem):
        block = _Block(problem, t, periods)
        keys, sides = [], []
        for there, bound in itertools.product(sorted(racks), sorted(force)):
            for usable in block.choices(there):
                keys.append((there, bound))
                sides.append(block.sides(usable, bound))
        best: dict[tuple[Racks, Racks], float] = defaultdict(lambda: math.inf)
        for key, usd in zip(keys, block.solve(sides), strict=True):
            best[key] = min(best[key], usd)
        for key, usd in best.items():
            total[key] += usd
    return total


class _Block:
    """The linear program of one quarter in some periods: min c x, A x <= b, x >= 0."""

    def __init__(self, problem: PlanningProblem, t: int, periods: list[int]) -> None:
        self.problem, self.t, self.periods = problem, t, periods
        self.demands = [d for d in problem.demands if d.period is None or d.period in periods]
        self.columns: dict[tuple[object, ...], int] = {}
        self.cost: list[float] = []
        self.rows: list[dict[int, float]] = []
        self._columns()
        self._rows()

    def _add(self, key: tuple[object, ...], kusd: float) -> None:
        self.columns[key] = len(self.cost)
        self.cost.append(kusd)

    def _columns(self) -> None:
        problem, t = self.problem, self.t
        for d in self.demands:
            for i, p in enumerate(problem.placements):
                if (p.hall, p.system) in d.each:
                    below = d.below_rated_kw.get((p.hall, p.system))
                    top = p.research_kw / p.accelerators
                    if below is not None:
                        top = p.rated_kw / p.accelerators - below
                    kw = (top - p.idle_kw / p.accelerators) * d.load_frac * d.hours_frac
                    self._add(("own", d.id, i), kw * _kwh_usd(problem, p, t) / K)
            for i, o in enumerate(problem.offers):
                if (f"cloud:{o.id}", o.accelerator) in d.each:
                    usd = HOURS * d.hours_frac * o.usd_per_accelerator_hour[t]
                    self._add(("rent", d.id, i), usd / K)
            if not d.row:
                self._add(("missing", d.id), MISSING_KUSD)
                if d.unmet_usd is not None:
                    self._add(("unmet", d.id), d.unmet_usd / K)
        for i, o in enumerate(problem.offers):
            for p in self.periods:
                usd = HOURS * problem.periods[p] * o.usd_per_accelerator_hour[t]
                self._add(("cover", i, p), -usd / K)

    def _amounts(self, d: DemandTerms, without: str = "") -> dict[int, float]:
        """Coefficients of what serves a demand."""
        found = {}
        for i, p in enumerate(self.problem.placements):
            at = self.columns.get(("own", d.id, i))
            if at is not None and self.problem.hall(p.hall).site != without:
                found[at] = d.each[p.hall, p.system]
        for i, o in enumerate(self.problem.offers):
            at = self.columns.get(("rent", d.id, i))
            if at is not None:
                found[at] = d.each[f"cloud:{o.id}", o.accelerator]
        return found

    def _rows(self) -> None:
        """Rows whose right-hand side is fixed, then those of ``sides``."""
        self.fixed: list[float] = []
        terms = {d.id: d for d in self.demands}
        for d in (x for x in self.demands if not x.row):
            losses = [s.id for s in self.problem.sites] if d.kept_frac_without_site else []
            for lost, frac in (("", 1.0), *((s, d.kept_frac_without_site) for s in losses)):
                row: dict[int, float] = defaultdict(float)
                for part in (x for x in self.demands if d.id in (x.id, x.row)):
                    for at, each in self._amounts(part, lost).items():
                        row[at] -= part.share * each
                row |= {
                    self.columns[k, d.id]: -1.0
                    for k in ("missing", "unmet")
                    if (k, d.id) in self.columns
                }
                self._put(row, -frac * d.wanted[self.t])
        for pair in self.problem.pairs:
            if pair.decode in terms:
                row = dict(self._amounts(terms[pair.decode]))
                for at, each in self._amounts(terms[pair.prefill]).items():
                    row[at] = row.get(at, 0.0) - each
                self._put(row, 0.0)
        for p in self.periods:
            active = {d.id for d in self.demands if d.period in (None, p)}
            every = {}
            for i, o in enumerate(self.problem.offers):
                use = {
                    c: 1.0
                    for k, c in self.columns.items()
                    if k[0] == "rent" and k[1] in active and k[2] == i
                }
                every |= use
                self._put(use, o.max_accelerators)
                covered = {self.columns["cover", i, p]: 1.0} | dict.fromkeys(use, -1.0)
                self._put(covered, 0.0)
                if not o.on_demand:
                    self._put({c: -x for c, x in covered.items()}, 0.0)
            if self.problem.cloud_max_accelerators is not None:
                self._put(every, self.problem.cloud_max_accelerators)
        self.owned = [k for k in self.columns if k[0] == "own"]
        self.covers = [k for k in self.columns if k[0] == "cover"]
        for key in (*self.owned, *self.covers):
            self.rows.append({self.columns[key]: 1.0})

    def _put(self, row: dict[int, float], side: float) -> None:
        self.rows.append(row)
        self.fixed.append(side)

    def choices(self, racks: Racks) -> Iterator[list[float]]:
        """Accelerators of serving replicas: each choice fills every placement."""
        each = []
        for i, n in enumerate(racks):
            place = self.problem.placements[i]
            here = [d for d in self.demands if (place.hall, place.system) in d.each]
            sizes = tuple(d.replica[place.hall, place.system].accelerators for d in here)
            when = tuple(tuple(p for p in self.periods if d.period in (None, p)) for d in here)
            full = _filled(n * place.accelerators, sizes, when)
            each.append(
                {
                    tuple(
                        (("own", d.id, i), max(m - d.spare_replicas, 0) * size)
                        for d, m, size in zip(here, counts, sizes, strict=True)
                    )
                    for counts in full
                }
            )
        for chosen in itertools.product(*each):
            most = dict(itertools.chain.from_iterable(chosen))
            yield [float(most[k]) for k in self.owned]

    def sides(self, usable: list[float], force: Racks) -> list[float]:
        """Right-hand sides of all rows."""
        return [*self.fixed, *usable, *(float(force[int(str(k[1]))]) for k in self.covers)]

    def solve(self, sides: list[list[float]]) -> list[float]:
        """Cost in USD of each block, infinite where something is missing."""
        entries = [(i, c, x) for i, row in enumerate(self.rows) for c, x in row.items()]
        at, columns, values = zip(*entries, strict=True)
        one = csr_array((values, (at, columns)), shape=(len(self.rows), len(self.cost)))
        found = linprog(
            np.tile(self.cost, len(sides)),
            A_ub=kron(identity(len(sides)), one, format="csr"),
            b_ub=np.concatenate(sides),
            method="highs",
        )
        if found.x is None:
            raise ValueError(found.message)
        x = found.x.reshape(len(sides), -1)
        missing = sum(x[:, c] for k, c in self.columns.items() if k[0] == "missing")
        return [float(v) for v in np.where(missing > 1e-7, np.inf, x @ np.array(self.cost) * K)]


@cache
def _filled(room: int, sizes: tuple[int, ...], when: tuple[tuple[int, ...], ...]) -> list[Racks]:
    """Numbers of replicas in a placement to which no replica can be added."""

    def fits(counts: Racks) -> bool:
        for p in set(itertools.chain.from_iterable(when)):
            busy = (n * s for n, s, own in zip(counts, sizes, when, strict=True) if p in own)
            if sum(busy) > room:
                return False
        return True

    def more(counts: Racks, i: int) -> Racks:
        return (*counts[:i], counts[i] + 1, *counts[i + 1 :])

    points = itertools.product(*(range(room // s + 1) for s in sizes))
    able = [x for x in points if fits(x)]
    return [x for x in able if not any(fits(more(x, i)) for i in range(len(x)))]
