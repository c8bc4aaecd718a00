"""Metrics and tables of logged requests to models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.specs.metric import MetricSpec
from dcplan.specs.table import Column, Section, TableSpec

SHORT = "the log is shorter than two minutes"
REQUESTS = MetricSpec("demand.requests", "", "Requests of the log", main=True)
RATE = MetricSpec("demand.requests_per_s", "1/s", "Mean rate of the requests", main=True)
DISPERSION = MetricSpec(
    "demand.dispersion",
    "",
    "Variance over mean of the requests in a minute; 1 if they come at random",
    main=True,
    unknown=SHORT,
)
PEAK = MetricSpec(
    "demand.peak_frac", "", "Most requests of a minute over the mean of a minute", unknown=SHORT
)
PEAK_MINUTE = MetricSpec(
    "demand.peak_minute_requests",
    "",
    "Most requests of a minute, counted from the first request",
    unknown=SHORT,
)
REUSED = MetricSpec(
    "demand.reused_prefix_frac",
    "",
    "Share of the prompt blocks whose prefix an endless cache would have",
    unknown="the log has no hashes of prompt blocks",
)


@dataclass(frozen=True)
class LengthRow:
    """Tokens of the requests."""

    tokens: Annotated[str, Column("Input or output tokens")]
    mean: Annotated[float, Column("Mean of a request")]
    p50: Annotated[float, Column("Median")]
    p95: Annotated[float, Column("95th percentile")]
    most: Annotated[float, Column("Most tokens of a request")]
    tokens_per_s: Annotated[float, Column("Mean of all requests per second")]


LENGTHS = TableSpec("lengths", LengthRow, "Tokens of the requests", section=Section.ORDERS)
