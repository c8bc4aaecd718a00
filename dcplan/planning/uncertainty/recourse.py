"""Recourse in a sampled scenario: an LP that serves demand with the available accelerators."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import linprog
from scipy.sparse import csr_array

from dcplan.economics.monthly.weights import FlowWeights
from dcplan.inputs.cloud_prices import cloud_place
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.units import HOURS_PER_QUARTER

P = tuple[str, str, str]
Row = tuple[str, P, int, int]
"""Kind of a row, its limited object (a placement; an offer or demand as first id), its quarter and
its period of the week."""
LAST_RESORT = 2.0
"""Cost factor of unserved demand without its own price: twice the highest rent, so that it is the
last resort."""
NO_RENT_USD = 1e6
"""Cost per unit and quarter if nothing can be rented, above any energy cost."""


@dataclass(frozen=True)
class Served:
    """Allocation of demand, and the discounted cost of rent and of unserved demand."""

    serving: dict[tuple[str, P, int], float]
    rented_usd: float
    unmet_usd: float
    unmet: dict[str, float]
    rented_hours: float


@dataclass(frozen=True)
class Recourse:
    """The LP of a planning problem; a sampled scenario changes its right-hand sides and costs.

    Columns: own accelerators by demand, placement and quarter; rented accelerators by demand, offer
    and quarter; use under commitments; unserved demand. Rows: capacity of each placement, of each
    offer and of all offers; commitments by limit and by use; demand, also without each site; pools.
    """

    problem: PlanningProblem
    own: list[tuple[str, P, int]]
    rent: list[tuple[str, str, int]]
    cover: list[tuple[str, int, int]]
    left: list[tuple[str, int]]
    energy_usd: npt.NDArray[np.float64]
    rent_usd: npt.NDArray[np.float64]
    rent_hours_frac: npt.NDArray[np.float64]
    cover_usd: npt.NDArray[np.float64]
    left_usd: npt.NDArray[np.float64]
    priced: npt.NDArray[np.bool_]
    """Whether unserved demand has its own price."""
    rows: list[Row]
    matrix: csr_array
    price: Mapping[tuple[str, int], float]
    """Present cost of renting one accelerator on demand for a quarter, with accompanying costs."""
    wanted: Mapping[tuple[str, int], float]
    limits: Mapping[tuple[str, P, int], float]
    """Accelerators of the replicas of services, by column of own accelerators."""
    kept_frac: Mapping[str, float]
    """Share of each demand that must be served without any one site."""
    most: Mapping[str, int]
    """Maximum accelerators of an offer."""
    flexible: Mapping[str, bool]
    """Whether on-demand use beyond the commitments is possible."""

    def solve(
        self,
        room: Mapping[tuple[P, int], float],
        in_use: Mapping[tuple[str, int], float],
        demand: float,
        energy: float,
        cloud: float,
        bound: Mapping[tuple[str, int], float],
    ) -> Served:
        """Serve the demands at minimum cost.

        ``in_use`` are rented accelerators of runs, paid at the same prices.
        """
        running = sum(self.price[key] * n for key, n in in_use.items()) * cloud
        if not self.rows:
            return Served({}, running, 0.0, {}, 0.0)
        left_usd = np.where(
            self.priced, self.left_usd, max(cloud, 1.0) * self.left_usd
        )  # always the last resort
        cost = np.concatenate(
            [energy * self.energy_usd, cloud * self.rent_usd, -cloud * self.cover_usd, left_usd]
        )
        sides = np.array([self._side(row, room, in_use, demand, bound) for row in self.rows])
        most = [self.limits.get(key) for key in self.own] + [None] * (len(cost) - len(self.own))
        bounds = [(0.0, x) for x in most]
        found = linprog(cost, A_ub=self.matrix, b_ub=sides, bounds=bounds, method="highs")  # type: ignore[call-overload]
        if found.x is None:
            msg = f"recourse: {found.message}"
            raise ValueError(msg)
        n, m, k = len(self.own), len(self.rent), len(self.cover)
        x = found.x
        unmet: dict[str, float] = {}
        for (d, _), value in zip(self.left, x[n + m + k :], strict=True):
            unmet[d] = unmet.get(d, 0.0) + float(value)
        usd = float((self.priced * self.left_usd) @ x[n + m + k :])
        rented = cloud * float(self.rent_usd @ x[n : n + m] - self.cover_usd @ x[n + m : n + m + k])
        serving = {key: float(v) for key, v in zip(self.own, x[:n], strict=True) if v > 0}
        return Served(
            serving,
            running + rented,
            usd,
            unmet,
            float(x[n : n + m] @ self.rent_hours_frac) * HOURS_PER_QUARTER,
        )

    def _side(
        self,
        row: Row,
        room: Mapping[tuple[P, int], float],
        in_use: Mapping[tuple[str, int], float],
        demand: float,
        bound: Mapping[tuple[str, int], float],
    ) -> float:
        kind, what, t, _ = row
        if kind == "room":
            return room[what, t]
        at = what[0], t
        if kind == "demand":
            return -demand * self.wanted[at]
        if kind == "kept":
            return -demand * self.kept_frac[what[0]] * self.wanted[at]
        if kind == "pair":
            return 0.0
        if kind == "all":
            return max(
                (self.problem.cloud_max_accelerators or 0)
                - sum(n for (_, q), n in in_use.items() if q == t),
                0.0,
            )
        if kind == "offer":
            most = self.most[what[0]] if self.flexible[what[0]] else bound[at]
            return max(most - in_use.get(at, 0.0), 0.0)
        return bound[at] if kind == "bound" else in_use.get(at, 0.0)


def recourse_of(
    problem: PlanningProblem, weights: FlowWeights, limits: Mapping[tuple[str, P, int], float]
) -> Recourse:
    """Return the LP of a planning problem; ``weights`` are the present cost of each payment."""
    quarters, factor = range(problem.quarters), weights.running
    own = [
        (d.id, p.key, t)
        for d in problem.demands
        for p in problem.placements
        if (p.hall, p.system) in d.each
        for t in quarters
    ]
    rent = [
        (d.id, o.id, t)
        for d in problem.demands
        for o in problem.offers
        if (cloud_place(o.id), o.accelerator) in d.each
        for t in quarters
    ]
    cover = [
        (o.id, p, t) for o in problem.offers for p in range(len(problem.periods)) for t in quarters
    ]
    left = [(d.id, t) for d in problem.required for t in quarters]
    by_offer = {
        (o.id, t): HOURS_PER_QUARTER * o.usd_per_used_hour(t) * factor[t]
        for o in problem.offers
        for t in quarters
    }
    saved = {
        (o.id, t): HOURS_PER_QUARTER * o.usd_per_covered_hour(t) * factor[t]
        for o in problem.offers
        for t in quarters
    }
    hours = {d.id: d.rented_hours_frac for d in problem.demands}
    rows, matrix = _rows(problem, own, rent, cover, left)
    return Recourse(
        problem,
        own,
        rent,
        cover,
        left,
        energy_usd=np.array([_energy_usd(problem, d, key, t) * factor[t] for d, key, t in own]),
        rent_usd=np.array([hours[d] * by_offer[o, t] for d, o, t in rent]),
        rent_hours_frac=np.array([hours[d] for d, _, _ in rent]),
        cover_usd=np.array([problem.periods[p] * saved[o, t] for o, p, t in cover]),
        left_usd=np.array([_unmet_usd(problem, d, t) * weights.unserved[t] for d, t in left]),
        priced=np.array(
            [d.unmet_usd is not None for d in problem.required for _ in quarters], dtype=bool
        ),
        rows=rows,
        matrix=matrix,
        price=by_offer,
        wanted={(d.id, t): d.wanted[t] for d in problem.required for t in quarters},
        limits=limits,
        kept_frac={d.id: d.kept_frac_without_site for d in problem.required},
        most={o.id: o.max_accelerators for o in problem.offers},
        flexible={o.id: o.on_demand for o in problem.offers},
    )


def _energy_usd(problem: PlanningProblem, demand: str, key: P, t: int) -> float:
    """Return the energy cost that serving adds to an idle accelerator in a quarter."""
    place = next(p for p in problem.placements if p.key == key)
    site = problem.site(problem.hall(place.hall).site)
    return (
        place.serving_kw(problem.demand(demand))
        * HOURS_PER_QUARTER
        * problem.cooled(key).pue_at(problem.season(t))
        * site.usd_per_kwh[t]
    )


def _unmet_usd(problem: PlanningProblem, demand: str, t: int) -> float:
    """Return the cost of one unserved unit for a quarter."""
    terms = problem.demand(demand)
    if terms.unmet_usd is not None:
        return terms.unmet_usd
    rents = [
        HOURS_PER_QUARTER
        * part.rented_hours_frac
        * o.usd_per_used_hour(t)
        / (part.share * part.each[cloud_place(o.id), o.accelerator])
        for part in problem.demand_parts(demand)
        for o in problem.offers
        if part.share and (cloud_place(o.id), o.accelerator) in part.each
    ]
    return LAST_RESORT * max(rents) if rents and max(rents) > 0 else NO_RENT_USD


def _rows(
    problem: PlanningProblem,
    own: Sequence[tuple[str, P, int]],
    rent: Sequence[tuple[str, str, int]],
    cover: Sequence[tuple[str, int, int]],
    left: Sequence[tuple[str, int]],
) -> tuple[list[Row], csr_array]:
    """Return the rows by kind and index, and their coefficients."""
    position: dict[Row, int] = {}
    entries: list[tuple[int, int, float]] = []

    def put(
        kind: str, what: P | str, t: int, column: int, value: float, periods: Iterable[int] = (0,)
    ) -> None:
        key = what if isinstance(what, tuple) else (what, "", "")
        for p in periods:
            at = position.setdefault((kind, key, t, p), len(position))
            entries.append((at, column, value))

    terms = {d.id: d for d in problem.demands}
    when = {d.id: [p for p in range(len(problem.periods)) if d.active(p)] for d in problem.demands}
    chips = {o.id: o.accelerator for o in problem.offers}
    taking = {pair.prefill: (i, -1.0) for i, pair in enumerate(problem.pairs)}
    taking |= {pair.decode: (i, 1.0) for i, pair in enumerate(problem.pairs)}

    lost = {
        d.id: [s.id for s in problem.sites if d.kept_frac_without_site] for d in problem.required
    }

    def serve(d: str, t: int, column: int, each: float, site: str = "") -> None:
        row = terms[d].row_id
        put("demand", row, t, column, -terms[d].share * each)
        for s in lost[row]:
            if s != site:
                put("kept", (row, s, ""), t, column, -terms[d].share * each)
        if d in taking:
            pair, sign = taking[d]
            put("pair", str(pair), t, column, sign * each)

    for i, (d, key, t) in enumerate(own):
        put("room", key, t, i, 1.0, when[d])
        serve(d, t, i, terms[d].each[key[0], key[2]], problem.hall(key[0]).site)
    for i, (d, o, t) in enumerate(rent, len(own)):
        put("offer", o, t, i, 1.0, when[d])
        put("use", o, t, i, -terms[d].rent_frac, when[d])
        serve(d, t, i, terms[d].each[cloud_place(o), chips[o]])
        if problem.cloud_max_accelerators is not None:
            put("all", "", t, i, 1.0, when[d])
    for i, (o, p, t) in enumerate(cover, len(own) + len(rent)):
        put("bound", o, t, i, 1.0, (p,))
        put("use", o, t, i, 1.0, (p,))
    for i, (d, t) in enumerate(left, len(own) + len(rent) + len(cover)):
        put("demand", d, t, i, -1.0)
        for s in lost[d]:
            put("kept", (d, s, ""), t, i, -1.0)
    shape = (len(position), len(own) + len(rent) + len(cover) + len(left))
    rows, columns, values = zip(*entries, strict=True) if entries else ((), (), ())
    return list(position), csr_array((values, (rows, columns)), shape=shape)
