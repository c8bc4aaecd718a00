"""Metrics and tables of ``validate``: measured runs and published figures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.specs.metric import MetricSpec
from dcplan.specs.table import Column, Shown, TableSpec

RUNS_TOTAL = MetricSpec("runs.total", "", "Rows of the table")
RUNS_SUPPORTED = MetricSpec("runs.supported", "", "Rows predicted")
RUNS_SUPPORTED_FRAC = MetricSpec("runs.supported_frac", "", "Predicted share of the complete rows")
ERROR_MEAN_ABS = MetricSpec("error.mean_abs_frac", "", "Mean absolute error")
ERROR_MEDIAN_ABS = MetricSpec("error.median_abs_frac", "", "Median absolute error")
ERROR_BIAS = MetricSpec("error.bias_frac", "", "Mean signed error")
INTERVAL_COVERAGE = MetricSpec(
    "interval.coverage_frac", "", "Share of measurements inside the 80% interval"
)
ERROR_MEMORY_MEAN_ABS = MetricSpec(
    "error.memory_mean_abs_frac", "", "Mean absolute peak-memory error"
)

FIGURES_TOTAL = MetricSpec("figures.total", "", "Published figures compared with answers of verbs")
FIGURES_INDEPENDENT = MetricSpec(
    "figures.independent",
    "",
    "Independent figures: neither used in a fit nor implied by the question",
)
FIGURES_INDEPENDENT_CLOSE = MetricSpec(
    "figures.independent_close", "", "Independent figures that are exact or within 5%"
)
FIGURES_EXACT = MetricSpec("figures.exact", "", "Figures within 0.5% or inside the published range")
FIGURES_CLOSE = MetricSpec("figures.close", "", "Figures within 5%")
FIGURES_NEAR = MetricSpec("figures.near", "", "Figures within 25%")
FIGURES_FAR = MetricSpec("figures.far", "", "Figures further than 25% away")
FIGURES_ARITHMETIC = MetricSpec(
    "figures.arithmetic", "", "Further figures, computed by functions rather than by verbs"
)


@dataclass(frozen=True)
class RunRow:
    """One measured run and its prediction."""

    id: Annotated[str, Column("Id of the measured run")]
    status: Annotated[str, Column("Ok, or the reason why the run is not predicted")]
    measured_step_time_s: Annotated[float | None, Column("Measured time of one optimizer step")] = (
        None
    )
    predicted_step_time_s: Annotated[
        float | None, Column("Predicted time of one optimizer step")
    ] = None
    low_s: Annotated[float | None, Column("Low end of the prediction's interval")] = None
    high_s: Annotated[float | None, Column("High end of the prediction's interval")] = None
    error_frac: Annotated[float | None, Column("Predicted over measured step time, less 1")] = None
    measured_memory_gib: Annotated[float | None, Column("Measured peak memory")] = None
    predicted_memory_gib: Annotated[
        float | None, Column("Predicted peak memory of the fullest rank")
    ] = None


RUNS = TableSpec("runs", RunRow, "Runs", first=15)


@dataclass(frozen=True, kw_only=True)
class SummaryRow:
    """Errors of the runs of one group; the table has only the column of its grouping."""

    source: Annotated[str, Column("Source of the measured runs")] = ""
    accelerator: Annotated[str, Column("Catalog id of the accelerator of the runs")] = ""
    stack: Annotated[str, Column("Catalog id of the training software of the runs")] = ""
    arch: Annotated[str, Column("Architecture of the models, dense, moe or hybrid")] = ""
    runs: Annotated[int, Column("Runs of the group that are predicted")]
    mean_abs_error_frac: Annotated[float, Column("Mean absolute step-time error")]
    median_abs_error_frac: Annotated[float, Column("Median absolute step-time error")]
    bias_frac: Annotated[
        float, Column("Mean signed step-time error; positive if the prediction is too slow")
    ]
    worst_error_frac: Annotated[float, Column("Largest step-time error, signed")]


SUMMARY = TableSpec("summary", SummaryRow, "Summary")


@dataclass(frozen=True)
class SourceRow:
    """One publication and the question asked of dcplan."""

    id: Annotated[str, Column("Catalog id of the publication's row")]
    name: Annotated[str, Column("Name of the row")]
    asked: Annotated[str, Column("Question to dcplan, as a command line")]
    source: Annotated[str, Column("Title of the publication", shown=Shown.VERBOSE)]
    url: Annotated[str | None, Column("Address of the publication", shown=Shown.VERBOSE)]
    note: Annotated[str | None, Column("Remark on the comparison", shown=Shown.VERBOSE)]


SOURCES = TableSpec("sources", SourceRow, "Publications and questions", shown=Shown.VERBOSE)


@dataclass(frozen=True)
class FigureRow:
    """One published figure and dcplan's answer."""

    id: Annotated[str, Column("Catalog id of the publication's row")]
    figure: Annotated[str, Column("Metric, catalog field or table cell that is compared")]
    unit: Annotated[str, Column("Unit of the figure")]
    published: Annotated[float, Column("Published value")]
    published_low: Annotated[
        float | None, Column("Low end of the published range or rounding", shown=Shown.VERBOSE)
    ]
    published_high: Annotated[
        float | None, Column("High end of the published range or rounding", shown=Shown.VERBOSE)
    ]
    computed: Annotated[float, Column("Answer of dcplan to the same question")]
    low: Annotated[
        float | None, Column("Low bound of dcplan's answer, if any", shown=Shown.VERBOSE)
    ]
    high: Annotated[
        float | None, Column("High bound of dcplan's answer, if any", shown=Shown.VERBOSE)
    ]
    error_frac: Annotated[float | None, Column("Computed over published, less 1")]
    verdict: Annotated[str, Column("Verdict by the size of the error: exact, close, near or far")]
    basis: Annotated[
        str,
        Column(
            "Independent, fitted (numbers or rules come from the publication), given (implied by "
            "the question) or arithmetic (computed by a function, not by a verb)"
        ),
    ]
    note: Annotated[str | None, Column("Remark on the published figure", shown=Shown.VERBOSE)]


