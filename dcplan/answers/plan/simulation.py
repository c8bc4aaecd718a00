"""Monte Carlo simulation of a plan: spread of its cost, cost drivers, frequency of shortfalls."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from dcplan.economics.sampling import Marginal
from dcplan.inputs.log import InputLog
from dcplan.planning.solve.solved import Solved
from dcplan.planning.uncertainty.simulation import (
    Evaluator,
    SampledScenario,
    SimulatedOutcome,
    sampled,
)
from dcplan.result import Metric, Table
from dcplan.scenario.schema import Uncertainty
from dcplan.specs.plan import metrics as figures
from dcplan.specs.plan import simulation as specs

Array = npt.NDArray[np.float64]
QUANTILES = (0.05, 0.10, 0.50, 0.90, 0.95)
SERVED = 1e-6
"""Unserved demand below this share of a unit is a rounding error."""


def simulation_of(
    solved: Solved, asked: Uncertainty, log: InputLog, stop: Callable[[], bool] | None = None
) -> tuple[dict[str, Metric], dict[str, Table]]:
    """Return metrics and tables of a plan over the sampled scenarios of its ``uncertainty``."""
    if solved.audit is None or solved.decisions is None or not asked.inputs:
        return {}, {}
    spread = {}
    for name in asked.inputs:
        quantity = getattr(asked, name)
        log.take(f"uncertainty.{name}", quantity)
        low, high = quantity.bounds
        spread[name] = Marginal(low, quantity.value, high)
    scenarios = sampled(spread, asked.samples, asked.seed)
    evaluator = Evaluator(solved.problem, solved.decisions, solved.audit.books)
    found: list[SimulatedOutcome] = []
    for scenario in scenarios:
        if stop is not None and stop():
            break
        found.append(evaluator.simulated_outcome(scenario))
    if not found:
        return {}, {}
    costs = np.array([x.npv_usd for x in found])
    tail = _tail(costs, asked.tail_frac)
    p10, p50, p90 = (float(np.quantile(costs, q)) for q in (0.10, 0.50, 0.90))
    metrics = {
        **figures.NPV_MEAN(
            float(costs.mean()),
            low=p10,
            high=p90,
            label=f"Mean net present cost{solved.problem.goal.basis} of {costs.size} sampled scenarios",
        ),
        **figures.NPV_P50(p50),
        **figures.NPV_P90(p90),
        **figures.NPV_CVAR(
            tail, label=f"Mean of the worst {asked.tail_frac:.0%} of the sampled scenarios (CVaR)"
        ),
    }
    tables = {
        "monte_carlo": _spread(solved, found, costs, asked.tail_frac),
        "cost_drivers": _drivers(asked, scenarios, costs),
    }
    return metrics, tables


def _spread(
    solved: Solved, found: Sequence[SimulatedOutcome], costs: Array, tail_frac: float
) -> Table:
    """Return the spread of cost, delay, unserved demand and rent over the sampled scenarios."""

    def row(what: str, unit: str, values: Array, bad_frac: float | None) -> specs.MonteCarloRow:
        p5, p10, p50, p90, p95 = (float(np.quantile(values, q)) for q in QUANTILES)
        tail = _tail(values, tail_frac)
        return specs.MonteCarloRow(
            what, unit, float(values.mean()), p5, p10, p50, p90, p95, tail_frac, tail, bad_frac
        )

    planned = solved.cost_usd
    rows = [
        row(
            f"net present cost{solved.problem.goal.basis}",
            "USD",
            costs,
            float((costs > planned).mean()),
        )
    ]
    for run in sorted(solved.decisions.whole_runs if solved.decisions else (), key=lambda r: r.job):
        late = np.array([x.late_days[run.job] for x in found])
        share = float((late > 0).mean())
        rows.append(row(f"{run.job}: days after its deadline", "days", late, share))
    for demand in solved.problem.required:
        unmet = np.array([x.unmet.get(demand.id, 0.0) for x in found])
        share = float((unmet > SERVED).mean())
        rows.append(row(f"{demand.id}: unserved", f"{demand.unit} x quarters", unmet, share))
    hours = np.array([x.rented_hours for x in found])
    rows.append(row("rented accelerator-hours", "h", hours, None))
    return specs.MONTE_CARLO.table(rows)


def _tail(values: Array, frac: float) -> float:
    """Return the mean of the worst share (CVaR)."""
    return float(np.sort(values)[-max(round(frac * values.size), 1) :].mean())


def _drivers(asked: Uncertainty, scenarios: Sequence[SampledScenario], costs: Array) -> Table:
    """Return the inputs by their effect on the cost, with the cost at both ends.

    The measure is the rank correlation (Spearman). An end is the 20 % of sampled scenarios with the
    lowest or highest values of the input.
    """
    rows = []
    for name in asked.inputs:
        values = np.array([getattr(f, name) for f in scenarios[: costs.size]])
        if np.ptp(values) == 0:
            continue
        order = np.argsort(values, kind="stable")
        fifth = max(costs.size // 5, 1)
        low, high = float(costs[order[:fifth]].mean()), float(costs[order[-fifth:]].mean())
        rank = float(np.corrcoef(_ranks(values), _ranks(costs))[0, 1])
        rows.append(specs.DriverRow(name, _in_words(name), rank, low, high, high - low))
    return specs.DRIVERS.table(sorted(rows, key=lambda row: -abs(row.difference_usd)))


def _in_words(name: str) -> str:
    """Return an uncertain input in words."""
    return {"delivery_days": "delivery delay"}.get(name, name.replace("_", " "))


def _ranks(values: Array) -> Array:
    ranks = np.empty(values.size)
    ranks[np.argsort(values, kind="stable")] = np.arange(values.size)
    return ranks
