"""Payments of an audited plan, terms to price it further, and the plan of a given fleet."""

from __future__ import annotations

from dataclasses import dataclass

from dcplan.economics.cash_flow import Flow
from dcplan.economics.monthly.earlier import Earlier
from dcplan.errors import InputError
from dcplan.inputs.excluded import ExcludedOption
from dcplan.inputs.log import InputLog
from dcplan.planning.audit.books.books import Accounts
from dcplan.planning.audit.energy.contracts import tariff_mwh
from dcplan.planning.audit.existing import earlier_hardware
from dcplan.planning.audit.rent.use import rented_hours
from dcplan.planning.decisions import Decisions
from dcplan.planning.presolve import presolve
from dcplan.planning.problem.build import build
from dcplan.planning.problem.notes import counted_twice
from dcplan.planning.problem.sanity_checks import sanity_notes
from dcplan.planning.problem.terms import PlanningProblem, SiteTerms
from dcplan.planning.solve.request import SolveRequest
from dcplan.planning.solve.solved import Solved
from dcplan.planning.solve.strategy import solve_problem
from dcplan.scenario.load import Question

FLEET_GAP = 0.001
FLEET_TIME_LIMIT_S = 60.0
"""For a given fleet, only halls and networks are open decisions."""


@dataclass(frozen=True)
class PlanCost:
    """Payments of an audited plan before taxes and debt, with its owned and rented capacity."""

    flows: tuple[Flow, ...]
    quarters: int
    discount_rate: float
    life_quarters: int
    """Service life of hardware."""
    storage_tb_per_accelerator: float
    owned_accelerators: int
    """In service or on order in the last quarter, in complete racks."""
    rented_hours: float
    """Accelerator-hours rented on all offers."""
    earlier: tuple[Earlier, ...] = ()
    """Hardware in service before the plan."""


def plan_cost(problem: PlanningProblem, d: Decisions, flows: list[Flow]) -> PlanCost:
    """Collect the payments, owned capacity and rented capacity of a plan."""
    last = problem.quarters - 1
    size = {p.key: p.accelerators for p in problem.placements}
    owned = sum(d.racks_ordered(key, last) * n for key, n in size.items())
    owned += sum(d.existing_racks(x, last) * size[x.key] for x in problem.existing)
    return PlanCost(
        flows=tuple(flows),
        quarters=problem.quarters,
        discount_rate=problem.finance.discount_rate,
        life_quarters=problem.finance.life_quarters,
        storage_tb_per_accelerator=sum(s.usable_tb for s in problem.storage),
        owned_accelerators=owned,
        rented_hours=sum(rented_hours(problem, d, o.id) for o in problem.offers),
        earlier=earlier_hardware(problem, d),
    )


@dataclass(frozen=True)
class SiteEnergy:
    """Energy of a site by quarter, and its price."""

    site: str
    it_mwh: tuple[float, ...]
    """Energy of IT: systems, network and storage."""
    facility_mwh: tuple[float, ...]
    """Energy of IT and of its cooling and power losses."""
    grid_mwh: tuple[float, ...]
    """Energy of the facility without what plants on site generate."""
    usd_per_kwh: tuple[float, ...]


@dataclass(frozen=True)
class FleetPlan:
    """A given fleet in its halls."""

    cost: PlanCost
    log: InputLog
    accelerators: int
    """Number required by the scenario."""
    paid_accelerators: int
    """Number in the complete racks that contain them."""
    offers: tuple[str, ...]
    """Ids of the offers that a plan could rent."""
    excluded: tuple[ExcludedOption, ...]
    solved: Solved
    """The audited plan of the fleet."""
    site: str
    """Site of the fleet."""
    energy: tuple[SiteEnergy, ...]
    """Energy of every site."""


def doubts_of(question: Question) -> list[str]:
    """Return what is probably wrong in a scenario, or counts twice, as a plan says it."""
    return [*counted_twice(question), *sanity_notes(question)]


def fleet_plan(question: Question) -> FleetPlan:
    """Plan the halls and networks of the scenario's ``fleet``.

    Raises
    ------
    InputError
        When there is no fleet, it does not fit, or the horizon is longer than its service life.
    """
    built = build(question)
    problem = built.problem
    problems = presolve(question, built)
    if problems:
        raise InputError(problems)
    life = problem.finance.life_quarters
    if problem.quarters > life:
        cause = (
            f"the fleet retires after {life} quarters, before the horizon of {problem.quarters} "
            "quarters ends, so the comparison is not like for like"
        )
        help_text = "shorten horizon.quarters, or set finance.hardware_life_years"
        raise InputError(
            [question.tree.problem("DC015", cause, ("horizon", "quarters"), help=help_text)]
        )
    solved = solve_problem(
        problem, question, SolveRequest(gap=FLEET_GAP, time_limit_s=FLEET_TIME_LIMIT_S)
    )
    if problem.fleet is None or solved.audit is None or solved.decisions is None:
        cause = "the fleet does not fit the limits; run dcplan plan to see which ones"
        raise InputError([question.tree.problem("DC033", cause, ("fleet",))])
    racks = solved.decisions.fleet
    return FleetPlan(
        plan_cost(problem, solved.decisions, solved.audit.books.flows),
        built.log,
        problem.fleet.accelerators,
        sum(racks.get(p.key, 0) * p.accelerators for p in problem.placements),
        tuple(o.id for o in problem.offers),
        problem.excluded,
        solved,
        problem.hall(problem.fleet.hall).site,
        tuple(
            _site_energy(problem, solved.decisions, solved.audit.books, x) for x in problem.sites
        ),
    )


def _site_energy(
    problem: PlanningProblem, d: Decisions, books: Accounts, site: SiteTerms
) -> SiteEnergy:
    """Collect the energy of a site from the accounts of the audited plan."""
    quarters = range(problem.quarters)
    it, facility = (
        tuple(books.site(problem, site.id, t, what) for t in quarters)
        for what in ("it_mwh", "facility_mwh")
    )
    grid = tuple(tariff_mwh(d, site, facility[t], t) for t in quarters)
    return SiteEnergy(site.id, it, facility, grid, site.usd_per_kwh)
