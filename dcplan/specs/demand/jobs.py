"""Tables of recorded jobs: how long and how large they were, and how they ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.specs.demand.log import Cluster
from dcplan.specs.table import Column, Section, Shown, TableSpec


@dataclass(frozen=True)
class JobsRow:
    """Run times and sizes of the jobs of one cluster."""

    cluster: Cluster
    jobs: Annotated[int, Column("Runs that started")]
    run_p50_h: Annotated[float | None, Column("Median of the time on accelerators of ended runs")]
    run_mean_h: Annotated[float | None, Column("Mean of the time on accelerators of ended runs")]
    run_most_h: Annotated[float | None, Column("Longest time on accelerators of an ended run")]
    accelerators_p50: Annotated[float, Column("Median of the accelerators of a run")]
    accelerators_mean: Annotated[float, Column("Mean of the accelerators of a run")]
    accelerators_most: Annotated[float, Column("Accelerators of the largest run")]
    accelerator_hours: Annotated[float, Column("Accelerators times time on them, of all runs")]


JOB_SIZES = TableSpec(
    "recorded_jobs",
    JobsRow,
    "Run times and sizes of the jobs",
    shown=Shown.VERBOSE,
    section=Section.ORDERS,
)


@dataclass(frozen=True)
class OutcomeRow:
    """Runs of one cluster that ended in one way."""

    cluster: Cluster
    outcome: Annotated[str, Column("How the runs ended, or that they had not")]
    jobs: Annotated[int, Column("Runs, with those that never started")]
    jobs_frac: Annotated[float, Column("Share of the runs")]
    accelerator_hours: Annotated[float, Column("Accelerators times time on them")]
    accelerator_hours_frac: Annotated[float | None, Column("Share of the accelerator-hours")]


OUTCOMES = TableSpec(
    "job_outcomes", OutcomeRow, "How the jobs ended", shown=Shown.VERBOSE, section=Section.ORDERS
)
