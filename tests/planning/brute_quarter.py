"""The continuous rest of a quarter, once every integer decision is made: a small linear program.

Its rows are those of docs/method/planning.md, here written a second time from the terms of the
problem. Integer decisions change only the sides of its rows, so one program serves a quarter.
"""

from __future__ import annotations

from collections.abc import Sequence

import highspy
import numpy as np

from dcplan.planning.problem.energy import OnsiteTerms, TrancheTerms
from dcplan.planning.problem.terms import Placement, PlanningProblem, SiteTerms
from dcplan.planning.problem.work.terms import DemandTerms, RunOption
from tests.planning.brute_parts import (
    DAYS,
    HOURS,
    INF,
    K,
    Sides,
    State,
    Vector,
    event_loss_h,
    power_per_mw,
    program,
    shaving_loss_h,
    solved,
)

Column = tuple[str, ...]


class Quarter:
    """The program of one quarter: min c x, lower <= A x <= upper, x >= 0."""

    def __init__(self, problem: PlanningProblem, t: int) -> None:
        self.problem, self.t = problem, t
        self.place = list(problem.placements)
        self.site_of = {h.id: h.site for h in problem.halls}
        self.columns: dict[Column, int] = {}
        self.cost: list[float] = []
        self.most: list[float] = []
        self.cash: list[bool] = []
        """Whether a budget counts the cost of the column."""
        self.rows: list[dict[int, float]] = []
        self._add_columns()
        self._add_rows()
        self._solver: highspy.Highs | None = None

    def _put(self, column: Column, kusd: float, most: float = INF, *, cash: bool = True) -> None:
        self.columns[column] = len(self.cost)
        self.cost.append(kusd)
        self.most.append(most)
        self.cash.append(cash)

    def _kw(self, d: DemandTerms, p: Placement) -> float:
        """Facility power that one serving accelerator adds on average."""
        pue = self.problem.hall(p.hall).coolings[0].pue
        return d.load_frac * (p.research_kw - p.idle_kw) / p.accelerators * pue

    def _add_columns(self) -> None:
        problem, t = self.problem, self.t
        for d in problem.demands:
            for p in self.place:
                if (p.hall, p.system) in d.each:
                    usd = problem.site(self.site_of[p.hall]).usd_per_kwh[t]
                    self._put(("serving", d.id, p.hall, p.system), self._kw(d, p) * HOURS * usd / K)
            for o in problem.offers:
                if (f"cloud:{o.id}", o.accelerator) in d.each:
                    usd = o.usd_per_accelerator_hour[t]
                    self._put(("rented", d.id, o.id), HOURS * usd / K)
            if d.unmet_usd is not None:
                self._put(("unmet", d.id), d.unmet_usd / K, cash=False)
        for o in problem.offers:
            for month in "012":
                usd = o.usd_per_accelerator_hour[t]
                self._put(("covered", o.id, month), -HOURS / 3 * usd / K)
        for s in problem.sites:
            for y in s.tranches:
                self._put(("cut", s.id, y.id), 0.0, y.mw[t])
            for e in s.onsite:
                if e.battery is not None:
                    self._put_battery(s, e)
                    continue
                self._put(("mw", s.id, e.id), 0.0)
                self._put(("mwh", s.id, e.id), (e.usd_per_mwh - 1e3 * s.usd_per_kwh[t]) / K)
            for x in s.contracts:
                own = x.surplus_usd_per_mwh[t] + x.delivery_usd_per_mwh[t]
                self._put(("contract", s.id, x.id), (own - 1e3 * s.usd_per_kwh[t]) / K)
            self._put(("billed", s.id), 3.0 * s.demand_usd_per_kw_month)
            for p in self.place if s.tranches else ():
                if self.site_of[p.hall] == s.id:
                    self._put(("paused", p.hall, p.system), 0.0)

    def _put_battery(self, s: SiteTerms, e: OnsiteTerms) -> None:
        """The shaved peak, and what the battery carries of each tranche; both cost their losses."""
        usd = 1e3 * s.usd_per_kwh[self.t] / K
        most = INF if e.battery is not None and e.battery.peak_h else 0.0
        self._put(("mw", s.id, e.id), shaving_loss_h(e) * usd, most)
        for y in s.tranches:
            if y.event_h is not None:
                self._put(("bridged", s.id, e.id, y.id), event_loss_h(e, y) * usd)

    def _some(self, *start: str) -> list[int]:
        return [i for c, i in self.columns.items() if c[: len(start)] == start]

    def _serving(self, hall: str, system: str) -> dict[str, int]:
        """Columns of a placement by demand."""
        return {
            c[1]: i
            for c, i in self.columns.items()
            if c[0] == "serving" and c[2:] == (hall, system)
        }

    def _add_rows(self) -> None:
        """Rows in the order in which ``sides`` gives their limits."""
        for d in self.problem.demands:
            row = {
                i: d.each[(c[2], c[3]) if c[0] == "serving" else (f"cloud:{c[2]}", "chip")]
                for c, i in self.columns.items()
                if c[0] in ("serving", "rented") and c[1] == d.id
            }
            self.rows.append(row | dict.fromkeys(self._some("unmet", d.id), 1.0))
        for p in self.place:
            busy = [
                *self._serving(p.hall, p.system).values(),
                *self._some("paused", p.hall, p.system),
            ]
            self.rows.append(dict.fromkeys(busy, 1.0))
        rented: dict[str, dict[int, float]] = {
            o.id: {i: 1.0 for c, i in self.columns.items() if c[0] == "rented" and c[2] == o.id}
            for o in self.problem.offers
        }
        self.rows += rented.values()
        self.rows.append({i: 1.0 for own in rented.values() for i in own})
        for o in self.problem.offers:
            for month in "012":
                at = self.columns["covered", o.id, month]
                self.rows.append({at: 1.0})
                self.rows.append({at: 1.0} | {i: -x for i, x in rented[o.id].items()})
        for s in self.problem.sites:
            self._add_power(s)

    def _add_power(self, s: SiteTerms) -> None:
        cut, mw, mwh = (self._some(x, s.id) for x in ("cut", "mw", "mwh"))
        load = {
            i: self._kw(self.problem.demand(d), p) * HOURS / K
            for p in self.place
            if self.site_of[p.hall] == s.id
            for d, i in self._serving(p.hall, p.system).items()
        }
        plain = load | dict.fromkeys(mwh, -1.0)
        grid = plain | self.losses(s)
        self.rows.append(dict.fromkeys((*cut, *mw), 1.0))
        self.rows.append(self._plant_power(s) or dict.fromkeys(mw, 1.0))
        self.rows.append(grid | dict.fromkeys(cut, -HOURS))
        self.rows.append(grid)
        self.rows.append(dict.fromkeys(mwh, 1.0) | dict.fromkeys(mw, -HOURS))
        lost = {self.columns["cut", s.id, y.id]: -y.hours_per_year / 8766.0 for y in s.tranches}
        saved = {
            i: p.rated_kw / p.accelerators * self.problem.hall(p.hall).coolings[0].peak_pue / K
            for p in self.place
            if self.site_of[p.hall] == s.id
            for i in self._some("paused", p.hall, p.system)
        }
        carried = {
            self.columns["bridged", s.id, e.id, y.id]: y.hours_per_year / 8766.0
            for e, y in self._carried(s)
        }
        self.rows.append(lost | saved | carried)
        self.rows.append({self.columns["billed", s.id]: 1.0} | dict.fromkeys(mw, 1.0))
        self.rows.append({self.columns["billed", s.id]: 1.0})
        for e, y in self._carried(s):
            one = self.columns["bridged", s.id, e.id, y.id]
            self.rows.append({one: 1.0, self.columns["cut", s.id, y.id]: -1.0})
        self.rows += [self._refill(s, e) for e in s.onsite if e.battery is not None]
        if s.tranches:  # the run goes on in interruptions
            some = dict.fromkeys((*mw, *self._some("bridged", s.id)), 1.0)
            self.rows.append(some)
        for x in s.contracts:  # of the load without losses of batteries
            at = self.columns["contract", s.id, x.id]
            self.rows += [{at: 1.0}, plain | {at: -1.0}]

    def _carried(self, s: SiteTerms) -> list[tuple[OnsiteTerms, TrancheTerms]]:
        """The battery of a site with each tranche that it may carry."""
        return [
            (e, y)
            for e in s.onsite
            if e.battery is not None
            for y in s.tranches
            if y.event_h is not None
        ]

    def losses(self, s: SiteTerms) -> dict[int, float]:
        """Losses of a battery, bought from the grid."""
        of_peaks = {
            self.columns["mw", s.id, e.id]: shaving_loss_h(e) for e in s.onsite if e.battery
        }
        events = {
            self.columns["bridged", s.id, e.id, y.id]: event_loss_h(e, y)
            for e, y in self._carried(s)
        }
        return of_peaks | events

    def _plant_power(self, s: SiteTerms) -> dict[int, float]:
        """Power of a battery for what it shaves and carries; empty for other plants."""
        found = {
            self.columns["mw", s.id, e.id]: power_per_mw(e, e.battery.peak_h or 0.0)
            for e in s.onsite
            if e.battery is not None
        }
        return found | {
            self.columns["bridged", s.id, e.id, y.id]: power_per_mw(e, y.event_h or 0.0)
            for e, y in self._carried(s)
        }

    def _refill(self, s: SiteTerms, e: OnsiteTerms) -> dict[int, float]:
        """What a day needs between peak and mean; racks that may train count as if all did so."""
        assert e.battery is not None
        lost = 1.0 / e.battery.round_trip_frac - 1.0
        row = {self.columns["mw", s.id, e.id]: 1.0 + (e.battery.peak_h or 0.0) / 24.0 * lost}
        may_train = {(r.place, r.system) for r in self.problem.run_options}
        for p in self.place:
            if self.site_of[p.hall] == s.id and (p.hall, p.system) not in may_train:
                for d, i in self._serving(p.hall, p.system).items():
                    row[i] = self._kw(self.problem.demand(d), p) / K
        return row

    def _day_mw(self, s: SiteTerms, state: State, busy: Sequence[float]) -> float:
        """Load of racks that may train, if all did so, above that of the run and of serving [MW]."""
        may_train = {(r.place, r.system) for r in self.problem.run_options}
        total = 0.0
        for p, n, x in zip(self.place, state.racks, busy, strict=True):
            if self.site_of[p.hall] == s.id and (p.hall, p.system) in may_train:
                pue = self.problem.hall(p.hall).coolings[0].pue
                run = (p.training_kw - p.idle_kw) * pue
                serve = max(p.accelerators * self._kw(d, p) for d in self.problem.demands)
                total += (n * max(run, serve) - x * run / p.accelerators) / K
        return total

    def sides(self, state: State, force: Sequence[int], run: RunOption | None) -> Sides | None:
        """Limits of the rows; None where the run does not fit."""
        problem, t = self.problem, self.t
        busy = [0.0] * len(self.place)
        held, use = [0.0] * 3, [0.0] * 3
        if run is not None:
            busy, held, use = self._run(run)
            for p, n in zip(self.place, state.racks, strict=True):
                here = (p.hall, p.system) == (run.place, run.system)
                if here and any(held) and run.accelerators > n * p.accelerators:
                    return None
        cloud = run if run is not None and run.on_cloud else None
        lower: list[float] = [d.wanted[t] for d in problem.demands]
        upper = [INF] * len(lower)
        for p, n, x in zip(self.place, state.racks, busy, strict=True):
            lower.append(-INF)
            upper.append(n * p.accelerators - x)
        most = max(held) if cloud else 0.0
        lower += [-INF] * (len(problem.offers) + 1)
        upper += [o.max_accelerators - most for o in problem.offers]
        limit = problem.cloud_max_accelerators
        upper.append(INF if limit is None else limit - most)
        usd = 0.0
        for o, n in zip(problem.offers, force, strict=True):
            for month in range(3):
                x = use[month] if cloud else 0.0
                lower += [-INF, -INF if o.on_demand else x]
                upper += [n, x]
                usd += x * HOURS / 3 * o.usd_per_accelerator_hour[t]
        carbon = []
        for k, s in enumerate(problem.sites):
            peak, energy = self._load(s, state, busy)
            low, high = self._power_sides(s, peak, energy, state.units[k], used=state.used[k])
            lower += low
            upper += high
            room = peak - energy / HOURS - self._day_mw(s, state, busy)
            kept = self._run_mw(s, run)
            low, high = self._more_sides(s, energy, room, kept, state.steps[k])
            lower += low
            upper += high
            usd += energy * K * s.usd_per_kwh[t]
            carbon.append(energy * s.grid_g_per_kwh / K)
        return Sides(np.array(lower), np.array(upper), usd / K, tuple(carbon))

    def _run(self, run: RunOption) -> tuple[list[float], list[float], list[float]]:
        """Busy accelerators of a run by placement; held and used ones by month of the quarter."""
        first, last = run.start_month * DAYS / 3, run.start_month * DAYS / 3 + run.days
        held, use, busy = [], [], []
        for month in range(3 * self.t, 3 * self.t + 3):
            days = max(min(last, (month + 1) * DAYS / 3) - max(first, month * DAYS / 3), 0.0)
            held.append(float(run.accelerators if days > 1e-9 else 0))
            use.append(run.accelerators * days / (DAYS / 3))
        for p in self.place:
            here = (p.hall, p.system) == (run.place, run.system)
            busy.append(sum(use) / 3 if here else 0.0)
        return busy, held, use

    def _run_mw(self, s: SiteTerms, run: RunOption | None) -> float:
        """Rated power of a run on the design day, in a quarter in which it runs [MW]."""
        if run is None or not any(self._run(run)[1]):
            return 0.0
        return sum(
            run.accelerators
            * p.rated_kw
            / p.accelerators
            * self.problem.hall(p.hall).coolings[0].peak_pue
            / K
            for p in self.place
            if self.site_of[p.hall] == s.id and (p.hall, p.system) == (run.place, run.system)
        )

    def _load(self, s: SiteTerms, state: State, busy: Sequence[float]) -> tuple[float, float]:
        """Peak [MW] and energy without serving [MWh] of a site."""
        peak, energy = 0.0, 0.0
        for i, hall in enumerate(self.problem.halls):
            if hall.site == s.id:
                peak += state.net_kw[i] * hall.coolings[0].peak_pue / K
                energy += state.net_kw[i] * hall.coolings[0].pue * HOURS / K
        for p, n, x in zip(self.place, state.racks, busy, strict=True):
            if self.site_of[p.hall] == s.id:
                cool = self.problem.hall(p.hall).coolings[0]
                peak += n * p.rated_kw * cool.peak_pue / K
                more = (p.training_kw - p.idle_kw) / p.accelerators * x
                energy += (n * p.idle_kw + more) * cool.pue * HOURS / K
        return peak, energy

    def _more_sides(
        self, s: SiteTerms, energy: float, room: float, kept_mw: float, steps: int
    ) -> tuple[list[float], list[float]]:
        """Sides of what a battery carries, of its refilling, of a run, and of a contract."""
        upper = [0.0] * len(self._carried(s)) + [room] * sum(
            e.battery is not None for e in s.onsite
        )
        lower = [-INF] * len(upper)
        if s.tranches:
            cut = any(y.mw[self.t] for y in s.tranches)
            lower.append(kept_mw - s.utility_mw[self.t] if cut else -INF)
            upper.append(INF)
        for x in s.contracts:
            first, last = self.t >= x.first, steps * x.step_mw * HOURS
            upper += [last if first else 0.0, INF]
            lower += [-INF, -energy]
        return lower, upper

    def _power_sides(
        self, s: SiteTerms, peak: float, energy: float, units: int, *, used: bool
    ) -> tuple[list[float], list[float]]:
        firm = s.utility_mw[self.t]
        carried = sum(
            e.unit_mw
            * max(units - e.spare_units, 0)
            * (e.battery.available_frac if e.battery is not None else 1.0)
            for e in s.onsite
        )
        billed = (peak, s.minimum_take_frac * firm if used else 0.0)
        if s.demand_usd_per_kw_month <= 0:
            billed = (0.0, 0.0)
        pairs = [
            (peak - firm, INF),
            (-INF, carried),
            (-INF, HOURS * firm - energy),
            (-energy, INF),
            (-INF, 0.0),
            (0.0, INF),
            (billed[0], INF),
            (billed[1], INF),
        ]
        return [x for x, _ in pairs], [x for _, x in pairs]

    def carbon(self, site: SiteTerms) -> dict[int, float]:
        """Carbon of each column at a site, in t."""
        grid = site.grid_g_per_kwh / K
        found = {
            i: self._kw(self.problem.demand(d), p) * HOURS / K * grid
            for p in self.place
            if self.site_of[p.hall] == site.id
            for d, i in self._serving(p.hall, p.system).items()
        }
        lost = {i: mwh * grid for i, mwh in self.losses(site).items()}
        return (
            found
            | lost
            | {
                self.columns["mwh", site.id, e.id]: e.g_per_kwh / K - grid
                for e in site.onsite
                if e.battery is None
            }
        )

    def solve(self, sides: Sides) -> tuple[float, Vector] | None:
        """Least cost in 1,000 USD and the columns; None where nothing is feasible."""
        if self._solver is None:
            self._solver = program(self.cost, self.most, self.rows, sides.lower, sides.upper)
        n = len(self.rows)
        self._solver.changeRowsBounds(n, np.arange(n, dtype=np.int32), sides.lower, sides.upper)
        found = solved(self._solver)
        return None if found is None else (found[0] + sides.kusd, found[1])
