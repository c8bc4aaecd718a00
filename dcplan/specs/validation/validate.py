"""Metrics and tables of ``validate``: measured runs, and figures that others published."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.specs.metric import MetricSpec
from dcplan.specs.table import Column, Shown, TableSpec

RUNS_TOTAL = MetricSpec("runs.total", "", "Rows of the table")
RUNS_SUPPORTED = MetricSpec("runs.supported", "", "Rows predicted")
RUNS_SUPPORTED_FRAC = MetricSpec("runs.supported_frac", "", "Of the complete rows")
ERROR_MEAN_ABS = MetricSpec("error.mean_abs_frac", "", "Mean absolute error")
ERROR_MEDIAN_ABS = MetricSpec("error.median_abs_frac", "", "Median absolute error")
ERROR_BIAS = MetricSpec("error.bias_frac", "", "Mean signed error")
INTERVAL_COVERAGE = MetricSpec("interval.coverage_frac", "", "Measured inside the 80 % interval")
ERROR_MEMORY_MEAN_ABS = MetricSpec(
    "error.memory_mean_abs_frac", "", "Mean absolute peak-memory error"
)

FIGURES_TOTAL = MetricSpec("figures.total", "", "Figures of verbs compared")
FIGURES_INDEPENDENT = MetricSpec(
    "figures.independent", "", "Of them neither fitted to nor given by what is asked"
)
FIGURES_INDEPENDENT_CLOSE = MetricSpec(
    "figures.independent_close", "", "Of the independent ones exact or within 5 %"
)
FIGURES_EXACT = MetricSpec(
    "figures.exact", "", "Within half a percent, or inside the published range"
)
FIGURES_CLOSE = MetricSpec("figures.close", "", "Within 5 %")
FIGURES_NEAR = MetricSpec("figures.near", "", "Within 25 %")
FIGURES_FAR = MetricSpec("figures.far", "", "Further off")
FIGURES_ARITHMETIC = MetricSpec(
    "figures.arithmetic", "", "Further figures, of functions that no verb was asked for"
)


@dataclass(frozen=True)
class RunRow:
    """One measured run and its prediction."""

    id: Annotated[str, Column("Id of the measured run")]
    status: Annotated[str, Column("Ok, or why the run is not predicted")]
    measured_step_time_s: Annotated[float | None, Column("One optimizer step as measured")] = None
    predicted_step_time_s: Annotated[float | None, Column("The same as predicted")] = None
    low_s: Annotated[float | None, Column("Low end of the prediction's interval")] = None
    high_s: Annotated[float | None, Column("High end of the prediction's interval")] = None
    error_frac: Annotated[float | None, Column("Predicted over measured step time, less 1")] = None
    measured_memory_gib: Annotated[float | None, Column("Peak memory as measured")] = None
    predicted_memory_gib: Annotated[
        float | None, Column("Peak memory of the fullest rank as predicted")
    ] = None


RUNS = TableSpec("runs", RunRow, "Runs")


@dataclass(frozen=True, kw_only=True)
class SummaryRow:
    """Errors of the runs of one group; the table has the one column that it is grouped by."""

    source: Annotated[str, Column("Source of the measured runs")] = ""
    accelerator: Annotated[str, Column("Catalog id of the accelerator of the runs")] = ""
    stack: Annotated[str, Column("Catalog id of the training software of the runs")] = ""
    arch: Annotated[str, Column("Architecture of the models, dense, moe or hybrid")] = ""
    runs: Annotated[int, Column("Runs of the group that are predicted")]
    mean_abs_error_frac: Annotated[float, Column("Mean size of the step-time error")]
    median_abs_error_frac: Annotated[float, Column("Median size of the step-time error")]
    bias_frac: Annotated[
        float, Column("Mean step-time error with its sign, positive where predicted too slow")
    ]
    worst_error_frac: Annotated[float, Column("Largest step-time error with its sign")]


SUMMARY = TableSpec("summary", SummaryRow, "Summary")


@dataclass(frozen=True)
class SourceRow:
    """One publication and the question that it is compared on."""

    id: Annotated[str, Column("Catalog id of the publication's row")]
    name: Annotated[str, Column("Name of the row")]
    asked: Annotated[str, Column("Question put to dcplan, as it may be typed")]
    source: Annotated[str, Column("Title of the publication", shown=Shown.VERBOSE)]
    url: Annotated[str | None, Column("Address of the publication", shown=Shown.VERBOSE)]
    note: Annotated[str | None, Column("Remark on the comparison", shown=Shown.VERBOSE)]


SOURCES = TableSpec("sources", SourceRow, "What was asked")


@dataclass(frozen=True)
class FigureRow:
    """One published figure and what dcplan answers."""

    id: Annotated[str, Column("Catalog id of the publication's row")]
    figure: Annotated[str, Column("Metric, catalog field or table cell that is compared")]
    unit: Annotated[str, Column("Unit of the figure")]
    published: Annotated[float, Column("Number that was published")]
    published_low: Annotated[
        float | None, Column("Low end of the published range or rounding", shown=Shown.VERBOSE)
    ]
    published_high: Annotated[
        float | None, Column("High end of the published range or rounding", shown=Shown.VERBOSE)
    ]
    computed: Annotated[float, Column("What dcplan answers to the same question")]
    low: Annotated[
        float | None, Column("Low bound of dcplan's answer, where it has one", shown=Shown.VERBOSE)
    ]
    high: Annotated[
        float | None, Column("High bound of dcplan's answer, where it has one", shown=Shown.VERBOSE)
    ]
    error_frac: Annotated[float | None, Column("Computed over published, less 1")]
    verdict: Annotated[str, Column("Exact, close, near or far, by the size of the error")]
    basis: Annotated[
        str,
        Column(
            "Independent, fitted (numbers or rules rest on the publication), given (follows from "
            "what is asked) or arithmetic (of a function, no verb gave it)"
        ),
    ]
    note: Annotated[str | None, Column("Remark on the published figure", shown=Shown.VERBOSE)]


FIGURES = TableSpec("figures", FigureRow, "Published and computed")
