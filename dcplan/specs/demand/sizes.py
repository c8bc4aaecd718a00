"""Tables of what the logs ask for: the check of the replay, sizes, shortage, textbook rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.specs.demand.log import Cluster
from dcplan.specs.metric import Better, MetricSpec
from dcplan.specs.table import Column, Section, Shown, TableSpec

ACCELERATORS = MetricSpec(
    "demand.<cluster>.accelerators",
    "",
    "Accelerators that keep the target in a replay of the log",
    better=Better.LOWER,
    unknown="the replay is too far from the recorded waits, so no size is given",
)
TOTAL = MetricSpec(
    "demand.accelerators", "", "Accelerators of all clusters that have a size", main=True
)
FACTOR = MetricSpec(
    "demand.<cluster>.replay_error_factor",
    "",
    "Factor between replayed and recorded wait on the half of the log that the fit has not seen",
    better=Better.LOWER,
)


@dataclass(frozen=True)
class ReplayRow:
    """One figure of the waits of the second half of a log, recorded and replayed."""

    cluster: Cluster
    figure: Annotated[str, Column("Quantile or mean of the wait for capacity")]
    recorded_h: Annotated[float, Column("As recorded, in the second half of the log")]
    replayed_h: Annotated[float, Column("In the replay that was fitted to the first half")]
    given_h: Annotated[float, Column("In the replay on the given accelerators, without a fit")]
    error_factor: Annotated[
        float, Column("Factor between replayed and recorded, with a minute added to both")
    ]


CHEAPEST = MetricSpec(
    "demand.<cluster>.cheapest_accelerators",
    "",
    "Own accelerators at the lowest cost of own hours and hours elsewhere, of the sizes in shortage",
)
CHEAPEST_USD = MetricSpec(
    "demand.<cluster>.cheapest_usd_per_week",
    "USD/week",
    "Cost of own hours and hours elsewhere at that size",
    better=Better.LOWER,
)

REPLAY = TableSpec(
    "replay_check",
    ReplayRow,
    "Check: replay against record, on jobs that the fit has not seen",
    section=Section.RISK,
    first=12,
)


@dataclass(frozen=True)
class SizeRow:
    """Size of one cluster."""

    cluster: Cluster
    offered_accelerators: Annotated[
        float, Column("Accelerators that the jobs would use on average if nobody waited")
    ]
    accelerators: Annotated[
        float | None, Column("Accelerators that keep the target; empty: no size is given")
    ]
    p10_accelerators: Annotated[
        float | None, Column("10th percentile of that size, with sampled weeks of the log")
    ]
    p90_accelerators: Annotated[float | None, Column("90th percentile of that size")]
    used_frac: Annotated[float | None, Column("Use of the accelerators at that size")]
    order: Annotated[str, Column("Order of the queue that repeats the record best, or as given")]
    effective_frac: Annotated[
        float,
        Column(
            "Share of the given accelerators that repeats the recorded waits; the size is divided "
            "by it where it is below 1"
        ),
    ]
    replay_error_factor: Annotated[
        float | None,
        Column(
            "Factor between replayed and recorded wait at the nearest of the quantiles 0.5, 0.9 "
            "and 0.95 to the asked one; empty: not checked"
        ),
    ]
    why_not: Annotated[str, Column("Why no size is given")]


SIZES = TableSpec("sizes", SizeRow, "Accelerators that the logs ask for", section=Section.ORDERS)


@dataclass(frozen=True)
class ShortageRow:
    """What happens with fewer or more accelerators."""

    cluster: Cluster
    accelerators: Annotated[float, Column("Accelerators of the cluster")]
    wait_p50_h: Annotated[
        float | None, Column("Median wait; empty where the queue grows as long as the log")
    ]
    wait_p95_h: Annotated[float | None, Column("95th percentile of the wait")]
    late_frac: Annotated[float | None, Column("Share of the jobs that wait longer than the target")]
    used_frac: Annotated[float, Column("Use of the accelerators")]
    late_accelerator_hours_per_week: Annotated[
        float | None, Column("Accelerator-hours of the jobs that wait longer than the target")
    ]
    burst_accelerator_hours_per_week: Annotated[
        float,
        Column(
            "Accelerator-hours that run elsewhere if a job leaves when its wait is over the target"
        ),
    ]
    marginal_use_frac: Annotated[
        float | None,
        Column(
            "Hours elsewhere that the accelerators above the row before save, over all their hours: "
            "they pay if an own hour costs less than this share of a rented one"
        ),
    ]
    own_usd_per_week: Annotated[float | None, Column("Cost of the own accelerators, all hours")]
    rent_usd_per_week: Annotated[float | None, Column("Cost of the hours elsewhere")]
    usd_per_week: Annotated[float | None, Column("Both")]


SHORTAGE = TableSpec(
    "shortage", ShortageRow, "Waits by size of the cluster", section=Section.LIMITS, first=14
)


@dataclass(frozen=True)
class AheadRow:
    """Demand of one cluster in a coming quarter."""

    cluster: Cluster
    quarter: Annotated[str, Column("Quarter, or its number without --start")]
    offered_accelerators: Annotated[
        float, Column("Accelerators that the jobs would use on average if nobody waited")
    ]
    p10_accelerators: Annotated[float, Column("10th percentile of that demand")]
    p90_accelerators: Annotated[float, Column("90th percentile of that demand")]
    model: Annotated[str, Column("Models with most of the weight, or the growth as given")]
    error_frac: Annotated[
        float | None, Column("Mean absolute error of forecasts of one quarter on unseen weeks")
    ]
    covered_frac: Annotated[
        float | None, Column("Share of unseen quarters inside the interval of 80 %")
    ]
    origins: Annotated[int | None, Column("Forecasts that were compared", shown=Shown.VERBOSE)]


AHEAD = TableSpec(
    "demand_ahead", AheadRow, "Demand of the coming quarters", section=Section.ORDERS, first=12
)


@dataclass(frozen=True)
class RuleRow:
    """A textbook rule and how far it is from the replay."""

    cluster: Cluster
    rule: Annotated[str, Column("Rule")]
    accelerators: Annotated[float, Column("Accelerators of the rule")]
    replay_frac: Annotated[
        float | None, Column("Accelerators of the rule over those of the replay")
    ]


RULES = TableSpec(
    "rules", RuleRow, "Textbook rules next to the replay", shown=Shown.VERBOSE, section=Section.RISK
)
