"""The job menu of a scenario: every non-dominated way to run each job."""

from __future__ import annotations

from collections.abc import Sequence

from dcplan.answers.common.result_blocks import describe, inputs_of
from dcplan.answers.plan.tables.left_out import left_out
from dcplan.errors import EXIT_OK
from dcplan.planning.problem.build import build
from dcplan.result import Result, Table
from dcplan.scenario.load import load


def train_scenario(name: str, catalogs: Sequence[str]) -> Result:
    """Return the job menu of a scenario: every non-dominated way to run each job."""
    question = load(name, catalogs=catalogs)
    built = build(question)
    rows = []
    seen = set()
    for c in built.menu.configs:
        key = (c.job, c.place, c.system, c.accelerators, c.precision)
        if key in seen:
            continue
        seen.add(key)
        layout = " ".join(f"{k}={v}" for k, v in c.layout.items())
        rows.append(
            (
                c.job,
                c.place,
                c.system,
                c.accelerators,
                c.precision,
                c.days_p50,
                c.days,
                c.mfu_frac,
                layout,
            )
        )
    columns = (
        "job",
        "place",
        "system",
        "accelerators",
        "precision",
        "p50_days",
        "days",
        "mfu_frac",
        "layout",
    )
    jobs = len({r[0] for r in rows})
    return Result(
        verb="train",
        status="ok",
        exit_code=EXIT_OK,
        headline=f"{question.scenario.name}: {len(rows)} ways to run {jobs} of "
        f"{len(built.menu.jobs)} jobs",
        scenario=describe(question),
        tables={"configs": Table(columns, tuple(sorted(rows))), "left_out": left_out(built.menu)},
        inputs=inputs_of(built),
    )
