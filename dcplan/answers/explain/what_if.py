"""Comparison of the plan with changed inputs and the scenario's plan, metric by metric."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dcplan.answers.explain.infeasible import CONFLICT_SHARE, conflict_table, search_of
from dcplan.answers.explain.resolve import Base, refuse_other_objectives
from dcplan.answers.plan.metrics import metrics_of
from dcplan.answers.plan.no_plan import impossible, infeasible
from dcplan.answers.remedies.search import explained
from dcplan.answers.remedies.tables import sentence, with_remedies
from dcplan.errors import InputError, Place
from dcplan.planning.presolve import presolve
from dcplan.planning.problem.build import Built, build
from dcplan.planning.solve.status import SolveStatus
from dcplan.result import Metric, Result, Table
from dcplan.scenario.load import Question
from dcplan.specs import explain as specs
from dcplan.specs.no_plan import EXCLUDED

FLAG = "--what-if"
REMEDIES_SHARE = 0.8
"""Share of the remaining time for the remedies of a changed scenario without a plan."""
SAME = 1e-9
"""Relative difference below which two values are equal."""


@dataclass(frozen=True)
class WhatIf:
    """Effect of all changes of ``--what-if`` together."""

    tables: dict[str, Table]
    words: str = ""
    """Part of the headline, if the changed scenario has no plan."""
    warnings: tuple[dict[str, str], ...] = ()


def what_if(base: Base) -> WhatIf:
    """Return the metrics that the changes move; without a plan, its conflict and remedies."""
    question = _changed(base)
    refuse_other_objectives(question)
    built = build(question)
    problems = presolve(question, built)
    if problems:
        return _no_plan(base, impossible(question, built, problems), question, built)
    other = base.asked.solve(built.problem, question, share=0.5, near=base.solved.integer_values)
    if other.status is SolveStatus.INFEASIBLE:
        answer = infeasible(question, built, other)
        limits = conflict_table(question, other, base.asked.left_s() * CONFLICT_SHARE)
        return _no_plan(base, replace(answer, tables={"conflict": limits}), question, built)
    if other.audit is None:
        return WhatIf({"what_if": _none(other.status)})
    now, then = (metrics_of(s, question.catalog) for s in (base.solved, other))
    rows = (_row(key, now.get(key), then.get(key)) for key in dict.fromkeys((*now, *then)))
    return WhatIf({"what_if": specs.WHAT_IF.table(row for row in rows if row is not None)})


def _no_plan(base: Base, answer: Result, question: Question, built: Built) -> WhatIf:
    """Explain why the changed scenario has no plan, and what would allow one."""
    request = base.asked.request
    changed = replace(request, sets=(*request.sets, *request.what_if))
    search = search_of(changed, question, built, base.asked.left_s() * REMEDIES_SHARE)
    found = explained(search)
    full = with_remedies(answer, search, found, request.what_if)
    own = {name: table for name, table in full.tables.items() if name != EXCLUDED.name}
    words = f"with {' '.join(request.what_if)}: infeasible; {sentence(found, search)}"
    return WhatIf({"what_if": _none("infeasible"), **own}, words, tuple(full.warnings))


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


def _none(why: str) -> Table:
    return specs.WHAT_IF.table([specs.WhatIfRow("plan", "exists", why, None)])


def _row(key: str, now: Metric | None, then: Metric | None) -> specs.WhatIfRow | None:
    """Return a metric of both plans; None if it is equal."""
    a, b = (0.0 if m is None else m.value for m in (now, then))
    if not isinstance(a, int | float) or not isinstance(b, int | float):
        return None if a == b else specs.WhatIfRow(key, a, b, None)
    change = float(b) - float(a)
    same = abs(change) <= SAME * max(abs(float(a)), 1e-12)
    return None if same else specs.WhatIfRow(key, a, b, change)
