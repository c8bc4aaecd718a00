"""``dcplan explain``: reasons for a plan or for infeasibility; effects of limits and changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dcplan.answers.common.result_blocks import describe, inputs_of, solver_block
from dcplan.answers.explain.infeasible import no_plan, remedied
from dcplan.answers.explain.late_start import late_start_note, late_start_table, waiting_runs
from dcplan.answers.explain.plant_leads import PlantLead, plant_leads
from dcplan.answers.explain.request import ExplainRequest
from dcplan.answers.explain.resolve import Base, resolve
from dcplan.answers.explain.shadow_prices import binding_table, unused_capacity_table
from dcplan.answers.explain.switching_values import switching_values
from dcplan.answers.explain.what_if import what_if
from dcplan.answers.explain.why_not import why_not
from dcplan.answers.plan.headline import percent, quality
from dcplan.answers.plan.metrics import money_metrics, solver_metrics
from dcplan.answers.plan.no_plan import impossible, nothing_yet
from dcplan.answers.plan.tables.excluded import excluded_options
from dcplan.errors import EXIT_INCOMPLETE, EXIT_INTERRUPTED, EXIT_OK
from dcplan.planning.explain.shortages import is_expressible
from dcplan.planning.presolve import presolve
from dcplan.planning.solve.status import Phase, SolveStatus, begin
from dcplan.result import Result, Table
from dcplan.specs.explain import BINDING
from dcplan.specs.verb import verb
from dcplan.units import money


@verb(ExplainRequest, "explain")
def explain(request: ExplainRequest) -> Result:
    """Explain the cheapest plan of a scenario, or why none exists.

    Raises
    ------
    InputError
        When the scenario has errors, or a system is unknown.
    """
    asked = resolve(request)
    question, built = asked.question, asked.built
    problems = presolve(question, built)
    if problems and not is_expressible(built.problem):
        none = replace(impossible(question, built, problems), verb="explain")
        return remedied(asked, none)
    solved = asked.solve(built.problem, question, share=0.5)
    if solved.status == SolveStatus.INFEASIBLE:
        return no_plan(asked, solved)
    if solved.audit is None or solved.decisions is None:
        return replace(nothing_yet(question, built, solved), verb="explain")
    return _answer(Base(asked, solved, solved.decisions, solved.audit))


def _answer(base: Base) -> Result:
    """Return the requested tables, each from a re-solve, and the binding limits."""
    asked, solved = base.asked, base.solved
    request, question = asked.request, asked.question
    tables: dict[str, Table] = {}
    if request.why_not:
        tables["why_not"] = why_not(base)
    if request.switching_values or request.switching_value_of:
        tables["switching_values"] = switching_values(base)
    changed = what_if(base) if request.what_if else None
    if changed is not None:
        tables |= changed.tables
    late = waiting_runs(base)
    if late:
        tables["late_starts"] = late_start_table(base)
    begin(request.progress, Phase.LIMITS)
    tables["binding"] = binding_table(base)
    tables["unused_capacity"] = unused_capacity_table(base)
    tables["excluded"] = excluded_options(asked.built.problem)
    leads = plant_leads(asked.built.problem, base.decisions)
    status, code = _ending(base)
    return Result(
        "explain",
        status,
        code,
        f"{question.scenario.name}: USD {money(base.cost_usd)} net present cost{solved.problem.goal.basis}, "
        f"{quality(solved)}; {_binds(tables['binding'], leads)}"
        + (f"; {changed.words}" if changed is not None and changed.words else ""),
        scenario=describe(question),
        solver=solver_block(solved),
        metrics={**money_metrics(solved, question.catalog), **solver_metrics(solved)},
        tables=tables,
        inputs=inputs_of(asked.built),
        warnings=[
            *_warnings(base),
            *(lead.note for lead in leads),
            *([late_start_note(late, tables["late_starts"])] if late else []),
            *(changed.warnings if changed is not None else ()),
        ],
        run={"seconds": round(asked.clock.spent(), 3)},
    )


def _binds(table: Table, leads: Sequence[PlantLead]) -> str:
    """Return the number of binding limits and the most expensive one; without any, lead times of plants."""
    rows = BINDING.rows(table)
    if not rows:
        return "; ".join(("none of the scenario's limits is binding", *(x.words for x in leads)))
    first = rows[0].limit
    return (
        (f"{len(rows)} limits are binding, the most expensive is {first}")
        if len(rows) > 1
        else f"1 limit is binding: {first}"
    )


def _warnings(base: Base) -> list[dict[str, str]]:
    """Warn of a gap that is larger than requested, because smaller differences are not proven."""
    gap = base.solved.gap_frac
    if gap <= base.asked.request.gap:
        return []
    text = (
        f"the plan's proven gap is {percent(gap)}; cost differences below this gap are not proven"
    )
    return [{"code": "gap", "message": text}]


def _ending(base: Base) -> tuple[str, int]:
    """Return status and exit code of an answer with a plan."""
    solved, request = base.solved, base.asked.request
    if request.stopped:
        return "interrupted", EXIT_INTERRUPTED
    done = solved.status == SolveStatus.OPTIMAL or solved.gap_frac <= request.gap
    return ("ok", EXIT_OK) if done else ("incomplete", EXIT_INCOMPLETE)
