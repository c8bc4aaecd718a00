"""Leases of racks in place of purchases: against enumeration, by hand, and in every account."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from dcplan.economics.monthly.statements import statements
from dcplan.planning.audit import run as audit_run
from dcplan.planning.audit.accounts import make_accounts
from dcplan.planning.audit.measures import after_tax, measured
from dcplan.planning.check_ids import CheckId
from dcplan.planning.decision_specs import LEASED
from dcplan.planning.decision_table import columns_of, to_table
from dcplan.planning.decisions import Decisions
from dcplan.planning.goal import AFTER_TAX, COST, Goal
from dcplan.planning.model.build import build_model
from dcplan.planning.problem.terms import LeaseTerms, PlanningProblem, SupplyTerms
from dcplan.planning.solve import highs
from dcplan.planning.solve.matrix import compile_model
from dcplan.planning.solve.request import SolveRequest
from dcplan.planning.solve.strategy import solve_problem
from dcplan.scenario.load import load
from tests.planning.brute_leases import T, after_tax_usd, before_tax_usd, choices, lease_menu, taxed
from tests.planning.brute_sites import Enumeration
from tests.planning.test_after_tax import taxed as taxed_sites
from tests.planning.tiny_sites import sites_menu

SEEDS = range(24)


def optimum(problem: PlanningProblem) -> tuple[float, float]:
    """Optimum of the model in USD, and the racks that it leases."""
    matrix = compile_model(build_model(problem)[0])
    found = highs.solve(matrix, gap=0.0, time_limit_s=60)
    assert found.values is not None
    return 1e6 * found.objective, sum(float(found.values[i]) for i in matrix.of(["leased"]))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("budget", [False, True])
def test_the_optimum_before_taxes_is_the_least_of_all_choices(seed: int, budget: bool) -> None:
    problem = lease_menu(seed, budget=budget)
    least = min(before_tax_usd(problem, x) for x in choices(problem))
    assert not math.isinf(least)
    assert optimum(problem)[0] == pytest.approx(least, rel=1e-7, abs=1.0)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_optimum_after_taxes_is_the_least_of_all_choices(seed: int) -> None:
    problem = replace(taxed(lease_menu(seed), seed), goal=Goal(AFTER_TAX))
    least = min(after_tax_usd(problem, x) for x in choices(problem))
    assert optimum(problem)[0] == pytest.approx(least, rel=1e-7, abs=1.0)


@pytest.fixture
def no_catalog(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tiny menus have no rows in the catalog to compare with."""
    monkeypatch.setattr(audit_run, "differences", lambda *_: [])


@pytest.mark.usefixtures("no_catalog")
@pytest.mark.parametrize("seed", [13, 14, 16, 17])
def test_the_audited_plan_agrees_with_its_payments(seed: int) -> None:
    """The cost of the plan is that of its monthly cash flow, and the statements balance in every
    month."""
    problem = replace(taxed(lease_menu(seed), seed), goal=Goal(AFTER_TAX))
    found = solve_problem(problem, load("starter"), SolveRequest(gap=1e-6, time_limit_s=60.0))
    assert found.decisions is not None
    assert found.decisions.leased
    assert found.audit is not None
    assert found.audit.passed
    cost = after_tax(problem, found.audit.books.flows)
    lines = [*cost.after_tax.npvs_usd(0.1).values(), *cost.after_tax.end_npvs_usd(0.1).values()]
    debt = [usd for _, _, usd in cost.debt_lines(0.1)]
    assert sum(lines) + sum(debt) == pytest.approx(cost.npv_usd, rel=1e-9)
    assert found.value == pytest.approx(cost.npv_usd / 1e6, rel=1e-9)
    stated = statements(cost, problem.finance.financing.income_rate_frac, {}, 5.0)
    assert np.abs(stated.difference).max() < 1e-6 * abs(cost.npv_usd)


@pytest.mark.usefixtures("no_catalog")
def test_a_binding_budget_makes_the_plan_lease() -> None:
    """Seed 20: without a budget both racks are bought; a budget below their price leases both."""
    free, tight = lease_menu(20), lease_menu(20, budget=True)
    bought = solve_problem(free, load("starter"), SolveRequest(gap=1e-6, time_limit_s=60.0))
    leased = solve_problem(tight, load("starter"), SolveRequest(gap=1e-6, time_limit_s=60.0))
    assert bought.decisions is not None
    assert leased.decisions is not None
    assert (sum(bought.decisions.ordered.values()), bought.decisions.leased) == (2, {})
    assert set(leased.decisions.leased.values()) == {2}
    assert leased.audit is not None
    assert leased.audit.passed
    assert leased.value > bought.value


