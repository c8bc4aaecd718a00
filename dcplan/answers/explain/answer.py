"""``dcplan explain``: why this plan, or why none; what a limit is worth; what forcing or changing
something costs.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from dcplan.answers.common.result_blocks import describe, inputs_of, solver_block
from dcplan.answers.explain.infeasible import no_plan, with_later
from dcplan.answers.explain.later_deadline import later_ends
from dcplan.answers.explain.shadow_prices import MOST_EXACT, binding_table
from dcplan.answers.explain.switching_values import Ask, flips
from dcplan.answers.plan.metrics import metrics_of
from dcplan.answers.plan.no_plan import impossible, nothing_yet
from dcplan.answers.plan.tables.overview import left_out
from dcplan.catalog.schema import System
from dcplan.economics.cash_flow import GROUPS, Flow, npv_usd
from dcplan.errors import (
    EXIT_INCOMPLETE,
    EXIT_INTERRUPTED,
    EXIT_OK,
    InputError,
    Place,
    Problem,
    did_you_mean,
)
from dcplan.planning.audit.accounts import Accounts
from dcplan.planning.decisions import Decisions
from dcplan.planning.explain.binding import stranded
from dcplan.planning.presolve import presolve
from dcplan.planning.problem.build import Built, build
from dcplan.planning.problem.terms import Menu
from dcplan.planning.solve.request import SolveRequest
from dcplan.planning.solve.solved import Solved
from dcplan.planning.solve.status import SolveStatus
from dcplan.planning.solve.strategy import solve_menu
from dcplan.result import Cell, Result, Table
from dcplan.scenario.load import Question, load
from dcplan.units import money

FLAG = "--what-if"
SAME = 1e-9


def explain(  # noqa: PLR0913 - the flags of the verb
    scenario: str | Path,
    *,
    why_not: Sequence[str] = (),
    what_if: Sequence[str] = (),
    flip: Sequence[str] | None = None,
    exact: int | None = None,
    variant: str | None = None,
    sets: Sequence[str] = (),
    catalogs: Sequence[str] = (),
    gap: float = 0.005,
    time_limit_s: float = 300.0,
    stop: Callable[[], bool] | None = None,
) -> Result:
    """Explain the cheapest plan of a scenario, or why there is none.

    Parameters
    ----------
    scenario : str or Path
        File, or the name of a packaged example.
    why_not : sequence of str
        Systems that the plan does not buy: what buying one rack of each would cost.
    what_if : sequence of str
        ``key=value`` changes, all made at once: what the plan would cost then.
    flip : sequence of str, optional
        Inputs (keys of the plan's ``inputs``) whose nearest value that changes a decision is looked
        for; empty for those of the scenario's ``sensitivity``, or the ones with the widest bounds.
    exact : int, optional
        Binding limits whose next unit is re-solved, beside the price with whole choices fixed; left
        out, 4, or none where another question is asked.
    gap : float, default 0.005
        Relative gap at which each solve may stop. [-]
    time_limit_s : float, default 300
        Of all solves together. [s]

    Raises
    ------
    InputError
        When the scenario is wrong, or a system unknown.
    """
    began = time.monotonic()
    question = load(str(scenario), variant=variant, sets=sets, catalogs=catalogs)
    _cheapest(question)
    built = build(question)
    wanted = [_system(name, question, built) for name in why_not]

    def left_s() -> float:
        return max(time_limit_s - (time.monotonic() - began), 1.0)

    asked = (variant, sets, catalogs)
    problems = presolve(question, built)
    if problems and not _stated(built.menu):
        later = later_ends(scenario, asked, question, left_s, stop)
        return with_later(
            replace(impossible(question, built, problems), verb="explain"), later, question
        )
    solved = solve_menu(
        built.menu, question, SolveRequest(gap=gap, time_limit_s=left_s() / 2, stop=stop)
    )
    if solved.status == SolveStatus.INFEASIBLE:
        none = no_plan(question, built, solved, time_limit_s=left_s(), stop=stop)
        return with_later(none, later_ends(scenario, asked, question, left_s, stop), question)
    if solved.audit is None or solved.decisions is None:
        return replace(nothing_yet(question, built, solved), verb="explain")
    ask = Ask(scenario, asked, gap, left_s, solved, question, stop)
    tables = _tables(ask, built, wanted, what_if, flip, exact)
    tables["stranded"] = _stranded(solved.menu, solved.decisions, solved.audit.books)
    tables["left_out"] = left_out(built.menu)
    warnings = []
    if solved.gap_frac > gap:
        text = f"the plan's own gap is {solved.gap_frac:.2%}: differences below that are not proved"
        warnings.append({"code": "gap", "message": text})
    cost = solved.audit.npv_usd
    full = tables["binding"].rows
    words = (
        (
            f"{len(full)} limits bind, first {full[0][0]}"
            if len(full) > 1
            else f"1 limit binds: {full[0][0]}"
        )
        if full
        else "no limit of yours binds"
    )
    return Result(
        "explain",
        *_ending(solved, gap, stop),
        f"{question.scenario.name}: USD {money(cost)} net present cost, gap {solved.gap_frac:.2%}; {words}",
        scenario=describe(question),
        solver=solver_block(solved),
        metrics={
            k: m
            for k, m in metrics_of(solved, question.catalog).items()
            if k.startswith(("cost.", "solver."))
        },
        tables=tables,
        inputs=inputs_of(built),
        warnings=warnings,
        run={"seconds": round(time.monotonic() - began, 3)},
    )


def _tables(
    ask: Ask,
    built: Built,
    wanted: Sequence[str],
    what_if: Sequence[str],
    flip: Sequence[str] | None,
    exact: int | None,
) -> dict[str, Table]:
    """What was asked for, each by re-solving, and the limits that bind."""
    question, solved, gap, left_s, stop = ask.question, ask.near, ask.gap, ask.left_s, ask.stop
    tables: dict[str, Table] = {}
    if wanted:
        tables["why_not"] = _why_not(wanted, question, built, solved, gap, left_s, stop)
    if flip is not None:
        tables["flips"] = flips(
            flip, ask.scenario, ask.asked, question, built, solved, gap, left_s, stop
        )
    if what_if:
        tables["what_if"] = _what_if(what_if, ask.scenario, ask.asked, solved, gap, left_s, stop)
    many = _count(exact, asked=bool(wanted or what_if or flip is not None))
    tables["binding"] = binding_table(question, solved, many, gap, left_s, stop)
    return tables


def _stranded(menu: Menu, decisions: Decisions, books: Accounts) -> Table:
    """What stands idle, and the limit that keeps it so."""
    rows = tuple((s.where, s.what, s.idle, s.there, s.by) for s in stranded(menu, decisions, books))
    return Table(("where", "what", "idle", "of", "stranded_by"), rows)


def _ending(solved: Solved, gap: float, stop: Callable[[], bool] | None) -> tuple[str, int]:
    """Status and exit code of an answer with a plan."""
    done = solved.status == SolveStatus.OPTIMAL or solved.gap_frac <= gap
    status, code = ("ok", EXIT_OK) if done else ("incomplete", EXIT_INCOMPLETE)
    if stop is not None and stop():
        status, code = "interrupted", EXIT_INTERRUPTED
    return status, code


def _stated(menu: Menu) -> bool:
    """Whether the model can be written at all: every job and demand has a way, a given fleet a
    place.
    """
    jobs = {c.job for c in menu.configs} >= {j.id for j in menu.jobs}
    served = all(d.each or d.unmet_usd is not None or not any(d.wanted) for d in menu.demands)
    fleet = menu.fleet
    placed = fleet is None or any(
        (p.hall, p.system) == (fleet.hall, fleet.system) for p in menu.placements
    )
    return jobs and served and placed


def _count(exact: int | None, *, asked: bool) -> int:
    return exact if exact is not None else 0 if asked else MOST_EXACT


def _renamed(place: Place | None) -> Place | None:
    return replace(place, path=place.path.replace("--set", FLAG)) if place else None


def _cheapest(question: Question) -> None:
    if question.scenario.objective != "min_cost":
        cause = f"explain is of the cheapest plan: objective {question.scenario.objective} is not supported here"
        raise InputError(
            [question.tree.problem("DC004", cause, ("objective",), help="--set objective=min_cost")]
        )


def _system(name: str, question: Question, built: Built) -> str:
    row = question.catalog.find("systems", name, System)
    if row is None:
        hint = did_you_mean(name, question.catalog.rows["systems"])
        raise InputError(
            [
                Problem(
                    "DC010",
                    f"no systems row {name!r}",
                    Place("--why-not"),
                    hint,
                    help="dcplan catalog list systems",
                )
            ]
        )
    return row.id


def _why_not(
    systems: Sequence[str],
    question: Question,
    built: Built,
    solved: Solved,
    gap: float,
    left_s: Callable[[], float],
    stop: Callable[[], bool] | None,
) -> Table:
    """What one rack of each would cost more, by cost line; or why it cannot be bought at all."""
    base = _by_group(solved)
    rows: list[tuple[Cell, ...]] = []
    for name in systems:
        bought = solved.decisions is not None and any(
            k == name for _, _, k, _ in solved.decisions.ordered
        )
        reasons = [x.reason for x in built.menu.left_out if x.id == name]
        able = [
            p for p in built.menu.placements if p.system == name and name in built.menu.orderable
        ]
        if bought or not able:
            why = (
                "the plan buys it"
                if bought
                else "; ".join(dict.fromkeys(reasons)) or "not among `systems:`"
            )
            rows.append((name, None, *[None] * len(GROUPS), why))
            continue
        forced = replace(built.menu, forced=(name,))
        other = solve_menu(
            forced,
            question,
            SolveRequest(
                gap=gap, time_limit_s=left_s() / len(systems), near=solved.whole, stop=stop
            ),
        )
        if other.audit is None:
            why = (
                "no plan with it"
                if other.status == SolveStatus.INFEASIBLE
                else "no plan with it found in time"
            )
            rows.append((name, None, *[None] * len(GROUPS), why))
            continue
        changes = _by_group(other)
        extra = other.audit.npv_usd - (solved.audit.npv_usd if solved.audit else math.nan)
        note = f"gaps {solved.gap_frac:.2%} and {other.gap_frac:.2%}"
        rows.append((name, extra, *(changes[g] - base[g] for g in GROUPS), note))
    return Table(("system", "npv_usd", *(f"{g}_npv_usd" for g in GROUPS), "note"), tuple(rows))


def _by_group(solved: Solved) -> dict[str, float]:
    """Present value of each cost line. [USD]"""
    flows: list[Flow] = solved.audit.books.flows if solved.audit else []
    rate = solved.menu.finance.discount_rate
    return {g: npv_usd([f for f in flows if f.group is g], rate) for g in GROUPS}


def _what_if(
    changes: Sequence[str],
    scenario: str | Path,
    asked: tuple[str | None, Sequence[str], Sequence[str]],
    solved: Solved,
    gap: float,
    left_s: Callable[[], float],
    stop: Callable[[], bool] | None,
) -> Table:
    """The plan with changed inputs beside the plan as it is, line by line."""
    variant, sets, catalogs = asked
    try:
        question = load(str(scenario), variant=variant, sets=(*sets, *changes), catalogs=catalogs)
    except InputError as error:
        renamed = [
            replace(p, place=_renamed(p.place), cause=p.cause.replace("--set", FLAG))
            for p in error.problems
        ]
        raise InputError(renamed) from error
    _cheapest(question)
    built = build(question)
    columns = ("metric", "now", "then", "change")
    if presolve(question, built):
        return Table(
            columns, (("plan", "exists", "impossible: dcplan plan with --set says why", None),)
        )
    other = solve_menu(
        built.menu,
        question,
        SolveRequest(gap=gap, time_limit_s=left_s() / 2, near=solved.whole, stop=stop),
    )
    if other.audit is None:
        return Table(columns, (("plan", "exists", other.status, None),))
    now, then = (metrics_of(s, question.catalog) for s in (solved, other))
    rows: list[tuple[Cell, ...]] = []
    for key in dict.fromkeys((*now, *then)):
        a, b = (m[key].value if key in m else 0.0 for m in (now, then))
        change = (
            float(b) - float(a)
            if isinstance(a, int | float) and isinstance(b, int | float)
            else None
        )
        same = a == b if change is None else abs(change) <= SAME * max(abs(float(a or 0.0)), 1e-12)
        if same:
            continue
        rows.append((key, a, b, change))
    return Table(columns, tuple(rows))
