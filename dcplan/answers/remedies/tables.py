"""Tables and sentence of an infeasible scenario: its balance, and its remedies."""

from __future__ import annotations

import shlex
from dataclasses import replace

from dcplan.answers.remedies.balance import balance_rows
from dcplan.answers.remedies.infeasible import Infeasible
from dcplan.answers.remedies.search import Explained, Remedy
from dcplan.planning.goal import OBJECTIVES, Goal
from dcplan.result import Result, Table
from dcplan.scenario.load import Question
from dcplan.specs import no_plan as specs
from dcplan.specs.no_plan import EXCLUDED
from dcplan.units import money


def with_remedies(
    answer: Result, asked: Infeasible, found: Explained, given: tuple[str, ...] = ()
) -> Result:
    """Return an answer without a plan with its balance and its remedies.

    Without a remedy, a note states what to run next.

    Parameters
    ----------
    given : tuple of str
        ``KEY=VALUE`` changes that the remedies need in addition, such as those of ``--what-if``.
    """
    own = _tables(asked, found, given)
    notes = [] if found.remedies else [_none_found(asked)]
    last = {name: table for name, table in answer.tables.items() if name == EXCLUDED.name}
    first = {name: table for name, table in answer.tables.items() if name not in last}
    return replace(
        answer,
        headline=f"{answer.headline}; {sentence(found, asked)}",
        tables={**first, **own, **last},
        warnings=[*answer.warnings, *notes],
    )


def _tables(asked: Infeasible, found: Explained, given: tuple[str, ...]) -> dict[str, Table]:
    tables = {}
    if found.served is not None and found.served.found:
        rows = balance_rows(asked.problem, found.part, found.served)
        tables["balance"] = specs.BALANCE.table(rows)
    if found.remedies:
        least = found.remedies[0].cost_usd
        tables["remedies"] = specs.REMEDIES.table(
            _row(x, least, asked.question, given) for x in found.remedies
        )
    return tables


def sentence(found: Explained, asked: Infeasible) -> str:
    """Return the cheapest remedy, or that none was found: in time, or at all."""
    if not found.remedies:
        return "no remedy found in time" if asked.done else "no tested change gives a plan"
    first = found.remedies[0]
    basis = Goal(OBJECTIVES[asked.question.scenario.objective]).basis
    cost = f"plan of USD {money(first.cost_usd)}{basis}"
    return f"cheapest tested remedy: {first.change.text} ({cost})"


def _none_found(asked: Infeasible) -> dict[str, str]:
    text = (
        f"no tested change gave a plan in {asked.clock.spent():.0f} s; "
        "dcplan explain FILE --time-limit S tests changes for longer"
        if asked.done
        else "no change of limits, dates and demands that dcplan tests gives a plan; change the "
        f"inputs that the reasons and the table {EXCLUDED.name} name"
    )
    return {"code": "note", "message": text}


def _row(
    remedy: Remedy, least_usd: float, question: Question, given: tuple[str, ...]
) -> specs.RemedyRow:
    own = remedy.change.edits
    replaced = {edit.partition("=")[0] for edit in own}
    edits = (*(edit for edit in given if edit.partition("=")[0] not in replaced), *own)
    places = dict.fromkeys(str(question.tree.place(path)) for path in remedy.change.paths)
    return specs.RemedyRow(
        change=remedy.change.text,
        npv_usd=remedy.cost_usd,
        over_cheapest_usd=remedy.cost_usd - least_usd,
        options=" ".join(f"--set {shlex.quote(edit)}" for edit in edits),
        place=", ".join(places),
    )