FIGURES = TableSpec("figures", FigureRow, "Published and computed", first=20)


@dataclass(frozen=True)
class WholeRunRow:
    """One whole run: its published length, and the interval of dcplan without and with its course."""

    id: Annotated[str, Column("Catalog id of the publication's row")]
    accelerators: Annotated[int, Column("Accelerators of the run")]
    published_days: Annotated[
        float, Column("Published days, or published accelerator-hours over the accelerators")
    ]
    plain_days_p50: Annotated[float, Column("Median of dcplan without the course of the run")]
    plain_days_p10: Annotated[float, Column("10th percentile without it", shown=Shown.VERBOSE)]
    plain_days_p90: Annotated[float, Column("90th percentile without it", shown=Shown.VERBOSE)]
    plain_inside: Annotated[bool, Column("Whether the published days are inside this 80% interval")]
    days_p50: Annotated[float, Column("Median of dcplan with the course of the run")]
    days_p10: Annotated[float, Column("10th percentile")]
    days_p90: Annotated[float, Column("90th percentile")]
    inside: Annotated[bool, Column("Whether the published days are inside the 80% interval")]
    course: Annotated[str, Column("Published course of the run that the second answer includes")]
    cause: Annotated[str, Column("Cause of a miss, or remark", shown=Shown.VERBOSE)]


WHOLE_RUNS = TableSpec("whole_runs", WholeRunRow, "Whole runs", first=30)
WHOLE_RUNS_TOTAL = MetricSpec("whole_runs.total", "", "Whole runs compared")
WHOLE_RUNS_PLAIN_INSIDE = MetricSpec(
    "whole_runs.plain_inside", "", "Whole runs inside the 80% interval without their course"
)
WHOLE_RUNS_INSIDE = MetricSpec(
    "whole_runs.inside", "", "Whole runs inside the 80% interval with their course"
)
