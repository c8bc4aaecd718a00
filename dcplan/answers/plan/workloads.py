"""Who is served by what, and what it costs: the workloads of a plan and their metrics."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from dcplan.inputs.cloud_prices import cloud_place
from dcplan.planning.audit.allocation import Allocation, Bearer, Part, allocate
from dcplan.planning.audit.books.books import Accounts
from dcplan.planning.audit.measures import served
from dcplan.planning.audit.uses import NAMES, UNUSED, Kind, kinds, run_days
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.problem.work.terms import DemandTerms
from dcplan.result import Metric
from dcplan.specs.plan import metrics as figures
from dcplan.units import HOURS_PER_QUARTER, SECONDS_PER_HOUR, TOKENS_PER_MTOKEN

TOKENS_PER_S = "tokens_per_s"
"""Scenario field of demands that are counted in tokens."""
DAYS = "days"
"""Unit of the amount of a training run."""
SECONDS_PER_QUARTER = HOURS_PER_QUARTER * SECONDS_PER_HOUR
Cell = tuple[Bearer, int]


@dataclass(frozen=True)
class Workloads:
    """The workloads of a plan with their cost, amounts and tokens."""

    problem: PlanningProblem
    allocation: Allocation
    kinds: Mapping[str, Kind]
    amounts: Mapping[Cell, float]
    units: Mapping[str, str]
    million_tokens: Mapping[tuple[str, int], float]
    """Tokens served by workload and quarter."""

    @property
    def present(self) -> dict[str, dict[Part, float]]:
        """Return the present cost by part of every workload, in order, without empty rows."""
        found = self.allocation.present_usd()
        return {name: found[name] for name in self.names if name in found}

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of all rows in order; none if the plan has no workloads."""
        return (*self.kinds, *NAMES) if self.kinds else ()

    def kind(self, name: str) -> Kind:
        """Return the kind of a row."""
        return self.kinds.get(name) or NAMES[name]

    def hours(self) -> dict[Cell, float]:
        """Return the accelerator-hours of each bearer by quarter."""
        found: dict[Cell, float] = defaultdict(float)
        for x in self.allocation.uses:
            found[Bearer(x.workload, x.place, x.system), x.quarter] += x.accelerator_hours
        return {cell: x for cell, x in found.items() if x}

    def energy_mwh(self) -> dict[Cell, float]:
        """Return the energy of each bearer by quarter; 0 for rent."""
        found: dict[Cell, float] = defaultdict(float)
        for x in self.allocation.uses:
            found[Bearer(x.workload, x.place, x.system), x.quarter] += x.energy_mwh
        return found

    def usd(self) -> dict[Cell, float]:
        """Return the cost of each bearer by quarter, all parts together, not discounted."""
        found: dict[Cell, float] = defaultdict(float)
        for (who, _, t), x in self.allocation.charges.items():
            found[who, t] += x
        return {cell: x for cell, x in found.items() if x}

    def usd_per_million_tokens(self, name: str) -> float | None:
        """Return the present cost over the discounted million tokens; None without tokens."""
        tokens = {t: x for (w, t), x in self.million_tokens.items() if w == name}
        return per_unit(sum(self.present[name].values()), self._discounted(tokens))

    def usd_per_accelerator_hour(self, name: str) -> float | None:
        """Return the present cost over the discounted accelerator-hours; None without hours."""
        hours: dict[int, float] = defaultdict(float)
        for (who, t), x in self.hours().items():
            if who.workload == name:
                hours[t] += x
        return per_unit(sum(self.present[name].values()), self._discounted(hours))

    def _discounted(self, amounts: Mapping[int, float]) -> float:
        return sum(x * self.allocation.factor(t) for t, x in amounts.items())


def per_unit(usd: float, amount: float) -> float | None:
    """Return the cost of a unit; None if there are none."""
    return usd / amount if amount > 0 else None


def workloads_of(problem: PlanningProblem, d: Decisions, books: Accounts) -> Workloads:
    """Return the workloads of an audited plan with the cost that each bears."""
    amounts: dict[Cell, float] = defaultdict(float)
    tokens: dict[tuple[str, int], float] = defaultdict(float)
    units = {r.job: DAYS for r in d.runs}
    for run in d.runs:
        for t in range(problem.quarters):
            amounts[Bearer(run.job, run.place, run.system), t] += run_days(run, t) / run.parts
    for demand in _counted(problem):
        unit, each = demand.scenario_unit[0], demand.scenario_unit[1] * demand.hours_frac
        units[demand.workload_id] = unit
        for who, t, x in _served(problem, d, demand):
            amounts[who, t] += x * each
        for t in range(problem.quarters) if unit == TOKENS_PER_S else ():
            got = min(sum(served(problem, d, demand, t)), demand.wanted[t]) * each
            tokens[demand.workload_id, t] += got * SECONDS_PER_QUARTER / TOKENS_PER_MTOKEN
    found = allocate(problem, d, books)
    return Workloads(problem, found, kinds(problem), amounts, units, tokens)


def _counted(problem: PlanningProblem) -> list[DemandTerms]:
    """Return the demands that count what a workload is served: no prefill pool, no part twice."""
    prefill = {x.prefill for x in problem.pairs}
    return [x for x in problem.required if x.id not in prefill]


def _served(
    problem: PlanningProblem, d: Decisions, demand: DemandTerms
) -> Iterable[tuple[Bearer, int, float]]:
    """Yield what serves a demand by hall or offer and quarter, in its unit."""
    parts = {x.id: x for x in problem.demand_parts(demand.id)}
    for (c, h, _, k, t), x in d.serving.items():
        if c in parts:
            yield Bearer(demand.workload_id, h, k), t, parts[c].share * x * parts[c].each[h, k]
    chip = {o.id: o.accelerator for o in problem.offers}
    for (c, o, t), x in d.rented.items():
        if c in parts:
            who = Bearer(demand.workload_id, cloud_place(o), chip[o])
            each = parts[c].each.get((who.place, who.system), 0.0)
            yield who, t, parts[c].share * x * each


def workload_metrics(w: Workloads) -> dict[str, Metric]:
    """Return the present cost of each workload, per million tokens, and of unused capacity."""
    present, found = w.present, dict[str, Metric]()
    for name in w.kinds:
        found |= figures.WORKLOAD_COST(sum(present.get(name, {}).values()), name)
        if any(workload == name for workload, _ in w.million_tokens):
            usd = w.usd_per_million_tokens(name) if name in present else None
            found |= figures.WORKLOAD_TOKENS(usd, name)
    unused = sum(present.get(UNUSED, {}).values())
    return found | (figures.UNUSED_COST(unused) if w.kinds else {})
