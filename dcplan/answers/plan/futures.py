"""A plan against sampled futures: how its cost spreads, what drives it, how often runs are late,
demand unserved.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from dcplan.economics.sampling import Marginal
from dcplan.inputs.log import Ledger
from dcplan.planning.solve.solved import Solved
from dcplan.planning.uncertainty.futures import Evaluator, Future, Outturn, sampled
from dcplan.result import Cell, Metric, Table
from dcplan.scenario.schema import Uncertainty

Array = npt.NDArray[np.float64]
QUANTILES = (0.05, 0.10, 0.50, 0.90, 0.95)
SERVED = 1e-6
"""Unserved demand below this share of a unit is rounding."""


def futures_of(
    solved: Solved, asked: Uncertainty, ledger: Ledger, stop: Callable[[], bool] | None = None
) -> tuple[dict[str, Metric], dict[str, Table]]:
    """Metrics and tables of the plan in the futures that the scenario's ``uncertainty`` samples."""
    if solved.audit is None or solved.decisions is None or not asked.inputs:
        return {}, {}
    spread = {}
    for name in asked.inputs:
        quantity = getattr(asked, name)
        ledger.take(f"uncertainty.{name}", quantity)
        low, high = quantity.bounds
        spread[name] = Marginal(low, quantity.value, high)
    futures = sampled(spread, asked.samples, asked.seed)
    evaluator = Evaluator(solved.menu, solved.decisions, solved.audit.books)
    found: list[Outturn] = []
    for future in futures:
        if stop is not None and stop():
            break
        found.append(evaluator.outturn(future))
    if not found:
        return {}, {}
    costs = np.array([x.npv_usd for x in found])
    tail = _tail(costs, asked.tail_frac)
    p10, p50, p90 = (float(np.quantile(costs, q)) for q in (0.10, 0.50, 0.90))
    metrics = {
        "futures.npv_mean_usd": Metric(
            float(costs.mean()), "USD", f"Mean of {costs.size} futures", p10, p90
        ),
        "futures.npv_p50_usd": Metric(p50, "USD", "Median of the futures"),
        "futures.npv_p90_usd": Metric(p90, "USD", "A tenth of the futures cost more"),
        "futures.npv_tail_usd": Metric(
            tail, "USD", f"Mean of the worst {asked.tail_frac:.0%} (CVaR)"
        ),
    }
    tables = {
        "futures": _spread(solved, found, costs, asked.tail_frac),
        "drivers": _drivers(asked, futures, costs),
    }
    return metrics, tables


def _spread(solved: Solved, found: Sequence[Outturn], costs: Array, tail_frac: float) -> Table:
    rows: list[tuple[Cell, ...]] = []

    def row(what: str, unit: str, values: Array, bad_frac: float | None) -> None:
        quantiles = (float(np.quantile(values, q)) for q in QUANTILES)
        rows.append(
            (what, unit, float(values.mean()), *quantiles, _tail(values, tail_frac), bad_frac)
        )

    planned = solved.audit.npv_usd if solved.audit else 0.0
    row("net present cost", "USD", costs, float((costs > planned).mean()))
    for run in sorted(solved.decisions.runs if solved.decisions else (), key=lambda r: r.job):
        late = np.array([x.late_days[run.job] for x in found])
        row(f"{run.job}: days after its deadline", "days", late, float((late > 0).mean()))
    for demand in solved.menu.demands:
        unmet = np.array([x.unmet.get(demand.id, 0.0) for x in found])
        unit = f"{demand.unit} x quarters"
        row(f"{demand.id}: not served", unit, unmet, float((unmet > SERVED).mean()))
    hours = np.array([x.rented_hours for x in found])
    row("rented accelerator-hours", "h", hours, None)
    columns = (
        "what",
        "unit",
        "mean",
        "p5",
        "p10",
        "p50",
        "p90",
        "p95",
        "tail_mean",
        "worse_than_planned_frac",
    )
    return Table(columns, tuple(rows))


def _tail(values: Array, frac: float) -> float:
    """Mean of the worst share (CVaR)."""
    return float(np.sort(values)[-max(round(frac * values.size), 1) :].mean())


def _drivers(asked: Uncertainty, futures: Sequence[Future], costs: Array) -> Table:
    """Inputs by how much of the cost's ranking follows theirs (Spearman), and the cost in their
    low and high fifth.
    """
    rows: list[tuple[Cell, ...]] = []
    for name in asked.inputs:
        values = np.array([getattr(f, name) for f in futures[: costs.size]])
        if np.ptp(values) == 0:
            continue
        order = np.argsort(values, kind="stable")
        fifth = max(costs.size // 5, 1)
        low, high = float(costs[order[:fifth]].mean()), float(costs[order[-fifth:]].mean())
        rows.append(
            (name, float(np.corrcoef(_ranks(values), _ranks(costs))[0, 1]), low, high, high - low)
        )
    rows.sort(key=lambda r: -abs(float(str(r[4]))))
    return Table(
        ("input", "rank_correlation", "cost_at_low_usd", "cost_at_high_usd", "difference_usd"),
        tuple(rows),
    )


def _ranks(values: Array) -> Array:
    ranks = np.empty(values.size)
    ranks[np.argsort(values, kind="stable")] = np.arange(values.size)
    return ranks
