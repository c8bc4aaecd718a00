"""Plans of least cost after taxes and debt, against enumerated alternatives and the audit."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dcplan.answers.explain.answer import explain
from dcplan.answers.explain.request import ExplainRequest
from dcplan.answers.plan.answer import plan
from dcplan.answers.plan.request import PlanRequest
from dcplan.economics.monthly.financing import Debt, Financing
from dcplan.economics.monthly.payments import Milestones
from dcplan.errors import InputError
from dcplan.planning.audit import run as audit_run
from dcplan.planning.audit.accounts import make_accounts
from dcplan.planning.audit.measures import after_tax
from dcplan.planning.goal import AFTER_TAX, Goal
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.solve.request import SolveRequest
from dcplan.planning.solve.strategy import solve_problem
from dcplan.result import Result
from dcplan.scenario.load import load
from tests.planning.brute_sites import Enumeration
from tests.planning.tiny_sites import sites_menu

ALTERNATIVES = 200
REL, ABS_USD = 1e-5, 0.1
"""Tolerance of limits in the audit, as in ``test_sites_brute``."""
MACRS = (0.2, 0.32, 0.192, 0.1152, 0.1152, 0.0576)
FILE = """
dcplan: 1
name: taxed
extends: retrofit-air-hall.yaml
objective: min_after_tax_cost
finance:
  tax: {income_rate: 0.25, depreciation: macrs-5, sales_tax_frac: 0.06}
  debt: {share: 0.5, rate: 0.08, term_years: 3}
  payment: {deposit_frac: 0.3, deposit_months_before: 6}
