"""Options of a scenario's jobs: every non-dominated configuration of each job."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple

from dcplan.answers.common.result_blocks import describe, inputs_of
from dcplan.answers.plan.tables.excluded import excluded_options
from dcplan.errors import EXIT_OK
from dcplan.planning.problem.build import build
from dcplan.result import Result
from dcplan.scenario.load import load
from dcplan.specs.train import layouts as specs


def train_scenario(name: str, catalogs: Sequence[str]) -> Result:
    """Return every non-dominated option of each job of a scenario."""
    question = load(name, catalogs=catalogs)
    built = build(question)
    rows: dict[tuple[object, ...], specs.JobOptionRow] = {}
    for c in (run.whole for run in built.problem.run_options if run.leads):
        # the problem repeats an option for each possible start quarter
        key = (c.job, c.place, c.system, c.accelerators, c.precision)
        row = specs.JobOptionRow(
            job=c.job,
            place=c.place,
            system=c.system,
            accelerators=c.accelerators,
            precision=c.precision,
            days_p50=c.days_p50,
            days=c.days,
            mfu_frac=c.mfu_frac,
            layout=" ".join(f"{k}={v}" for k, v in c.layout.items()),
        )
        rows.setdefault(key, row)
    options = sorted(rows.values(), key=astuple)
    jobs = f"{len({row.job for row in options})} of {len(built.problem.jobs)} jobs"
    return Result(
        verb="train",
        status="ok",
        exit_code=EXIT_OK,
        headline=f"{question.scenario.name}: {len(options)} options for {jobs}",
        scenario=describe(question),
        tables={
            specs.JOB_OPTIONS.name: specs.JOB_OPTIONS.table(options),
            "excluded": excluded_options(built.problem),
        },
        inputs=inputs_of(built),
    )
