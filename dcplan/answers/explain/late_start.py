"""Limits that do not let every run without a deadline start as soon as its hardware can serve."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dcplan.answers.explain.infeasible import CONFLICT_SHARE, conflict_rows, users_conflict
from dcplan.answers.explain.resolve import Base
from dcplan.planning.limit_rows import edit_of
from dcplan.planning.problem.work.jobs.soonest import wait_months
from dcplan.planning.solve.kept import PROGRAMS
from dcplan.result import Table
from dcplan.specs import explain as specs


def waiting_runs(base: Base) -> list[str]:
    """Return the runs that start later than own hardware could serve them."""
    problem = base.asked.built.problem
    return [run.job for run in base.decisions.runs if wait_months(problem, run)]


def late_start_table(base: Base) -> Table:
    """Return the limits that conflict where every run starts as soon as its hardware can serve.

    Limits without a field of the scenario, such as the balance of accelerators, are left out. The
    conflict is that of the relaxation, and empty if only integer decisions conflict.
    """
    asked = base.asked
    soon = replace(asked.built.problem, margin_factor=0.0)
    matrix = PROGRAMS.compiled(soon)
    found = users_conflict(matrix, asked.left_s() * CONFLICT_SHARE)
    fields = [row for row in found if edit_of(row, asked.question.scenario) is not None]
    return specs.LATE_STARTS.table(conflict_rows(asked.question, fields, soon.start))


def late_start_note(runs: Sequence[str], table: Table) -> dict[str, str]:
    """Return why runs wait, in a sentence."""
    names = ", ".join(runs)
    limits = ", ".join(row.limit for row in specs.LATE_STARTS.rows(table))
    why = (
        f"these limits allow no start of all runs at once: {limits}"
        if limits
        else "integer racks, halls or runs allow no start of all runs at once"
    )
    return {"code": "late", "message": f"{names} waits longer than its hardware needs: {why}"}
