"""Monte Carlo simulation of a plan.

Decisions stay, recourse decisions follow from an LP, and the cost is recomputed.

Orders, halls, fabrics, blocks, commitments and runs (place, size, planned start) are fixed.
Hardware may be late, runs may take longer, demand and prices may differ. The LP then serves demand
with the remaining own accelerators, with rented accelerators, or leaves it unserved.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from dcplan.economics.cash_flow import AssetClass, Flow, FlowGroup
from dcplan.economics.sampling import Marginal, samples
from dcplan.inputs.cloud_prices import HOURLY, offer_of
from dcplan.planning.audit.books.books import Accounts
from dcplan.planning.audit.measures import cost_usd, weights_of
from dcplan.planning.audit.rent.use import in_force
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.problem.work.terms import RunOption
from dcplan.planning.uncertainty.recourse import Recourse, recourse_of
from dcplan.planning.uncertainty.replicas import serving_limits
from dcplan.units import DAYS_PER_MONTH, DAYS_PER_QUARTER, HOURS_PER_DAY, HOURS_PER_QUARTER

INPUTS = (
    "hardware_price",
    "energy_price",
    "cloud_price",
    "step_time",
    "tokens",
    "demand",
    "delivery_days",
)
"""Uncertain inputs: factors, and days."""


@dataclass(frozen=True)
class SampledScenario:
    """One sampled scenario: factors on the plan's values, and delivery delay in days."""

    hardware_price: float = 1.0
    energy_price: float = 1.0
    cloud_price: float = 1.0
    step_time: float = 1.0
    tokens: float = 1.0
    demand: float = 1.0
    delivery_days: float = 0.0


@dataclass(frozen=True)
class SimulatedOutcome:
    """Outcome of a plan in one sampled scenario."""

    npv_usd: float
    unmet: Mapping[str, float]
    """Unserved demand, in its unit times quarters."""
    late_days: Mapping[str, float]
    """Days after the deadline by job; negative means early."""
    rented_hours: float


def sampled(spread: Mapping[str, Marginal], count: int, seed: int) -> list[SampledScenario]:
    """Return scenarios sampled by a Latin hypercube over the distributions of the inputs.

    Examples
    --------
    >>> found = sampled({"energy_price": Marginal(0.8, 1.0, 1.5)}, 100, 7)
    >>> len(found), min(f.energy_price for f in found) >= 0.8, found[0].tokens
    (100, True, 1.0)
    """
    drawn = samples(spread, count, seed=seed)
    return [
        SampledScenario(**{name: float(values[i]) for name, values in drawn.items()})
        for i in range(count)
    ]


