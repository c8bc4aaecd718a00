"""Metrics and tables of ``validate post-training``: published runs and dcplan's predictions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.specs.metric import MetricSpec
from dcplan.specs.table import Column, Shown, TableSpec

POST_RUNS = MetricSpec("post_training.runs", "", "Published figures of post-training")
POST_ANSWERED = MetricSpec("post_training.answered", "", "Published figures with a prediction")
POST_INSIDE_FRAC = MetricSpec(
    "post_training.inside_frac", "", "Share of published figures inside dcplan's 80% interval"
)
POST_ERROR_MEDIAN = MetricSpec(
    "post_training.error_median_abs_frac", "", "Median absolute error of the predictions"
)


@dataclass(frozen=True)
class PostGroupRow:
    """Errors of one kind of run from one publisher."""

    kind: Annotated[str, Column("Kind of the run")]
    source: Annotated[str, Column("Publisher")]
    runs: Annotated[int, Column("Published figures with a prediction")]
    median_abs_error_frac: Annotated[float, Column("Median absolute error")]
    bias_frac: Annotated[float, Column("Median error")]
    worst_error_frac: Annotated[float, Column("Largest error")]
    inside_frac: Annotated[float, Column("Share inside dcplan's 80% interval")]


POST_GROUPS = TableSpec("post_training_errors", PostGroupRow, "Errors by kind of run and publisher")


@dataclass(frozen=True, kw_only=True)
class PostRunRow:
    """One published figure and dcplan's."""

    id: Annotated[str, Column("Id of the row")]
    kind: Annotated[str, Column("Kind of the run")]
    quantity: Annotated[str, Column("What was published")]
    model: Annotated[str, Column("Catalog id of the model")]
    accelerator: Annotated[str, Column("Catalog id of the accelerator or system")]
    accelerators: Annotated[int, Column("Accelerators of the run")]
    published: Annotated[float, Column("Published figure; a time in seconds, or as its quantity")]
    published_high: Annotated[
        float | None, Column("High end of the published figure, if it is a range")
    ]
    predicted: Annotated[float | None, Column("Figure by dcplan")]
    low: Annotated[float | None, Column("Low end of dcplan's 80% interval")]
    high: Annotated[float | None, Column("High end of dcplan's 80% interval")]
    error_frac: Annotated[float | None, Column("Predicted over published figure, minus one")]
    inside: Annotated[str, Column("Whether the published figure is in the interval: yes or no")]
    published_memory_gib: Annotated[
        float | None, Column("Published peak memory of an accelerator", shown=Shown.VERBOSE)
    ]
    predicted_memory_gib: Annotated[
        float | None, Column("Peak memory by dcplan", shown=Shown.VERBOSE)
    ]
    status: Annotated[
        str, Column("Whether there is a prediction: ok, or the reason why not", shown=Shown.VERBOSE)
    ]
    source: Annotated[str, Column("Publisher", shown=Shown.VERBOSE)]
    url: Annotated[str, Column("Address of the published figure", shown=Shown.VERBOSE)]
    locator: Annotated[str, Column("Place on the page", shown=Shown.VERBOSE)]
    note: Annotated[str, Column("Assumptions of the row", shown=Shown.VERBOSE)]


POST_RUN_TABLE = TableSpec(
    "post_training_runs", PostRunRow, "Published post-training runs and predictions", first=20
)