"""


def taxed(seed: int) -> PlanningProblem:
    """A tiny menu with random taxes, payment terms and debt, without limits that couple quarters."""
    problem, rng = sites_menu(seed), np.random.default_rng(seed)
    due = Milestones(float(rng.uniform(0, 0.4)), int(rng.integers(1, 9)), 0.1, 2)
    terms = Financing(
        problem.finance.discount_rate,
        5.0,
        float(rng.uniform(0.0, 0.4)),
        MACRS,
        (1 / 39,) * 39,
        float(rng.uniform(0.0, 0.1)),
        float(rng.uniform(0.0, 0.02)),
        due if rng.random() < 0.5 else None,
        Debt(float(rng.uniform(0.0, 0.8)), 0.08, int(rng.integers(6, 40))),
    )
    finance = replace(problem.finance, financing=terms)
    return replace(problem, finance=finance, goal=Goal(AFTER_TAX))


def worse_than_none(seed: int, problem: PlanningProblem, monkeypatch: pytest.MonkeyPatch) -> int:
    """Assert that no enumerated alternative of a menu beats the plan of a problem or its bound, and that
    the plan costs what its payments by month cost; return the number of alternatives.
    """
    monkeypatch.setattr(audit_run, "differences", lambda *_: [])
    best = Enumeration(sites_menu(seed)).best(ALTERNATIVES)
    points = [d for _, d in best.others] + ([best.decisions] if best.decisions else [])
    found = solve_problem(
        problem, load("retrofit-air-hall"), SolveRequest(gap=1e-6, time_limit_s=60.0)
    )
    if math.isinf(best.usd):
        assert found.decisions is None
        return 0
    assert found.audit is not None
    assert found.audit.passed
    own = after_tax(problem, found.audit.books.flows).npv_usd
    assert found.value == pytest.approx(own / 1e6, rel=1e-9)
    for d in points:
        usd = after_tax(problem, make_accounts(problem, d).flows).npv_usd
        slack = REL * abs(usd) + ABS_USD
        assert 1e6 * found.bound <= usd + slack
        assert 1e6 * found.value <= usd + found.gap_frac * abs(usd) + slack
    return len(points)


@pytest.mark.parametrize("seed", range(8))
def test_no_alternative_beats_the_plan(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    worse_than_none(seed, taxed(seed), monkeypatch)


@pytest.mark.slow
def test_no_alternative_beats_any_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = [worse_than_none(seed, taxed(seed), monkeypatch) for seed in range(8, 60)]
    assert max(counts) >= ALTERNATIVES
    assert sum(counts) > 2_500


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("taxed")
    source = Path("scenarios/retrofit-air-hall.yaml")
    (folder / source.name).write_text(source.read_text(encoding="utf-8"), encoding="utf-8")
    path = folder / "taxed.yaml"
    path.write_text(FILE, encoding="utf-8")
    return path


def test_the_objective_needs_taxes_or_debt() -> None:
    with pytest.raises(InputError, match=r"needs finance\.tax, finance\.debt or"):
        plan(PlanRequest("retrofit-air-hall", sets=["objective=min_after_tax_cost"]))


@pytest.mark.slow
def test_the_plan_of_the_objective_is_the_cheaper_one_after_taxes(file: Path) -> None:
    metric = "cost.after_tax_npv_usd"
    after = plan(PlanRequest(str(file), gap=0.005))
    before = plan(PlanRequest(str(file), gap=0.005, sets=["objective=min_cost"]))
    own, other = (float(x.metrics[metric].value or 0.0) for x in (after, before))
    assert after.exit_code == before.exit_code == 0
    assert own <= other * 1.005
    bound = float(after.metrics["solver.bound_usd"].value or 0.0)
    assert own * 0.995 <= bound + 1.0 <= own + 1.0
    assert any("min_after_tax_cost" in w["message"] for w in before.warnings)


@pytest.fixture(scope="module")
def answer(file: Path) -> Result:
    return plan(PlanRequest(str(file), gap=0.03))


def test_the_workloads_bear_the_cost_before_and_after_taxes(answer: Result) -> None:
    rows = list(answer.tables["workload_costs"].records())
    for column, metric in (
        ("present_cost_usd", "cost.npv_usd"),
        ("after_tax_usd", "cost.after_tax_npv_usd"),
    ):
        total = answer.metrics[metric].value
        assert sum(float(row[column] or 0.0) for row in rows) == pytest.approx(total, abs=0.01)
    bought = next(row for row in rows if row["workload"] == "research")
    assert float(bought["after_tax_usd"] or 0.0) < float(bought["present_cost_usd"] or 0.0)


def test_limits_have_prices_after_taxes(answer: Result, file: Path) -> None:
    """One PFLOP/s less of demand saves less after taxes than before them, with the same decisions."""
    before = plan(PlanRequest(str(file), gap=0.03, sets=["objective=min_cost"]))
    found = [
        {str(x["limit"]): float(x["cost_change_usd"] or 0.0) for x in y.tables["limits"].records()}
        for y in (answer, before)
    ]
    same = next(x for x in found[0] if x.startswith("demand research"))
    assert found[1][same] < found[0][same] < 0.0


def test_explain_compares_costs_after_taxes(file: Path) -> None:
    """The parts of the cost of a forced rack sum to its cost; both are after taxes."""
    found = explain(ExplainRequest(str(file), gap=0.03, why_not=["dgx-h200"], time_limit_s=40.0))
    assert "net present cost after taxes and debt" in found.headline
    (row,) = found.tables["why_not"].records()
    parts = [x for x in row if x.endswith("_npv_usd")]
    assert sum(float(row[x] or 0.0) for x in parts) == pytest.approx(row["npv_usd"], abs=1.0)


def test_taxes_of_zero_are_taxes(file: Path) -> None:
    """A rate of 0 is a financing, so the objective has a cost, and the metric is there."""
    sets = ("finance.tax={income_rate: 0}", "finance.debt=null", "finance.payment=null")
    found = plan(PlanRequest(str(file), sets=sets, gap=0.05))
    assert found.metrics["cost.after_tax_npv_usd"].value == pytest.approx(
        float(found.metrics["cost.npv_usd"].value or 0.0), rel=0.02
    )
