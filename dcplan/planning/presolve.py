"""Checks before the solver runs.

They find the most common reasons why no plan exists, each with its place and remedy.
"""

from __future__ import annotations

from dcplan.errors import Problem
from dcplan.planning.problem.build import Built
from dcplan.planning.reasons.demands import demand_problems
from dcplan.planning.reasons.hardware import existing_problems, fleet_problems
from dcplan.planning.reasons.jobs import job_problems
from dcplan.scenario.load import Question


def presolve(question: Question, built: Built) -> list[Problem]:
    """Return all reasons found without solving; an empty list does not prove that a plan exists."""
    problem = built.problem
    return [
        *job_problems(question, problem),
        *demand_problems(question, problem),
        *fleet_problems(question, problem),
        *existing_problems(question, problem),
    ]
