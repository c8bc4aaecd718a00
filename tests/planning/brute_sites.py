"""Enumerate every integer decision of a tiny menu of two sites, with integer switch counts.

The decisions of each site are listed with their fixed cost. The cost of serving a quarter is a small
linear program (``brute_quarter``) of what both sites, the commitments and the run leave in it. All
points are then a sum of tables. Budgets and carbon couple the quarters: with them, points are taken
in the order of their cost without them, each in one program over all quarters, until no other can be
cheaper.

Two integer decisions follow from the others, because a later payment costs less: a hall is fitted in
the first quarter in which it holds racks, and power blocks are bought when the peak needs them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.problem.work.terms import RunOption
from tests.planning.brute_halls import middle
from tests.planning.brute_parts import DAYS, HOURS, INF, K, Sides, State, program, solved
from tests.planning.brute_quarter import Quarter
from tests.planning.brute_site_choices import SiteChoice, site_choices

MOST_POINTS = 20_000
"""Points that an instance with a budget or a carbon cap may try before it counts as too large."""
Vector = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Best:
    """The cheapest point: its cost in USD and its decisions; infinite when nothing is feasible."""

    usd: float
    decisions: Decisions | None = None
    points: int = 0
    """Number of points with all integer decisions."""
    others: tuple[tuple[float, Decisions], ...] = ()
    """Some further points, with their cost."""


def commitments(problem: PlanningProblem) -> list[tuple[int, ...]]:
    """Nodes committed by first quarter, of the one term of the one offer."""
    (offer,) = problem.offers
    if not offer.committed:
        return [(0,) * problem.quarters]
    most = offer.max_accelerators // offer.node_accelerators
    ways = itertools.product(range(most + 1), repeat=problem.quarters)
    return [
        way
        for way in ways
        if all(_force(problem, way, t) <= offer.max_accelerators for t in range(problem.quarters))
    ]


def _force(problem: PlanningProblem, nodes: Sequence[int], t: int) -> int:
    (offer,) = problem.offers
    length = offer.committed[0].quarters if offer.committed else 0
    return offer.node_accelerators * sum(n for q, n in enumerate(nodes) if q <= t < q + length)


def _commit_cash(problem: PlanningProblem, nodes: Sequence[int]) -> list[float]:
    """Payments for commitments by quarter, also after the horizon."""
    (offer,) = problem.offers
    length = offer.committed[0].quarters if offer.committed else 0
    cash = [0.0] * (problem.quarters + length)
    for first, n in enumerate(nodes):
        for q in range(length if n else 0):
            hourly = offer.committed[0].usd_per_accelerator_hour[first]
            cash[first + q] += n * offer.node_accelerators * HOURS * hourly
    return cash


class Enumeration:
    """All points of one problem."""

    def __init__(self, problem: PlanningProblem) -> None:
        self.problem = problem
        self.quarters = [Quarter(problem, t) for t in range(problem.quarters)]
        self.sites = [list(site_choices(problem, s)) for s in problem.sites]
        self.nodes = commitments(problem)
        self.runs: list[RunOption | None] = list(problem.run_options) if problem.jobs else [None]
        self.shape = (*(len(x) for x in self.sites), len(self.nodes), len(self.runs))
        self._sides: dict[tuple[object, ...], Sides | None] = {}

    def _state(self, chosen: Sequence[SiteChoice], t: int) -> State:
        """Racks by placement in the order of the problem, whose halls are grouped by site."""
        found = [x.states[t] for x in chosen]
        return State(
            tuple(n for x in found for n in x[0]),
            tuple(kw for x in found for kw in x[1]),
            tuple(x[2] for x in found),
            tuple(x[3] for x in found),
            tuple(x[4] for x in found),
        )

    def least(self) -> npt.NDArray[np.float64]:
        """Cost of every point without budget and carbon cap; infinite where it is infeasible."""
        problem = self.problem
        total = np.zeros(self.shape)
        for axis, usd in enumerate(self._fixed_usd()):
            total = total + usd.reshape([-1 if i == axis else 1 for i in range(4)])
        for t, quarter in enumerate(self.quarters):
            total += middle(problem, t) * self._served(t, quarter)
        total[~self._supplied()] = math.inf
        for r, run in enumerate(self.runs):
            for s, choices in enumerate(self.sites):
                for i, choice in enumerate(choices):
                    if run is not None and not _fast(problem, choice, run):
                        total[(slice(None),) * s + (i,) + (slice(None),) * (2 - s) + (r,)] = (
                            math.inf
                        )
        return total

    def _fixed_usd(self) -> list[Vector]:
        sites = [np.array([x.usd for x in own]) for own in self.sites]
        nodes = [
            sum(
                middle(self.problem, t) * usd for t, usd in enumerate(_commit_cash(self.problem, n))
            )
            for n in self.nodes
        ]
        return [*sites, np.array(nodes)]

    def _served(self, t: int, quarter: Quarter) -> npt.NDArray[np.float64]:
        """Least cost of a quarter for every point, from that of every different state."""
        states = [list(dict.fromkeys(x.states[t] for x in own)) for own in self.sites]
        forces = list(dict.fromkeys(_force(self.problem, n, t) for n in self.nodes))
        table = np.full((len(states[0]), len(states[1]), len(forces), len(self.runs)), math.inf)
        for at in np.ndindex(table.shape):
            a, b = states[0][at[0]], states[1][at[1]]
            state = State(a[0] + b[0], a[1] + b[1], *zip(a[2:], b[2:], strict=True))
            sides = quarter.sides(state, (forces[at[2]],), self.runs[at[3]])
            found = None if sides is None else quarter.solve(sides)
            if found is not None:
                table[at] = found[0] * K
        own = [
            np.array([found.index(x.states[t]) for x in choices], dtype=int)
            for found, choices in zip(states, self.sites, strict=True)
        ]
        bound = np.array([forces.index(_force(self.problem, n, t)) for n in self.nodes])
        return table[np.ix_(own[0], own[1], bound, np.arange(len(self.runs)))]

    def _supplied(self) -> npt.NDArray[np.bool_]:
        """Whether a vendor delivers the racks of both sites."""
        able = np.ones(self.shape, dtype=bool)
        for s in self.problem.supply:
            for t, most in enumerate(s.racks):
                used = [
                    np.array([sum(h.ordered.get((s.system, t), 0) for h in x.halls) for x in own])
                    for own in self.sites
                ]
                able &= (used[0][:, None] + used[1][None, :] <= most)[:, :, None, None]
        return able

    def best(self, others: int = 0) -> Best:
        """The cheapest point, and some others in even distances of their order."""
        total = self.least()
        flat = total.ravel()
        order = [int(i) for i in np.argsort(flat, kind="stable") if math.isfinite(flat[i])]
        capped = [s for s in self.problem.sites if s.max_t_per_year is not None]
        coupled = bool(capped) or self.problem.finance.budget_usd is not None
        usd, decisions = math.inf, None
        for tried, i in enumerate(order):
            if flat[i] >= usd:
                break
            if tried > MOST_POINTS:
                raise ValueError("too many points for budgets or carbon caps")
            found = self._whole(np.unravel_index(i, self.shape), coupled=coupled)
            if found is not None and found[0] < usd:
                usd, decisions = found
        more = []
        step = max(len(order) // max(others, 1), 1)
        for i in order[::step][: others if not coupled else 0]:
            found = self._whole(np.unravel_index(i, self.shape), coupled=False)
            if found is not None:
                more.append(found)
        return Best(usd, decisions, flat.size, tuple(more))

    def _whole(self, at: Sequence[np.integer], *, coupled: bool) -> tuple[float, Decisions] | None:
        """Cost and decisions of one point in one program over all quarters."""
        problem, (a, b, n, r) = self.problem, (int(x) for x in at)
        chosen, nodes, run = (self.sites[0][a], self.sites[1][b]), self.nodes[n], self.runs[r]
        cost: list[float] = []
        most: list[float] = []
        rows: list[dict[int, float]] = []
        sides = []
        starts = []
        for t, q in enumerate(self.quarters):
            one = q.sides(self._state(chosen, t), (_force(problem, nodes, t),), run)
            assert one is not None
            starts.append(len(cost))
            cost += [middle(problem, t) * x for x in q.cost]
            most += q.most
            rows += [{starts[t] + i: x for i, x in row.items()} for row in q.rows]
            sides.append(one)
        lower = [np.concatenate([s.lower for s in sides])]
        upper = [np.concatenate([s.upper for s in sides])]
        for row, limit in self._coupling(chosen, nodes, sides, starts) if coupled else ():
            rows.append(row)
            lower.append(np.array([-INF]))
            upper.append(np.array([limit]))
        found = solved(program(cost, most, rows, np.concatenate(lower), np.concatenate(upper)))
        if found is None:
            return None
        usd = found[0] * K + sum(middle(problem, t) * K * s.kusd for t, s in enumerate(sides))
        usd += sum(x.usd for x in chosen)
        usd += sum(middle(problem, t) * x for t, x in enumerate(_commit_cash(problem, nodes)))
        values = [found[1][i : i + len(q.cost)] for i, q in zip(starts, self.quarters, strict=True)]
        return usd, self._decisions(chosen, nodes, run, values)

    def _coupling(
        self,
        chosen: Sequence[SiteChoice],
        nodes: Sequence[int],
        sides: Sequence[Sides],
        starts: Sequence[int],
    ) -> Iterator[tuple[dict[int, float], float]]:
        """Rows of budgets and carbon caps over the quarters, with their limits."""
        problem = self.problem
        budget = problem.finance.budget_usd
        paid: dict[int, float] = {}
        left = 0.0
        committed = _commit_cash(problem, nodes)
        for t, q in enumerate(self.quarters if budget is not None else ()):
            cash = zip(q.cost, q.cash, strict=True)
            paid |= {starts[t] + i: x for i, (x, counts) in enumerate(cash) if counts and x}
            fixed = sum(x.cash[t] for x in chosen) / K + sides[t].kusd + committed[t] / K
            left += (budget or ())[t] / K - fixed
            yield dict(paid), left
        for k, s in enumerate(problem.sites):
            if s.max_t_per_year is not None:
                row = {
                    starts[t] + i: x
                    for t, q in enumerate(self.quarters)
                    for i, x in q.carbon(s).items()
                }
                fixed = sum(x.carbon_t[k] for x in sides)
                yield row, s.max_t_per_year * problem.quarters / 4 - fixed

    def _decisions(
        self,
        chosen: Sequence[SiteChoice],
        nodes: Sequence[int],
        run: RunOption | None,
        values: Sequence[Vector],
    ) -> Decisions:
        """The decisions of a point, as the audit reads them."""
        problem, d = self.problem, Decisions()
        for site, x in zip(problem.sites, chosen, strict=True):
            d.blocks |= {(site.id, t): n for t, n in enumerate(x.blocks) if n}
            d.onsite |= {(site.id, site.onsite[0].id, t): n for t, n in enumerate(x.units) if n}
            d.contracted |= {
                (site.id, site.contracts[0].id, t): n for t, n in enumerate(x.steps) if n
            }
            for h in x.halls:
                d.ordered |= {(h.hall.id, "cool", k, t): n for (k, t), n in h.ordered.items()}
                d.disposed |= h.disposed
                if h.fabric is not None:
                    d.fabric[h.hall.id] = h.fabric
                if h.fitted is not None:
                    d.fitted |= {
                        (h.hall.id, "cool", t): 1 for t in range(h.fitted, problem.quarters)
                    }
        (offer,) = problem.offers
        d.committed |= {(offer.id, "reserved-1y", t): n for t, n in enumerate(nodes) if n}
        if run is not None:
            d.runs.append(run)
        for t, q in enumerate(self.quarters):
            if run is not None and not run.on_cloud:
                first = run.start_month * DAYS / 3
                days = max(min(first + run.days, (t + 1) * DAYS) - max(first, t * DAYS), 0.0)
                d.training[run.place, "cool", run.system, t] = run.accelerators * days / DAYS
            for column, i in q.columns.items():
                _decide(d, column, t, float(values[t][i]))
            for site in problem.sites:
                lost = sum(mwh * float(values[t][i]) for i, mwh in q.losses(site).items())
                if lost:
                    d.onsite_mwh[site.id, site.onsite[0].id, t] = -lost
        return d


def _decide(d: Decisions, column: tuple[str, ...], t: int, value: float) -> None:
    """Add the value of a column to the decisions."""
    if value <= 1e-9:
        return
    if column[0] == "serving":
        _, demand, hall, system = column
        d.serving[demand, hall, "cool", system, t] = value
    elif column[0] == "rented":
        d.rented[column[1], column[2], t] = value
    elif column[0] == "unmet":
        d.unmet[column[1], t] = value
    elif column[0] == "mw":
        d.onsite_mw[column[1], column[2], t] = value
    elif column[0] == "bridged":
        d.bridged[column[1], column[2], column[3], t] = value
    elif column[0] == "contract":
        d.contract_mwh[column[1], column[2], t] = value
    elif column[0] == "mwh":
        d.onsite_mwh[column[1], column[2], t] = value
    elif column[0] == "paused":
        d.paused[column[1], "cool", column[2], t] = value


def _fast(problem: PlanningProblem, x: SiteChoice, run: RunOption) -> bool:
    """Whether the fabric of a run's hall is fast enough for it."""
    for h in x.halls:
        if h.hall.id == run.place:
            ports = next(
                p.port_class
                for p in problem.placements
                if (p.hall, p.system) == (run.place, run.system)
            )
            speeds = [
                o.speeds[ports] for o in problem.fabrics if (o.hall, o.id) == (run.place, h.fabric)
            ]
            return any(v.serves(run.link) for v in speeds)
    return True
