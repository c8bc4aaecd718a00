"""Comparison of the plan with changed inputs and the scenario's plan, metric by metric."""

from __future__ import annotations

from dataclasses import replace

from dcplan.answers.explain.resolve import Base, refuse_other_objectives
from dcplan.answers.plan.metrics import metrics_of
from dcplan.errors import InputError, Place
from dcplan.planning.presolve import presolve
from dcplan.planning.problem.build import build
from dcplan.result import Metric, Table
from dcplan.scenario.load import Question
from dcplan.specs import explain as specs

FLAG = "--what-if"
SAME = 1e-9
"""Relative difference below which two values are equal."""


def what_if(base: Base) -> Table:
    """Return the metrics that all changes of ``--what-if`` together move."""
    question = _changed(base)
    refuse_other_objectives(question)
    built = build(question)
    if presolve(question, built):
        return _no_plan("impossible; run dcplan plan with --set to see why")
    other = base.asked.solve(built.problem, question, share=0.5, near=base.solved.integer_values)
    if other.audit is None:
        return _no_plan(other.status)
    now, then = (metrics_of(s, question.catalog) for s in (base.solved, other))
    rows = (_row(key, now.get(key), then.get(key)) for key in dict.fromkeys((*now, *then)))
    return specs.WHAT_IF.table(row for row in rows if row is not None)


def _changed(base: Base) -> Question:
    """Return the question with the changes; errors name ``--what-if`` as their place."""
    request = base.asked.request
    try:
        return request.question(*request.what_if)
    except InputError as error:
        raise InputError(
            replace(p, place=_renamed(p.place), cause=p.cause.replace("--set", FLAG))
            for p in error.problems
        ) from error


def _renamed(place: Place | None) -> Place | None:
    return replace(place, path=place.path.replace("--set", FLAG)) if place else None


def _no_plan(why: str) -> Table:
    return specs.WHAT_IF.table([specs.WhatIfRow("plan", "exists", why, None)])


def _row(key: str, now: Metric | None, then: Metric | None) -> specs.WhatIfRow | None:
    """Return a metric of both plans; None if it is equal."""
    a, b = (0.0 if m is None else m.value for m in (now, then))
    if not isinstance(a, int | float) or not isinstance(b, int | float):
        return None if a == b else specs.WhatIfRow(key, a, b, None)
    change = float(b) - float(a)
    same = abs(change) <= SAME * max(abs(float(a)), 1e-12)
    return None if same else specs.WhatIfRow(key, a, b, change)