class Evaluator:
    """Evaluator of one plan; values that do not depend on the sample are computed once."""

    def __init__(self, problem: PlanningProblem, d: Decisions, books: Accounts) -> None:
        self.problem, self.d, self.books = problem, d, books
        weights, flows = weights_of(problem), books.flows
        self.factor = weights.running
        self.base_usd = cost_usd(problem, flows)
        self.hardware_usd = cost_usd(problem, _racks(flows))
        self.energy_usd = cost_usd(problem, [f for f in flows if f.asset is AssetClass.GRID_ENERGY])
        self.on_demand_usd = self._on_demand(flows)
        self.priced_unmet_usd = cost_usd(
            problem, [f for f in flows if f.group is FlowGroup.UNSERVED]
        )
        self.arrivals = _arrivals(problem, d)
        self.size = {p.key: p.accelerators for p in problem.placements}
        self.racks = {
            (p.key, t): d.powered(problem, p.key, t)
            for p in problem.placements
            for t in range(problem.quarters)
        }
        self.recourse: Recourse = recourse_of(problem, weights, serving_limits(problem, d))

    def _on_demand(self, flows: Sequence[Flow]) -> float:
        """Return the present value of rent by the hour."""
        rented = [f for f in flows if f.group is FlowGroup.CLOUD and f.term in HOURLY]
        return cost_usd(self.problem, rented)

    def simulated_outcome(self, sample: SampledScenario) -> SimulatedOutcome:
        """Return cost, service and lateness of the plan in one sampled scenario."""
        starts = self._starts(sample)
        training, in_use, hours = self._busy(starts, sample)
        there = {key: self._accelerators(*key, sample) for key in self.racks}
        used = {
            key: training.get(key, 0.0) + self.d.paused.get((*key[0], key[1]), 0.0) for key in there
        }
        room = {key: max(n - used[key], 0.0) for key, n in there.items()}
        found = self.recourse.solve(
            room, in_use, sample.demand, sample.energy_price, sample.cloud_price, self._bound()
        )
        moved = self._energy_moved_usd(training, there, found.serving)
        usd = self.base_usd
        usd += (sample.hardware_price - 1.0) * self.hardware_usd
        usd += (sample.energy_price - 1.0) * self.energy_usd + sample.energy_price * moved
        usd += found.rented_usd - self.on_demand_usd
        usd += found.unmet_usd - self.priced_unmet_usd
        return SimulatedOutcome(
            usd, found.unmet, self._late(starts, sample), hours + found.rented_hours
        )

    def _bound(self) -> dict[tuple[str, int], float]:
        """Return the committed accelerators by offer and quarter."""
        return {
            (o.id, t): float(in_force(self.d, o, t))
            for o in self.problem.offers
            for t in range(self.problem.quarters)
        }

    def _length(self, run: RunOption, sample: SampledScenario) -> float:
        return run.days_p50 * sample.step_time * sample.tokens

    def _starts(self, sample: SampledScenario) -> dict[str, float]:
        """Return the first day of every run: its hardware has arrived and enough of it is free."""
        starts: dict[str, float] = {}
        busy: dict[tuple[str, str], list[tuple[float, float, int]]] = {}
        parts: dict[str, list[RunOption]] = {}
        for run in self.d.runs:
            parts.setdefault(run.job, []).append(run)
        for job in sorted(parts, key=lambda x: (parts[x][0].start_month, x)):
            day = max(self._ready(run, busy, sample) for run in parts[job])
            for run in parts[job]:
                if not run.on_cloud:
                    span = (day, day + self._length(run, sample), run.accelerators)
                    busy.setdefault((run.place, run.system), []).append(span)
            starts[job] = day
        return starts

    def _ready(
        self,
        run: RunOption,
        busy: dict[tuple[str, str], list[tuple[float, float, int]]],
        sample: SampledScenario,
    ) -> float:
        """Return the first day on which the accelerators of a run, or of its part, are there and free."""
        day = run.start_month * DAYS_PER_MONTH
        if run.on_cloud:
            return day
        came = [a for (h, _, k), a, _ in self.arrivals if (h, k) == (run.place, run.system)]
        last = max((a for a in came if a <= run.serving_quarter), default=None)
        if last is not None:
            day = max(day, last * DAYS_PER_QUARTER + sample.delivery_days)
        others = busy.get((run.place, run.system), [])
        return _first_free(day, run.accelerators, others, partial(self._capacity, run))

    def _capacity(self, run: RunOption, day: float) -> int:
        t = min(int(day // DAYS_PER_QUARTER), self.problem.quarters - 1)
        own = (p for p in self.problem.placements if (p.hall, p.system) == (run.place, run.system))
        return sum(self.racks[p.key, t] * p.accelerators for p in own)

    def _busy(
        self, starts: Mapping[str, float], sample: SampledScenario
    ) -> tuple[dict[tuple[tuple[str, str, str], int], float], dict[tuple[str, int], float], float]:
        """Return accelerators in training by placement and quarter.

        It also returns rented accelerators by offer and quarter, and rented hours.
        """
        training: dict[tuple[tuple[str, str, str], int], float] = {}
        in_use: dict[tuple[str, int], float] = {}
        hours = 0.0
        for run in self.d.runs:
            length = self._length(run, sample)
            if run.on_cloud:
                hours += run.accelerators * length * HOURS_PER_DAY
            for t in range(self.problem.quarters):
                share = _overlap(starts[run.job], length, t) / DAYS_PER_QUARTER
                if share <= 0:
                    continue
                if run.on_cloud:
                    key = (offer_of(run.place), t)
                    in_use[key] = in_use.get(key, 0.0) + run.accelerators * share
                    continue
                for place, part in self._parts(run, t):
                    training[place, t] = (
                        training.get((place, t), 0.0)
                        + run.accelerators * run.training_frac * share * part
                    )
        return training, in_use, hours

    def _parts(self, run: RunOption, t: int) -> list[tuple[tuple[str, str, str], float]]:
        """Return the placements of a run's system in its hall, weighted by racks."""
        own = [
            p.key for p in self.problem.placements if (p.hall, p.system) == (run.place, run.system)
        ]
        total = sum(self.racks[key, t] for key in own)
        return [(key, self.racks[key, t] / total) for key in own] if total else []

    def _accelerators(self, key: tuple[str, str, str], t: int, sample: SampledScenario) -> float:
        """Return the average accelerators of a quarter; late hardware counts from its arrival."""
        missing = sum(
            n * _overlap(a * DAYS_PER_QUARTER, sample.delivery_days, t) / DAYS_PER_QUARTER
            for k, a, n in self.arrivals
            if k == key
        )
        return self.size[key] * max(self.racks[key, t] - missing, 0.0)

    def _energy_moved_usd(
        self,
        training: Mapping[tuple[tuple[str, str, str], int], float],
        there: Mapping[tuple[tuple[str, str, str], int], float],
        serving: Mapping[tuple[str, tuple[str, str, str], int], float],
    ) -> float:
        """Return the sample's energy cost minus the plan's, discounted, at planned prices."""
        total = 0.0
        for place in self.problem.placements:
            cooled = self.problem.cooled(place.key)
            site = self.problem.site(self.problem.hall(place.hall).site)
            for t in range(self.problem.quarters):
                rate = (
                    HOURS_PER_QUARTER
                    * cooled.pue_at(self.problem.season(t))
                    * site.usd_per_kwh[t]
                    * self.factor[t]
                    / place.accelerators
                )
                change = (place.training_kw - place.idle_average_kw) * (
                    training.get((place.key, t), 0.0) - self.d.training.get((*place.key, t), 0.0)
                )
                for c in self.problem.demands:
                    more = serving.get((c.id, place.key, t), 0.0) - self.d.serving.get(
                        (c.id, *place.key, t), 0.0
                    )
                    change += place.serving_kw(c) * place.accelerators * more
                planned = self.racks[place.key, t] * place.accelerators
                change += place.idle_average_kw * (there[place.key, t] - planned)
                total += rate * change
        return total

    def _late(self, starts: Mapping[str, float], sample: SampledScenario) -> dict[str, float]:
        terms = {j.id: j for j in self.problem.jobs}
        late = {}
        for run in self.d.runs:
            job, length = terms[run.job], self._length(run, sample)
            after = starts[run.job] + length - job.end_day
            late[run.job] = (
                after if job.deadline_days is None else max(after, length - job.deadline_days)
            )
        return late


def _racks(flows: Sequence[Flow]) -> list[Flow]:
    """Return payments at prices that may still change, and the residual value of their hardware."""
    return [f for f in flows if f.asset in (AssetClass.RACKS, AssetClass.LEASED)]


def _arrivals(
    problem: PlanningProblem, d: Decisions
) -> list[tuple[tuple[str, str, str], int, int]]:
    """Return placement, quarter and racks of all hardware that has not yet arrived."""
    lead = {p.key: p.lead for p in problem.placements}
    found = [((h, c, k), t + lead[h, c, k], n) for (h, c, k, t), n in d.ordered.items()]
    return found + [
        (x.key, x.first, d.existing_racks(x, x.first)) for x in problem.existing if not x.in_service
    ]


def _overlap(first: float, days: float, t: int) -> float:
    """Return the days of a period in a quarter."""
    return max(
        0.0, min(first + days, (t + 1) * DAYS_PER_QUARTER) - max(first, t * DAYS_PER_QUARTER)
    )


def _first_free(
    day: float,
    wanted: int,
    others: Sequence[tuple[float, float, int]],
    capacity: Callable[[float], int],
) -> float:
    """Return the first day with enough accelerators that earlier runs do not use."""
    for moment in sorted({day, *(end for _, end, _ in others if end > day)}):
        in_use = sum(n for begin, end, n in others if begin <= moment + 1e-9 < end)
        if in_use + wanted <= capacity(moment):
            return moment
    return max((end for _, end, _ in others), default=day)
