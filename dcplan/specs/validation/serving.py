"""Metrics and tables of ``validate serving``: measured rows of inference and their predictions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.specs.metric import MetricSpec
from dcplan.specs.table import Column, Shown, TableSpec

ROWS_TOTAL = MetricSpec("rows.total", "", "Rows of the table")
ROWS_SUPPORTED = MetricSpec("rows.supported", "", "Rows predicted")
FIGURES_MEASURED = MetricSpec("rows.figures", "", "Measured figures that are predicted")
TPOT_ERROR = MetricSpec(
    "error.tpot_median_frac", "", "Median error of time per output token in a closed loop"
)
SPLIT_ERROR = MetricSpec(
    "error.split_tpot_median_frac", "", "Median error of time per output token of split pools"
)
STATIC_ERROR = MetricSpec(
    "error.static_e2e_median_frac", "", "Median error of the end-to-end time of static batches"
)
RATE_ERROR = MetricSpec(
    "error.saturated_rate_median_frac", "", "Median error of saturated throughput"
)
PREFILL_ERROR = MetricSpec(
    "error.prefill_median_frac", "", "Median error of time to first token of one request"
)
TTFT_ERROR = MetricSpec(
    "error.ttft_median_frac", "", "Median error of time to first token in a closed loop"
)
ENERGY_ERROR = MetricSpec(
    "error.energy_median_frac", "", "Median error of the energy of an output token"
)
LAYOUT_HITS = MetricSpec(
    "layouts.close_frac",
    "",
    "Groups of rows that differ only in layout whose chosen layout is within 10% of the best measured one",
)


@dataclass(frozen=True)
class ServingFigureRow:
    """One quantity of one measured row."""

    id: Annotated[str, Column("Id of the measured row")]
    status: Annotated[str, Column("Ok, or the reason why the row is not predicted")]
    quantity: Annotated[
        str | None,
        Column("Measured quantity: tpot_ms, ttft_ms, e2e_ms, output_tokens_per_s_total, power_w"),
    ] = None
    measured: Annotated[float | None, Column("Measured value, in the unit of the quantity")] = None
    predicted: Annotated[float | None, Column("Predicted value, in the unit of the quantity")] = (
        None
    )
    low: Annotated[float | None, Column("Low end of the prediction's 80% interval")] = None
    high: Annotated[float | None, Column("High end of the prediction's 80% interval")] = None


@dataclass(frozen=True)
class ServingSummaryRow:
    """Errors of one quantity of one group of rows."""

    group: Annotated[str, Column("Class of measurement, engine, accelerator, model or source")]
    quantity: Annotated[str, Column("Measured quantity")]
    figures: Annotated[int, Column("Measured figures of the group")]
    median_abs_error_frac: Annotated[float, Column("Median absolute error")]
    mean_abs_error_frac: Annotated[float, Column("Mean absolute error", shown=Shown.VERBOSE)]
    p90_abs_error_frac: Annotated[float, Column("90th percentile of the absolute error")]
    bias_frac: Annotated[
        float, Column("Median signed error; positive if the prediction is above the measurement")
    ]
    coverage_frac: Annotated[float, Column("Share of measurements inside the 80% interval")]


SERVING_CLASSES = TableSpec("serving_classes", ServingSummaryRow, "Errors by class of measurement")
SERVING_GROUPS = TableSpec(
    "serving_groups", ServingSummaryRow, "Errors by group, the largest first", first=16
)
SERVING_FIGURES = TableSpec("serving_figures", ServingFigureRow, "Rows", first=15)
