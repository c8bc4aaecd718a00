"""Networks are paid for when the first racks of their order are delivered, in model and audit."""

from __future__ import annotations

import dataclasses

import pytest

from dcplan.economics.cash_flow import AssetClass
from dcplan.economics.monthly.financing import Debt, Financing
from dcplan.economics.monthly.payments import Milestones, on_delivery
from dcplan.planning.audit.accounts import make_accounts
from dcplan.planning.audit.measures import after_tax
from dcplan.planning.audit.run import settled
from dcplan.planning.decisions import Decisions, from_solution
from dcplan.planning.goal import AFTER_TAX, Goal
from dcplan.planning.model.build import build_model
from dcplan.planning.problem.fabrics.switch_steps import with_steps
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.solve import highs
from dcplan.planning.solve.matrix import compile_model
from tests.planning.test_supply import compute_menu

DUE = Milestones(0.3, 2, 0.1, 2)


def two_leads(income_rate: float, rate_per_year: float = 0.1) -> PlanningProblem:
    """Research in the second quarter; racks of a take a quarter, racks of b serve at once."""
    problem = compute_menu()
    placed = tuple(
        dataclasses.replace(p, lead=1 if p.system == "a" else 0) for p in problem.placements
    )
    terms = Financing(
        rate_per_year, 5.0, income_rate, (0.5, 0.5), (1 / 39,) * 39, 0.05, 0.01, DUE,
        Debt(0.6, 0.08, 24),
    )  # fmt: skip
    sites = tuple(dataclasses.replace(s, usd_per_kwh=(0.0, 0.0)) for s in problem.sites)
    finance = dataclasses.replace(problem.finance, financing=terms)
    demand = dataclasses.replace(problem.demands[0], wanted=(0.0, 3.0))
    return dataclasses.replace(
        problem, sites=sites, placements=placed, finance=finance, demands=(demand,),
        goal=Goal(AFTER_TAX),
    )  # fmt: skip


def best(problem: PlanningProblem, a: int, b: int) -> tuple[float, Decisions]:
    """The model's cost and decisions with so many racks of a and b ordered in the first quarter."""
    matrix = compile_model(build_model(problem)[0])
    wanted = {"a": a, "b": b}
    fixed = {}
    for i, column in enumerate(matrix.columns):
        if column.name == "buy":
            _, cooling, system, t = column.ids
            fixed[i] = float(wanted[system]) if (cooling, t) == ("wet", 0) else 0.0
    found = highs.solve(matrix, gap=0.0, time_limit_s=60, fixed=fixed)
    assert found.values is not None
    values = [float(v) for v in matrix.rounded(found.values)]
    return found.objective, settled(problem, from_solution(problem, matrix.columns, values))


@pytest.mark.parametrize("income_rate", [0.0, 0.4])
@pytest.mark.parametrize(("a", "b"), [(1, 0), (2, 0), (0, 1), (1, 1), (2, 1)])
def test_the_model_pays_for_a_network_when_the_audit_does(
    a: int, b: int, income_rate: float
) -> None:
    """Each mix of early and late racks; energy is free, because it counts fractions of switches."""
    problem = with_steps(two_leads(income_rate), 10_000, exact=True)
    musd, d = best(problem, a, b)
    books = make_accounts(problem, d)
    assert 1e6 * musd == pytest.approx(after_tax(problem, books.flows).npv_usd, rel=1e-7)
    dated = {f.line: f.quarter for f in on_delivery(books.flows, 2) if f.group == "capex"}
    assert dated["network"] == (0 if b else 1)  # with the first racks of the order


@pytest.mark.parametrize(("a", "b"), [(1, 0), (0, 1), (1, 1)])
def test_without_whole_switches_the_model_is_a_lower_bound(a: int, b: int) -> None:
    """A large model counts the network at the lowest weight of its possible deliveries."""
    problem = two_leads(0.25)
    musd, d = best(problem, a, b)
    assert 1e6 * musd <= after_tax(problem, make_accounts(problem, d).flows).npv_usd + 0.01


def test_the_deposit_of_a_network_counts_from_its_delivery_by_hand() -> None:
    """Delivered in month 3 with 30 % two months before and 10 % two months after: months 1 and 5.

    The network of a rack of a, ordered in the first quarter, serves with it in the second.
    """
    problem = two_leads(0.0)
    terms = Financing(0.0, 5.0, milestones=DUE)
    problem = dataclasses.replace(
        problem, finance=dataclasses.replace(problem.finance, financing=terms)
    )
    d = best(with_steps(problem, 10_000, exact=True), 1, 0)[1]
    books = make_accounts(problem, d)
    bought = {AssetClass.RACKS, AssetClass.STORAGE, AssetClass.NETWORK}
    only = [f for f in books.flows if f.group == "capex" and f.asset in bought]
    usd = sum(f.usd for f in only)
    found = after_tax(problem, only)
    paid = found.cash_usd[:6] / usd
    assert paid.tolist() == pytest.approx([0.0, 0.3, 0.0, 0.6, 0.0, 0.1])
