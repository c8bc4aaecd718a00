"""``dcplan plan``: the optimal, audited plan of a scenario."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from dcplan.answers.common.result_blocks import describe, inputs_of, solver_block
from dcplan.answers.explain.shadow_prices import limits_of
from dcplan.answers.plan.metrics import metrics_of
from dcplan.answers.plan.no_plan import impossible, infeasible, nothing_yet
from dcplan.answers.plan.replan import decisions_of, kept_from
from dcplan.answers.plan.tables.lead_times import late_notes, lead_times
from dcplan.answers.plan.tables.overview import tables_of
from dcplan.answers.plan.tables.runs import too_small
from dcplan.errors import (
    EXIT_INCOMPLETE,
    EXIT_INTERRUPTED,
    EXIT_NO,
    EXIT_OK,
    InputError,
    Place,
    Problem,
)
from dcplan.inputs.log import Ledger
from dcplan.planning.presolve import presolve
from dcplan.planning.problem.build import Built, build
from dcplan.planning.solve.objective import solve_objective
from dcplan.planning.solve.request import SolveRequest
from dcplan.planning.solve.solved import Solved
from dcplan.planning.solve.status import SolveStatus
from dcplan.planning.solve.strategy import UnknownDecisionError
from dcplan.result import Metric, Result, Table
from dcplan.scenario.expect import check_metrics, evaluate
from dcplan.scenario.load import Question, load
from dcplan.units import DAYS_PER_QUARTER, MONTHS_PER_QUARTER, money

TableMaker = Callable[[Solved, Question, Ledger], dict[str, Table]]
"""A function that adds tables to the result of a solved plan."""

DEFAULT_GAP = 0.005
DEFAULT_TIME_LIMIT_S = 120.0


def plan(  # noqa: PLR0913 - the flags of the verb
    scenario: str | Path,
    *,
    variant: str | None = None,
    sets: Sequence[str] = (),
    catalogs: Sequence[str] = (),
    gap: float = DEFAULT_GAP,
    time_limit_s: float = DEFAULT_TIME_LIMIT_S,
    fix_decisions: Result | None = None,
    earlier: Result | None = None,
    freeze_through: str | None = None,
    max_changes: int | None = None,
    progress: Callable[[float, float, float, int], None] | None = None,
    stop: Callable[[], bool] | None = None,
    more_tables: Sequence[TableMaker] = (),
) -> Result:
    """Find the plan that meets a scenario best by its objective, prove how far from optimal it is,
    and audit it.

    Parameters
    ----------
    scenario : str or Path
        File, or the name of a packaged example.
    variant : str, optional
        A name in the file's ``scenarios:``.
    sets : sequence of str
        ``key=value`` changes, applied last.
    catalogs : sequence of str
        Overlay folders.
    gap : float, default 0.005
        Relative gap at which the solver may stop. [-]
    time_limit_s : float, default 120
        Wall time of the solve; what is found by then is audited and returned with its gap. [s]
    fix_decisions : Result, optional
        Keep the decisions of an earlier plan and recompute everything else.
    earlier : Result, optional
        An earlier plan to replan from.
    freeze_through : str, optional
        Quarter up to which the earlier plan's orders, halls, blocks, runs and fabrics stay.
    max_changes : int, optional
        Orders, runs and fabrics that may differ from the earlier plan after that.
    progress, stop : callable, optional
        Told seconds, incumbent, bound and nodes; asked whether to end now.
    more_tables : sequence of callable
        Functions of the solved plan whose tables join the result, such as the data of the workbook.

    Raises
    ------
    InputError
        When the scenario is wrong; carries every problem.
    AuditError
        When a plan fails its own audit: a bug.
    """
    began = time.monotonic()
    question = load(str(scenario), variant=variant, sets=sets, catalogs=catalogs)
    problems = check_metrics(question.scenario, question.catalog, question.tree)
    if problems:
        raise InputError(problems)
    built = build(question)
    found = presolve(question, built)
    if found:
        return impossible(question, built, found)
    try:
        fixed = decisions_of(fix_decisions) if fix_decisions else None
        kept = kept_from(
            question, built, earlier, freeze_through, max_changes, fixed=fixed is not None
        )
        solved = solve_objective(
            replace(built.menu, keep=kept),
            question,
            SolveRequest(
                gap=gap, time_limit_s=time_limit_s, fixed=fixed, progress=progress, stop=stop
            ),
        )
    except UnknownDecisionError as error:
        raise InputError([Problem("DC015", str(error), Place("--fix-decisions"))]) from error
    if solved.status == SolveStatus.INFEASIBLE:
        return infeasible(question, built, solved)
    return _answer(question, built, solved, gap, began, stop, more_tables)


def _answer(
    question: Question,
    built: Built,
    solved: Solved,
    gap: float,
    began: float,
    stop: Callable[[], bool] | None,
    more_tables: Sequence[TableMaker],
) -> Result:
    if solved.audit is None:
        return nothing_yet(question, built, solved)
    metrics = metrics_of(solved, question.catalog)
    more: dict[str, Table] = {}
    if question.scenario.uncertainty is not None:
        from dcplan.answers.plan.futures import (
            futures_of,
        )  # scipy.optimize takes a second to import

        spread, more = futures_of(solved, question.scenario.uncertainty, built.ledger, stop)
        metrics |= spread
    values = {k: m.value for k, m in metrics.items()}
    expectations = evaluate(question.scenario.expect, values, variant=question.variant)
    warnings = [
        {"code": "note", "message": text} for text in (*solved.menu.warnings, *_end_notes(solved))
    ]
    warnings += [
        {"code": "given", "message": f"a given decision exceeds a limit: {text}"}
        for text in solved.audit.given
    ]
    tables = tables_of(solved, metrics, question.catalog) | more
    for maker in more_tables:
        tables |= maker(solved, question, built.ledger)
    tables["limits"] = limits_of(solved, question)
    if solved.decisions is not None:
        tables["lead_times"] = lead_times(solved.menu, solved.decisions, built.ledger)
        warnings += [{"code": "lead", "message": text} for text in late_notes(tables["lead_times"])]
    warnings += _flags(solved, tables["bands"], gap)
    given = question.scenario.storage.usable_pb if question.scenario.storage else None
    small = too_small(tables["storage"], given.value if given else None)
    warnings += [{"code": "storage", "message": text} for text in small]
    failed = [e for e in expectations if e["passed"] is False and e["severity"] == "error"]
    if solved.status == SolveStatus.INTERRUPTED:
        status, code = "interrupted", EXIT_INTERRUPTED
    elif solved.status == SolveStatus.LIMIT and solved.gap_frac > gap:
        status, code = "incomplete", EXIT_INCOMPLETE
    elif failed:
        status, code = "expectation_failed", EXIT_NO
    else:
        status, code = "ok", EXIT_OK
    return Result(
        verb="plan",
        status=status,
        exit_code=code,
        headline=_headline(question, metrics, status, _rounding(solved))
        + ("; given decisions exceed a limit" if solved.audit.given else ""),
        scenario=describe(question),
        solver=solver_block(solved),
        metrics=metrics,
        tables=tables,
        inputs=inputs_of(built),
        expectations=expectations,
        warnings=warnings,
        run={
            "seconds": round(time.monotonic() - began, 3),
            "solve_seconds": round(solved.seconds, 3),
        },
    )


def _rounding(solved: Solved) -> str:
    """How much of the printed gap is whole switches rather than unfinished search."""
    part = solved.gap_frac - solved.solver_gap_frac
    return (
        f", {part:.2%} of it whole switches"
        if solved.status == SolveStatus.OPTIMAL and part > 0.001
        else ""
    )


def _flags(solved: Solved, bands: Table, gap: float) -> list[dict[str, str]]:
    """Bands left, and what the printed gap is made of where it is above the asked one."""
    found = [
        {
            "code": "band",
            "message": f"{row[0]}: {row[1]:,.6g} is outside {row[2]:,.6g} to {row[3]:,.6g}",
        }
        for row in bands.rows
        if row[4] == "OUTSIDE"
    ]
    if solved.status == SolveStatus.OPTIMAL and solved.gap_frac > gap:
        text = (
            f"gap {solved.gap_frac:.2%}: the solver closed its part to {gap:.2%}; the rest is whole switches and "
            "scalable units, which the bound counts in fractions"
        )
        found.append({"code": "gap", "message": text})
    if solved.ended:
        text = f"gap {solved.gap_frac:.2%}: {solved.ended}; time did not run out, and more of it finds the same plan"
        found.append({"code": "gap", "message": text})
    return found


def _headline(question: Question, metrics: dict[str, Metric], status: str, rounding: str) -> str:
    def number(key: str) -> float:
        return float(metrics[key].value or 0.0)

    jobs = [
        f"{j.id} {number(f'train.{j.id}.days'):.0f} days"
        for j in question.scenario.workloads.training
        if f"train.{j.id}.days" in metrics
    ]
    parts = [
        f"{number('accelerators.total'):,.0f} accelerators in {number('racks.total'):,.0f} racks",
        f"{number('power.peak_facility_mw'):.1f} MW facility",
        f"USD {money(number('cost.capex_usd'))} capex",
        f"USD {money(number('cost.npv_usd'))} net present cost "
        f"after USD {money(number('cost.residual_usd'))} residual value",
        *jobs,
        f"{status.replace('_', ' ')} (gap {number('solver.gap_frac'):.2%}{rounding})",
    ]
    return f"{question.scenario.name}: " + ", ".join(parts)


def _end_notes(solved: Solved) -> list[str]:
    """Say where the horizon, not the demand, decided a date."""
    menu, d = solved.menu, solved.decisions
    notes = []
    for run in d.runs if d else ():
        job = next(j for j in menu.jobs if j.id == run.job)
        horizon_end = menu.quarters * DAYS_PER_QUARTER
        if (
            job.end_day >= horizon_end
            and run.start_month >= job.first_month + 2 * MONTHS_PER_QUARTER
        ):
            notes.append(
                f"{run.job} starts {run.start_month - job.first_month} months after it may: nothing here rewards "
                "an early finish and hardware bought late keeps more value; give `deadline` to ask for it sooner"
            )
    return notes
