"""Metrics and tables of ``validate price-performance``: published prices of tokens and dcplan's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.specs.metric import MetricSpec
from dcplan.specs.table import Column, Shown, TableSpec

CELLS_TOTAL = MetricSpec("cells.total", "", "Published prices of tokens")
CELLS_ANSWERED = MetricSpec(
    "cells.answered", "", "Published prices whose operating point dcplan can serve"
)
CELLS_INSIDE = MetricSpec("cells.inside", "", "Published prices inside dcplan's 80% interval")
CELLS_INDEPENDENT = MetricSpec(
    "cells.independent", "", "Published prices of systems whose runs are not in the fit"
)
CELLS_INDEPENDENT_INSIDE = MetricSpec(
    "cells.independent_inside", "", "Those of them inside dcplan's 80% interval"
)
RATIO_MEDIAN = MetricSpec(
    "cells.ratio_median", "", "Median of dcplan's price over the published one"
)


@dataclass(frozen=True, kw_only=True)
class PriceRow:
    """One published price of tokens at one operating point, and dcplan's price there."""

    id: Annotated[str, Column("Id of the published price")]
    model: Annotated[str, Column("Catalog id of the model")]
    system: Annotated[str, Column("Catalog id of the system")]
    precision: Annotated[str, Column("Format of the weights")]
    input_tokens: Annotated[float, Column("Input tokens of a request in the mean")]
    output_tokens: Annotated[float, Column("Output tokens of a request in the mean")]
    tokens_per_s_per_user: Annotated[float, Column("Output tokens per second of one request")]
    published_usd_per_million_tokens: Annotated[
        float | None, Column("Price of a million input and output tokens, as printed")
    ]
    throughput_usd_per_million_tokens: Annotated[
        float | None, Column("Publisher's throughput over its price of an accelerator-hour")
    ]
    usd_per_million_tokens: Annotated[
        float | None, Column("Price of a million input and output tokens by dcplan")
    ]
    ratio: Annotated[float | None, Column("Price by dcplan over the published one")]
    low: Annotated[float | None, Column("Low end of dcplan's 80% interval")]
    high: Annotated[float | None, Column("High end of dcplan's 80% interval")]
    inside: Annotated[str, Column("Whether the published price is in the interval: yes or no")]
    basis: Annotated[
        str, Column("Fitted if runs of this publisher, model and accelerator are in the fit")
    ]
    layout: Annotated[str, Column("Layout by pool of dcplan, or why there is no answer")]
    asked: Annotated[str, Column("Question to dcplan", shown=Shown.VERBOSE)]
    source: Annotated[str, Column("Publisher", shown=Shown.VERBOSE)]
    url: Annotated[str, Column("Address of the published price", shown=Shown.VERBOSE)]
    note: Annotated[str, Column("Remark on the published price", shown=Shown.VERBOSE)]


PRICES = TableSpec("prices", PriceRow, "Published prices of tokens and dcplan's", first=20)


@dataclass(frozen=True)
class PriceGroupRow:
    """Agreement of the prices of one model on one system."""

    model: Annotated[str, Column("Catalog id of the model")]
    system: Annotated[str, Column("Catalog id of the system")]
    basis: Annotated[str, Column("Fitted or independent")]
    cells: Annotated[int, Column("Published prices")]
    answered: Annotated[int, Column("Prices whose operating point dcplan can serve")]
    inside: Annotated[int, Column("Prices inside dcplan's 80% interval")]
    median_ratio: Annotated[float | None, Column("Median of dcplan's price over the published one")]


PRICE_GROUPS = TableSpec("price_groups", PriceGroupRow, "Agreement by model and system")
