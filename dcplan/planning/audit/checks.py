"""Every constraint of a plan, checked against the exact accounts."""

from __future__ import annotations

from collections.abc import Iterable

from dcplan.economics.cash_flow import cash_out_usd, debt_usd
from dcplan.planning.audit.books.books import Accounts
from dcplan.planning.audit.check import Check
from dcplan.planning.audit.energy.interrupted import interruption_checks
from dcplan.planning.audit.energy.ramp import ramp_checks
from dcplan.planning.audit.existing import existing_checks
from dcplan.planning.audit.links import link_checks
from dcplan.planning.audit.measures import measured
from dcplan.planning.audit.places import hall_checks, site_checks
from dcplan.planning.audit.rent.checks import cloud_checks
from dcplan.planning.audit.rent.leases import lease_checks
from dcplan.planning.audit.upgrades import upgrade_checks
from dcplan.planning.audit.work.demands import demand_checks, sharing_checks
from dcplan.planning.audit.work.jobs import job_checks
from dcplan.planning.check_ids import BOUGHT, CheckId, Part
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.terms import PlanningProblem


def all_checks(problem: PlanningProblem, d: Decisions, books: Accounts) -> list[Check]:
    """Return every check of a plan, satisfied or violated."""
    checks: list[Check] = []
    checks += hall_checks(problem, d, books)
    checks += upgrade_checks(problem, d)
    checks += site_checks(problem, d, books)
    checks += _order_checks(problem, d)
    checks += lease_checks(problem, d)
    checks += _parts_checks(problem, d, books)
    checks += job_checks(problem, d)
    checks += link_checks(problem, d)
    checks += interruption_checks(problem, d, books)
    checks += ramp_checks(problem, d)
    checks += sharing_checks(problem, d)
    checks += demand_checks(problem, d)
    checks += cloud_checks(problem, d)
    checks += _budget_checks(problem, books)
    checks += _goal_checks(problem, d, books)
    return checks


def _goal_checks(problem: PlanningProblem, d: Decisions, books: Accounts) -> Iterable[Check]:
    for limit in problem.goal.limits:
        found = measured(limit.measure, problem, d, books)
        yield Check(
            CheckId.GOAL_LIMIT,
            "goal",
            problem.quarters - 1,
            found,
            limit.audited_most,
            subject=limit.measure,
        )


def _order_checks(problem: PlanningProblem, d: Decisions) -> Iterable[Check]:
    placed = {p.key: p for p in problem.placements}
    for h, c, k, t in d.ordered:
        place = placed[h, c, k]
        yield Check(CheckId.ORDER_BEFORE_RELEASE, k, t, place.first_order, t)
        yield Check(CheckId.DELIVERED_IN_HORIZON, k, t, t + place.lead, problem.quarters - 1)
    for supply in problem.supply:
        for t, limit in enumerate(supply.racks):
            ordered = sum(
                n for (_, _, k, q), n in d.ordered.items() if k == supply.system and q == t
            )
            yield Check(CheckId.SUPPLY_RACKS, supply.system, t, ordered, limit)
    yield from existing_checks(problem, d)
    yield from _share_checks(problem, d)
    yield from _fleet_checks(problem, d)


def _fleet_checks(problem: PlanningProblem, d: Decisions) -> Iterable[Check]:
    if problem.fleet is None:
        return
    placed = {p.key: p for p in problem.placements}
    there = sum(n * placed[key].accelerators for key, n in d.fleet.items())
    most = max((placed[key].accelerators for key in d.fleet), default=0)
    yield Check(CheckId.FLEET_MISSING, problem.fleet.system, 0, problem.fleet.accelerators, there)
    yield Check(
        CheckId.FLEET_BEYOND_RACKS,
        problem.fleet.system,
        0,
        there,
        problem.fleet.accelerators + most - 1,
    )
    yield Check(
        CheckId.FLEET_IN_PART_RACKS,
        problem.fleet.system,
        0,
        there,
        problem.fleet.accelerators,
        given=True,
    )
    for key in d.fleet:
        where = f"{key[0]} {key[2]}"
        yield Check(
            CheckId.NODES_PER_RACK,
            where,
            0,
            placed[key].nodes,
            placed[key].derived_nodes,
            given=True,
        )


def _share_checks(problem: PlanningProblem, d: Decisions) -> Iterable[Check]:
    placed = {p.key: p for p in problem.placements}
    spent = {(h, c, k, t): n * placed[h, c, k].rack_usd(t) for (h, c, k, t), n in d.ordered.items()}
    for maker, most in problem.vendor_share.items():
        own = sum(usd for (h, c, k, _), usd in spent.items() if maker in placed[h, c, k].makers)
        yield Check(
            CheckId.VENDOR_SHARE_USD, maker, problem.quarters - 1, own, most * sum(spent.values())
        )


def _parts_checks(problem: PlanningProblem, d: Decisions, books: Accounts) -> Iterable[Check]:
    for terms in problem.parts:
        for t, most in enumerate(terms.most):
            if terms.part == Part.POWER_BLOCKS:
                before = sum(n for (_, q), n in d.blocks.items() if q == t - 1)
                bought = float(sum(n for (_, q), n in d.blocks.items() if q == t) - before)
            else:
                bought = sum(books.parts_bought[h.id, t][terms.part] for h in problem.halls)
            yield Check(BOUGHT[Part(terms.part)], "all", t, bought, most)


def _budget_checks(problem: PlanningProblem, books: Accounts) -> Iterable[Check]:
    finance = problem.finance
    drawn, served = debt_usd(
        books.flows, problem.quarters, finance.debt_share_frac, finance.debt_service_frac
    )
    paid = zip(cash_out_usd(books.flows, problem.quarters), drawn, served, strict=True)
    cash = [out - borrowed + back for out, borrowed, back in paid]
    if finance.budget_total_usd is not None:
        yield Check(
            CheckId.BUDGET_USD, "all", problem.quarters - 1, sum(cash), finance.budget_total_usd
        )
    if finance.budget_usd is not None:
        for t in range(problem.quarters):
            yield Check(
                CheckId.BUDGET_SO_FAR_USD,
                "all",
                t,
                sum(cash[: t + 1]),
                sum(finance.budget_usd[: t + 1]),
            )
