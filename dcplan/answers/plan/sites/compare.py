"""Plans with one candidate site more, less, or alone, and what they cost against the chosen plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from dcplan.economics.cash_flow import AssetClass, FlowGroup
from dcplan.errors import InputError
from dcplan.planning.audit.measures import cost_usd
from dcplan.planning.decisions import Decisions
from dcplan.planning.goal import COST, MONEY, OBJECTIVES
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.solve.request import LEAST_S, Clock, SolveRequest
from dcplan.planning.solve.solved import Solved
from dcplan.planning.solve.status import SolveStatus
from dcplan.planning.solve.strategy import solve_problem
from dcplan.scenario.load import Question
from dcplan.units import HOURS_PER_QUARTER, USD_PER_MUSD

WORDS = {
    FlowGroup.CAPEX: "capital cost",
    FlowGroup.ENERGY: "energy",
    FlowGroup.OPEX: "operating cost",
    FlowGroup.CLOUD: "rent",
    FlowGroup.UNSERVED: "unserved demand",
    FlowGroup.POST_HORIZON: "rent after the horizon",
    FlowGroup.RESIDUAL: "loss of value",
}
SMALL = 0.02
"""Share of the largest part of a difference below which a part is not named."""


@dataclass(frozen=True)
class Compared:
    """What one candidate site changes; an amount is None where no plan was found."""

    other: Solved
    """With the site if the plan leaves it out, without it if the plan uses it."""
    alone: Solved
    """All new racks at this site."""
    change_usd: float | None = None
    """Cost of the other plan, less that of the plan."""
    low_usd: float | None = None
    """The change is proved to be at least so much."""
    alone_usd: float | None = None
    usd_per_accelerator_hour: float | None = None
    """Of the plan with this site alone."""
    break_even_usd_per_kwh: float | None = None
    """Price of grid energy at the site at which a plan with it costs what the plan costs."""
    parts: Mapping[FlowGroup, float] = field(default_factory=dict)
    """Present value of the change by kind of cost. [USD]"""


def candidates(problem: PlanningProblem) -> tuple[str, ...]:
    """Return the sites where racks may be ordered."""
    site_of = {h.id: h.site for h in problem.halls}
    able = {
        site_of[p.hall]
        for p in problem.placements
        if p.system in problem.orderable and (p.hall, p.system) not in problem.closed
    }
    return tuple(s.id for s in problem.sites if s.id in able)


def chosen(problem: PlanningProblem, d: Decisions) -> frozenset[str]:
    """Return the sites where a plan orders racks."""
    return frozenset(problem.hall(key[0]).site for key, n in d.ordered.items() if n)


def refuse_no_comparison(problem: PlanningProblem, question: Question) -> None:
    """Refuse a comparison of sites that has nothing to compare.

    Raises
    ------
    InputError
        When the objective is no cost (DC004), or racks may be ordered at fewer than two sites (DC015).
    """
    if OBJECTIVES[question.scenario.objective] not in MONEY:
        cause = (
            f"--compare-sites compares costs, and the objective is {question.scenario.objective}"
        )
        more = "--set objective=min_cost"
        raise InputError([question.tree.problem("DC004", cause, ("objective",), help=more)])
    if len(candidates(problem)) < 2:
        cause = "--compare-sites needs two sites where racks may be ordered"
        more = "add sites, or leave --compare-sites out"
        raise InputError([question.tree.problem("DC015", cause, ("sites",), help=more)])


def compared(solved: Solved, question: Question, request: SolveRequest) -> dict[str, Compared]:
    """Solve the plan of each candidate site with it or without it, and with it alone.

    The solves share the time limit of the request evenly; what one leaves is for the next. Empty for
    an objective other than cost, or with fewer than two candidates.

    Parameters
    ----------
    solved : Solved
        The audited plan.
    request : SolveRequest
        Gap and time limit.
    """
    problem = solved.problem
    sites = candidates(problem)
    if solved.decisions is None or problem.goal.measure not in MONEY or len(sites) < 2:
        return {}
    used = chosen(problem, solved.decisions)
    clock, left = Clock(request.time_limit_s), 2 * len(sites)
    asked = replace(
        request, near=solved.integer_values, progress=None, team=None, fixed=None, screen=False
    )
    found: dict[str, Compared] = {}
    for site in sites:
        solves = []
        for changed in (_reversed(problem, site, used), _only(problem, sites, site)):
            limit_s = max(clock.left() / left, LEAST_S)
            solves.append(solve_problem(changed, question, asked.within(limit_s)))
            left -= 1
        found[site] = _against(solved, site, used, *solves)
    return found


def _reversed(problem: PlanningProblem, site: str, used: frozenset[str]) -> PlanningProblem:
    """Return the problem without a site that the plan uses, or with one that it leaves out."""
    if site in used:
        return _without(problem, {site})
    return replace(problem, forced_sites=(site,))


def _only(problem: PlanningProblem, sites: tuple[str, ...], site: str) -> PlanningProblem:
    """Return the problem with new racks at one site."""
    return replace(_without(problem, set(sites) - {site}), sites_min=None)


def _without(problem: PlanningProblem, sites: set[str]) -> PlanningProblem:
    """Return the problem without orders at some sites; hardware that exists stays."""
    pairs = {(p.hall, p.system) for p in problem.placements if problem.hall(p.hall).site in sites}
    return replace(problem, closed=problem.closed | pairs)


def _against(
    base: Solved, site: str, used: frozenset[str], other: Solved, alone: Solved
) -> Compared:
    change = _usd(other, base)
    alone_usd = alone.cost_usd if alone.audit is not None else None
    hours = _accelerator_hours(alone)
    prices = [] if site in used else [_break_even(base, x, site) for x in (other, alone)]
    return Compared(
        other,
        alone,
        change,
        None if change is None else other.bound * USD_PER_MUSD - base.cost_usd,
        alone_usd,
        alone_usd / hours if alone_usd is not None and hours else None,
        max((p for p in prices if p is not None), default=None),
        {} if change is None else _parts(base, other),
    )


def _usd(other: Solved, base: Solved) -> float | None:
    return other.cost_usd - base.cost_usd if other.audit is not None else None


def _parts(base: Solved, other: Solved) -> dict[FlowGroup, float]:
    sums = []
    for x in (base, other):
        flows = x.audit.books.flows if x.audit else []
        sums.append({g: cost_usd(x.problem, [f for f in flows if f.group is g]) for g in WORDS})
    return {g: sums[1][g] - sums[0][g] for g in WORDS}


def _accelerator_hours(solved: Solved) -> float:
    """Return the accelerator-hours of racks in service over the horizon."""
    d, problem = solved.decisions, solved.problem
    if d is None:
        return 0.0
    return sum(
        d.racks(problem, p.key, t) * p.accelerators * HOURS_PER_QUARTER
        for p in problem.placements
        for t in range(problem.quarters)
    )


def _break_even(base: Solved, other: Solved, site: str) -> float | None:
    """Return the price of grid energy of a site at which another plan costs what the base costs.

    The mean price of the plan's energy, less the difference of the costs over its discounted energy.
    None where no price above 0 is low enough.
    """
    problem = other.problem
    if other.audit is None or problem.goal.measure != COST:
        return None
    grid = [
        (f, f.goods.quantity)
        for f in other.audit.books.flows
        if f.site == site and f.asset is AssetClass.GRID_ENERGY and f.goods is not None
    ]
    usd = cost_usd(problem, [f for f, _ in grid])
    kwh = cost_usd(problem, [replace(f, usd=amount) for f, amount in grid])
    if kwh <= 0.0:
        return None
    price = (usd - (other.cost_usd - base.cost_usd)) / kwh
    return price if price > 0.0 else None


def why(found: Compared, *, used: bool) -> str:
    """Return why the plan leaves a site out or uses it, from the costs of the other plan."""
    if found.change_usd is None:
        proved = found.other.status is SolveStatus.INFEASIBLE
        what = "without it" if used else "with it"
        return f"no plan {what} exists" if proved else f"no plan {what} was found in time"
    most = max((abs(x) for x in found.parts.values()), default=0.0)
    named = sorted(
        ((g, x) for g, x in found.parts.items() if abs(x) > SMALL * most), key=lambda x: -abs(x[1])
    )
    more, less = (", ".join(WORDS[g] for g, x in named if sign * x > 0) for sign in (1, -1))
    parts = [f"{word} {text}" for word, text in (("more", more), ("less", less)) if text]
    return f"{'without it' if used else 'with it'}: {'; '.join(parts) or 'no difference'}"
