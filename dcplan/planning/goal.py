"""What a plan minimises, and what besides must stay within a limit: measures of a plan by name."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from dcplan.planning.keys import Key
from dcplan.specs.plan import metrics
from dcplan.units import USD_PER_MUSD

COST, CAPEX, CARBON, OWN_CARBON, COMPUTE, TIME, PEAK = (
    "cost",
    "capex",
    "carbon",
    "own_carbon",
    "compute",
    "time",
    "peak",
)
DAYS = "days:"
"""Before a job's id: the length of its run."""
OBJECTIVES = {"min_cost": COST, "max_compute": COMPUTE, "min_time": TIME, "min_carbon": CARBON}
METRICS = {
    metrics.NPV.key: (COST, USD_PER_MUSD),
    metrics.CAPEX.key: (CAPEX, USD_PER_MUSD),
    metrics.OPERATIONAL_CARBON.key: (OWN_CARBON, 1.0),
    metrics.CARBON_WITH_CLOUD.key: (CARBON, 1.0),
    metrics.COMPUTE.key: (COMPUTE, -1.0),
    metrics.PEAK_FACILITY.key: (PEAK, 1.0),
    metrics.TOTAL_COMPLETION.key: (TIME, 1.0),
}
"""Metric -> measure, and what turns the measure into the metric; measures are minimised, so
compute is negative."""


@dataclass(frozen=True)
class Limit:
    """A measure's upper limit.

    In the model, which counts switches in shares, and of the audited plan.
    """

    measure: str
    most: float
    audited_most: float = math.inf


@dataclass(frozen=True)
class Goal:
    """The measure to minimise, and upper limits of others."""

    measure: str = COST
    limits: tuple[Limit, ...] = ()

    @property
    def measures(self) -> set[str]:
        """All measures that the model must know."""
        return {self.measure, *(limit.measure for limit in self.limits)}


@dataclass(frozen=True)
class EarlierPlan:
    """An earlier plan to stay close to.

    Its whole decisions by column, those that are frozen, how many may change.
    """

    values: Mapping[Key, float]
    freeze_through: int = -1
    """Last quarter whose orders, halls, blocks, runs and fabrics stay; -1 for none."""
    most_changes: int | None = None
    """Orders by quarter, runs and fabrics that may differ after it."""


def measure_of(metric: str) -> tuple[str, float] | None:
    """Return the measure of a metric key, and its factor; None where it cannot be minimised.

    Examples
    --------
    >>> measure_of("cost.npv_usd"), measure_of("train.flagship.days"), measure_of("solver.gap_frac")
    (('cost', 1000000.0), ('days:flagship', 1.0), None)
    """
    if metric in METRICS:
        return METRICS[metric]
    job = metrics.DAYS.ids_in(metric)
    return (DAYS + job[0], 1.0) if job else None
