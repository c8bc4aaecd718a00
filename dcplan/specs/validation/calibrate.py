"""Metrics and tables of ``calibrate``: kernels, own runs and training logs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.specs.metric import MetricSpec
from dcplan.specs.table import Column, Section, TableSpec


@dataclass(frozen=True)
class ValueRow:
    """One training term of an accelerator, fitted to measurements."""

    quantity: Annotated[str, Column("Training term of the accelerator that is fitted")]
    measured: Annotated[float, Column("Fitted value")]
    low: Annotated[float, Column("Low bound of the value or of the fit")]
    high: Annotated[float, Column("High bound of the value or of the fit")]
    points: Annotated[int, Column("Measurements used in the fit")]
    error_frac: Annotated[float, Column("Mean error of the fit to these measurements")]
    catalog: Annotated[float | None, Column("Value in the catalog")]


VALUES = TableSpec("values", ValueRow, "Values", by_item=True)


@dataclass(frozen=True)
class ExcludedRow:
    """One training term that keeps the catalog's value."""

    quantity: Annotated[str, Column("Measured quantity that could not be fitted")]
    reason: Annotated[str, Column("Reason for the exclusion")]


EXCLUDED = TableSpec(
    "excluded", ExcludedRow, "Excluded options and reasons", section=Section.EXCLUDED
)


RUNS_FITTED = MetricSpec("runs.fitted", "", "Runs in the fit")
ERROR_BEFORE = MetricSpec("error.before_mean_abs_frac", "", "Mean absolute error with the catalog")
ERROR_BEFORE_MEDIAN = MetricSpec(
    "error.before_median_abs_frac", "", "Median absolute error with the catalog"
)
ERROR_AFTER = MetricSpec("error.after_mean_abs_frac", "", "Mean absolute error with the fit")
ERROR_AFTER_MEDIAN = MetricSpec(
    "error.after_median_abs_frac", "", "Median absolute error with the fit"
)
ERROR_UNSEEN = MetricSpec(
    "error.left_out_mean_abs_frac",
    "",
    "Mean absolute error of each run with constants fitted to the others",
)
ERROR_UNSEEN_MEDIAN = MetricSpec(
    "error.left_out_median_abs_frac",
    "",
    "Median absolute error of each run with constants fitted to the others",
)
INTERVAL_HALF_WIDTH = MetricSpec(
    "interval.<family>.half_width_frac",
    "",
    "Half width of the 80% interval of a step time, from runs that the fit did not see",
)


@dataclass(frozen=True)
class OwnRunRow:
    """One own run with its errors."""

    id: Annotated[str, Column("Id of the measured run")]
    status: Annotated[str, Column("Ok, or the reason why the run is not in the fit")]
    measured_step_time_s: Annotated[float | None, Column("Measured time of one optimizer step")] = (
        None
    )
    before_error_frac: Annotated[
        float | None, Column("Step time predicted with the catalog over measured, less 1")
    ] = None
    after_error_frac: Annotated[
        float | None, Column("Step time predicted with the fit over measured, less 1")
    ] = None
    left_out_error_frac: Annotated[
        float | None, Column("The same with constants fitted to the other runs only")
    ] = None


OWN_RUNS = TableSpec("runs", OwnRunRow, "Runs")


@dataclass(frozen=True)
class ConstantRow:
    """One constant of the fit."""

    constant: Annotated[
        str, Column("Field of the stack, or factor on the speeds of an accelerator family")
    ]
    on: Annotated[str, Column("Stack, or accelerator family of a factor")]
    prior: Annotated[float, Column("Value in the catalog; 1 for a factor")]
    fitted: Annotated[float, Column("Value with the least loss")]
    low: Annotated[float, Column("Low end of the 80% interval of the fitted value")]
    high: Annotated[float, Column("High end of the 80% interval of the fitted value")]
    moved_widths: Annotated[
        float, Column("Change of the logarithm, in widths of the prior; negative if it fell")
    ]
    informed_frac: Annotated[
        float, Column("Share of the prior's variance that the runs remove; 0 if they say nothing")
    ]
    basis: Annotated[str, Column("Runs, or prior where the runs say little")]


CONSTANTS = TableSpec("constants", ConstantRow, "Constants", by_item=True)


@dataclass(frozen=True)
class CandidateRow:
    """One stack of the catalog as a source of the priors."""

    stack: Annotated[str, Column("Catalog id of the training software")]
    runs: Annotated[int, Column("Runs that it supports")]
    before_error_frac: Annotated[float, Column("Mean absolute error of these runs, before a fit")]
    taken: Annotated[bool, Column("Whether its values are the priors")]


CANDIDATES = TableSpec("candidates", CandidateRow, "Stacks that may give the priors")


@dataclass(frozen=True)
class LogRow:
    """One training log."""

    log: Annotated[str, Column("File of the log")]
    format: Annotated[str, Column("Software that wrote it")]
    steps: Annotated[int, Column("Steps that it has")]
    skipped: Annotated[int, Column("Steps of the warm-up, which do not count")]
    outliers: Annotated[
        int, Column("Slow steps that do not count: evaluation, checkpoint, interruption")
    ]
    step_time_s: Annotated[float | None, Column("Median time of the steps that count")]
    tokens_per_s_per_accel: Annotated[
        float | None, Column("Median throughput of the steps that count, if the log has no time")
    ]
    spread_frac: Annotated[
        float | None, Column("90th percentile over 10th percentile of these steps, less 1")
    ]
    blank: Annotated[str, Column("Needed columns that the log does not say")]


LOGS = TableSpec("logs", LogRow, "Logs")
