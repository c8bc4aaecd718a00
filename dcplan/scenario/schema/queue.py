"""Classes of jobs that wait in a queue and share pools of accelerators."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from dcplan.catalog.schema.ranges import Hours, NonNegative, Positive, Series
from dcplan.scenario.schema.base import Count, Key
from dcplan.scenario.schema.demand import Demand, Reference

WAIT_QUANTILE = 0.9
"""Default share of the jobs of a class that wait no longer than its target."""


class Queued(Demand):
    """Jobs of one kind that wait for accelerators of a pool: size, run time, arrivals, target."""

    accelerators: Positive
    """Accelerators of one job, all at the same time: a whole number, or 1/2, 1/3 and so on of one
    accelerator."""
    hours: Hours
    """Mean run time without stops."""
    hours_cv: NonNegative | None = None
    """Standard deviation of the run time over its mean. Default: `training/queue-hours-cv`."""
    jobs_per_day: Series
    """Jobs that arrive per day, mean of the quarter."""
    priority: Annotated[int, Field(ge=-1000, le=1000, strict=True)] = 0
    """Rank in the queue: higher runs first."""
    preemptible: bool = False
    """Whether a job may be stopped for a class of higher priority, or when capacity falls."""
    loss_h: NonNegative | None = None
    """Work that a stopped job repeats, at most. Default: half of
    `reliability/checkpoint-interval-h`, and `reliability/restart-h`."""
    wait_h: Hours
    """Target: maximum wait in the queue."""
    wait_quantile: Annotated[float, Field(ge=0.5, le=0.99)] = WAIT_QUANTILE
    """Share of the jobs that wait no longer than the target."""
    most_accelerators: Count | None = None
    """Quota: accelerators that the class may hold at the same time. Default: no limit."""
    pool: Key = "shared"
    """Pool whose accelerators the class shares with the other classes of the pool."""
    any_hours: bool = False
    """Whether the jobs may wait for any hours of the week, such as nights, when services leave
    accelerators free; only for preemptible jobs."""
    reference: Reference | None = None
    """Job that compares accelerators: run times are those of an H100, and fall with the rate on
    this job. Default: a job takes the same time on any accelerator."""
    usd_per_unmet_quarter: Positive | None = None
    """Cost of one accelerator of the pool that is missing for a quarter. A pool may miss accelerators
    only if all its classes give this; the highest counts. Default: all targets must be kept."""

    @model_validator(mode="after")
    def _may_wait(self) -> Queued:
        if self.any_hours and not self.preemptible:
            code = "queue"
            text = "any_hours needs preemptible: jobs stop when the hours with accelerators end"
            raise PydanticCustomError(code, text)
        if self.loss_h is not None and not self.preemptible:
            code = "queue"
            raise PydanticCustomError(code, "loss_h needs preemptible: other jobs are not stopped")
        return self