def test_payments_and_return_by_hand() -> None:
    """A rack of USD 1 M, ordered in quarter 1, in service from 2, two quarters at 4 % a month: USD
    120,000 in quarters 2 and 3; it serves in these only. Five quarters of the long lease end after
    the horizon of six: the sixth payment is outside."""
    base = lease_menu(0)
    placed = tuple(
        replace(p, price_usd=1e6, lead=1) if p.system == "alpha" else p for p in base.placements
    )
    offers = (
        LeaseTerms("short", frozenset({"alpha"}), 2, 0.04),
        LeaseTerms("long", frozenset(), 5, 0.02),
    )
    problem = replace(base, placements=placed, finance=replace(base.finance, leases=offers))
    key = ("s/h", "cool", "alpha")
    d = Decisions(
        ordered={(*key, 1): 1, (*key, 2): 2},
        leased={(*key, "short", 1): 1, (*key, "long", 2): 1},
        fitted={("s/h", "cool", t): 1 for t in range(T)},
        fabric={"s/h": problem.fabrics[0].id},
    )
    assert [d.racks(problem, key, t) for t in range(T)] == [0, 0, 1, 3, 2, 2]
    books = make_accounts(problem, d)
    paid = {
        name: {f.quarter: f.usd for f in books.flows if f.line == f"racks alpha on lease {name}"}
        for name in ("short", "long")
    }
    assert paid["short"] == {2: pytest.approx(120e3), 3: pytest.approx(120e3)}
    assert paid["long"] == {t: pytest.approx(60e3) for t in range(3, 8)}
    owned = [f for f in books.flows if f.line == "racks alpha"]
    assert [(f.quarter, f.group.value, f.usd) for f in owned] == [
        (2, "capex", 1e6),
        (5, "residual", -1e6 * problem.finance.hardware_residual_frac[2]),
    ]
    after = [f for f in books.flows if f.group.value == "post_horizon"]
    assert [(f.quarter, f.usd) for f in after] == [
        (6, pytest.approx(60e3)),
        (7, pytest.approx(60e3)),
    ]


def test_racks_that_go_back_make_room_for_others() -> None:
    """A hall of one rack position for racks: a second rack needs the return of the first."""
    base = lease_menu(14)
    hall = replace(base.halls[0], racks=2)
    one = tuple(replace(p, slots=1, max_racks_unit=1) for p in base.placements)
    supply = (SupplyTerms("alpha", (1.0, 0.0, 1.0, 0.0, 0.0, 0.0)), SupplyTerms("beta", (0.0,) * T))
    demand = replace(base.demands[0], wanted=(3.0,) * T, unmet_usd=1e7)
    offers = (LeaseTerms("short", frozenset(), 2, 0.02),)
    problem = replace(
        base,
        halls=(hall,),
        placements=one,
        supply=supply,
        demands=(demand,),
        finance=replace(base.finance, leases=offers),
    )
    matrix = compile_model(build_model(problem)[0])
    more = np.zeros(len(matrix.columns))
    for i in matrix.of(["buy"]):
        more[i] = 1.0 if matrix.columns[i].ids[2] == "alpha" else 0.0
    found = highs.solve(
        matrix,
        gap=0.0,
        time_limit_s=60,
        fixed={i: 1.0 for i in np.flatnonzero(more) if matrix.upper[i] > 0},
    )
    assert found.values is not None
    back = {
        matrix.columns[i].ids[-1]: round(float(found.values[i]))
        for i in matrix.of(["leased"])
        if matrix.columns[i].ids[2] == "alpha" and matrix.upper[i] > 0
    }
    assert back == {0: 1, 2: back[2]}


@pytest.mark.usefixtures("no_catalog")
def test_the_audit_finds_leases_that_the_order_does_not_have() -> None:
    problem = lease_menu(0)
    beta = ("s/h", "cool", "beta")
    d = Decisions(
        ordered={(*beta, 0): 1},
        leased={(*beta, "short", 0): 1, (*beta, "long", 0): 1},
        fitted={("s/h", "cool", t): 1 for t in range(T)},
        fabric={"s/h": problem.fabrics[0].id},
    )
    found = audit_run.audit(problem, d, load("starter"))
    assert {c.id for c in found.broken} >= {CheckId.LEASED_RACKS, CheckId.LEASE_OFFERED}
    table = to_table(d)
    values, wrong = columns_of(problem, table)
    assert values[LEASED.key(*beta, "long", 0)] == 1.0
    assert [row for row in wrong if "short" in row]  # beta is not among its systems


def with_leases(problem: PlanningProblem, seed: int) -> PlanningProblem:
    """The menu with a lease whose racks go back inside the horizon, and one that outlasts it."""
    rng = np.random.default_rng(700 + seed)
    frac = float(rng.uniform(0.01, 0.05))
    offers = (
        LeaseTerms("short", frozenset(), 1, 1.5 * frac),
        LeaseTerms("long", frozenset(), 9, frac),
    )
    return replace(problem, finance=replace(problem.finance, leases=offers))


@pytest.mark.usefixtures("no_catalog")
@pytest.mark.parametrize("goal", [COST, AFTER_TAX])
@pytest.mark.parametrize("seed", range(5))
def test_no_plan_with_other_leases_beats_the_plan_or_its_bound(seed: int, goal: str) -> None:
    """Plans that the audit passes, with every order bought, leased long, or leased short."""
    problem = replace(with_leases(taxed_sites(seed), seed), goal=Goal(goal))
    best = Enumeration(sites_menu(seed)).best(40)
    points = [d for _, d in best.others] + ([best.decisions] if best.decisions else [])
    found = solve_problem(
        problem, load("retrofit-air-hall"), SolveRequest(gap=1e-6, time_limit_s=60.0)
    )
    if not points:
        return
    assert found.audit is not None
    assert found.audit.passed
    for d in points:
        for leases in itertools.product(("", "short", "long"), repeat=len(d.ordered)):
            leased = {
                (*order[:3], lease, order[3]): n
                for (order, n), lease in zip(d.ordered.items(), leases, strict=True)
                if lease and n
            }
            other = replace(d, leased=leased)
            audited = audit_run.audit(problem, other, load("retrofit-air-hall"))
            if not audited.passed:
                continue
            usd = 1e6 * measured(goal, problem, other, audited.books)
            slack = 1e-5 * abs(usd) + 0.1
            assert 1e6 * found.bound <= usd + slack
            assert 1e6 * found.value <= usd + found.gap_frac * abs(usd) + slack
