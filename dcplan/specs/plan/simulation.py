"""Spread of a plan over sampled scenarios, and the inputs that drive it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.specs.table import Column, Section, Shown, TableSpec


@dataclass(frozen=True)
class MonteCarloRow:
    """Spread of one quantity over the sampled scenarios."""

    what: Annotated[str, Column("Simulated quantity")]
    unit: Annotated[str, Column("Unit of the quantity")]
    mean: Annotated[float, Column("Mean over the sampled scenarios")]
    p5: Annotated[float, Column("5th percentile over the sampled scenarios")]
    p10: Annotated[float, Column("10th percentile over the sampled scenarios")]
    p50: Annotated[float, Column("Median over the sampled scenarios")]
    p90: Annotated[float, Column("90th percentile over the sampled scenarios")]
    p95: Annotated[float, Column("95th percentile over the sampled scenarios")]
    tail_frac: Annotated[
        float, Column("Share of the sampled scenarios, the worst ones, that the CVaR averages")
    ]
    cvar: Annotated[float, Column("CVaR: mean of the worst sampled scenarios")]
    worse_than_plan_frac: Annotated[
        float | None,
        Column(
            "Share of sampled scenarios that cost more, finish after the deadline or leave "
            "demand unserved"
        ),
    ]


MONTE_CARLO = TableSpec(
    "monte_carlo", MonteCarloRow, "Monte Carlo simulation of the plan", section=Section.RISK
)


@dataclass(frozen=True)
class DriverRow:
    """Effect of one input on the cost over the sampled scenarios."""

    input: Annotated[
        str,
        Column(
            "Name of the varied input, as in the scenario's uncertainty block", shown=Shown.VERBOSE
        ),
    ]
    what: Annotated[str, Column("The varied input in words")]
    rank_correlation: Annotated[
        float, Column("Rank correlation (Spearman) of the input with the net present cost")
    ]
    cost_at_low_usd: Annotated[
        float,
        Column(
            "Mean net present cost of the 20% of sampled scenarios with the lowest values of this "
            "input"
        ),
    ]
    cost_at_high_usd: Annotated[
        float,
        Column(
            "Mean net present cost of the 20% of sampled scenarios with the highest values of this "
            "input"
        ),
    ]
    difference_usd: Annotated[float, Column("Cost at high less cost at low")]


DRIVERS = TableSpec(
    "cost_drivers",
    DriverRow,
    "Cost drivers in the simulation: mean cost at low and high values of one input",
    first=5,
    section=Section.RISK,
    by_item=True,
)
