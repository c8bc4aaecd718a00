"""The goal of a plan: the measure to minimize, and limits on other measures."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from dcplan.planning.keys import Key
from dcplan.specs.plan import metrics
from dcplan.units import USD_PER_MUSD

COST, AFTER_TAX, CAPEX, CARBON, OWN_CARBON, COMPUTE, TIME, PEAK, WAIT = (
    "cost",
    "after_tax_cost",
    "capex",
    "carbon",
    "own_carbon",
    "compute",
    "time",
    "peak",
    "wait",
)
DAYS = "days:"
"""Prefix of a job's id: the duration of its run."""
OBJECTIVES = {
    "min_cost": COST,
    "min_after_tax_cost": AFTER_TAX,
    "max_compute": COMPUTE,
    "min_time": TIME,
    "min_carbon": CARBON,
}
MONEY = frozenset({COST, AFTER_TAX})
"""Measures in M USD of all payments: a plan of least cost does no more work than it must."""
METRICS = {
    metrics.NPV.key: (COST, USD_PER_MUSD),
    metrics.AFTER_TAX_NPV.key: (AFTER_TAX, USD_PER_MUSD),
    metrics.CAPEX.key: (CAPEX, USD_PER_MUSD),
    metrics.OPERATIONAL_CARBON.key: (OWN_CARBON, 1.0),
    metrics.CARBON_WITH_CLOUD.key: (CARBON, 1.0),
    metrics.COMPUTE.key: (COMPUTE, -1.0),
    metrics.PEAK_FACILITY.key: (PEAK, 1.0),
    metrics.TOTAL_COMPLETION.key: (TIME, 1.0),
}
"""Metric -> measure and factor from measure to metric; measures are minimized, so compute is
negative."""


@dataclass(frozen=True)
class Limit:
    """An upper limit on a measure.

    It applies in the model, which counts fractions of switches, and to the audited plan.
    """

    measure: str
    most: float
    audited_most: float = math.inf


@dataclass(frozen=True)
class Goal:
    """The measure to minimize, and upper limits on others."""

    measure: str = COST
    limits: tuple[Limit, ...] = ()

    @property
    def measures(self) -> set[str]:
        """Return all measures that the model must contain."""
        return {self.measure, *(limit.measure for limit in self.limits)}

    @property
    def basis(self) -> str:
        """Return what the present cost of the goal is after, in words that follow it."""
        return " after taxes and debt" if self.measure == AFTER_TAX else ""

    @property
    def serves_only_demands(self) -> bool:
        """Return whether a best plan serves no more than each demand.

        Work beyond a demand improves no measure but compute.
        """
        return COMPUTE not in self.measures


@dataclass(frozen=True)
class EarlierPlan:
    """An earlier plan that a new plan must stay close to.

    It has the integer decisions by column, the last frozen quarter, and the maximum changes.
    """

    values: Mapping[Key, float]
    freeze_through: int = -1
    """Last quarter with fixed orders, halls, blocks, runs and fabrics; -1 for none."""
    most_changes: int | None = None
    """Maximum number of different orders, runs and fabrics after that quarter."""


def measure_of(metric: str) -> tuple[str, float] | None:
    """Return the measure of a metric key, and its factor; None if it cannot be minimized.

    Examples
    --------
    >>> measure_of("cost.npv_usd"), measure_of("train.flagship.days"), measure_of("solver.gap_frac")
    (('cost', 1000000.0), ('days:flagship', 1.0), None)
    """
    if metric in METRICS:
        return METRICS[metric]
    job = metrics.DAYS.ids_in(metric)
    return (DAYS + job[0], 1.0) if job else None
