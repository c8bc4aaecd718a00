"""Inflation raises running costs, in the model, the audit, the workbook and sampled scenarios."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from dcplan.api.plan import plan
from dcplan.economics.cash_flow import FlowGroup, npv_usd
from dcplan.planning.audit.accounts import make_accounts
from dcplan.planning.uncertainty.simulation import Evaluator, SampledScenario
from dcplan.report.book.write import workbook
from tests.planning.optimum import optimum
from tests.planning.tiny import tiny_menu
from tests.report.books import editable, edited, recalculated, summary, zeroed

LEVEL = (1.0, 1.5, 2.0)
RUNNING = (FlowGroup.ENERGY, FlowGroup.OPEX)


@pytest.mark.parametrize("seed", range(12))
def test_running_costs_rise_in_the_model_as_in_the_audit(seed: int) -> None:
    """The price of energy by quarter already has its level; every other running cost takes it."""
    plain = tiny_menu(seed)
    finance = replace(plain.finance, price_level=LEVEL[: plain.quarters], budget_usd=None)
    problem, same = (
        replace(plain, finance=finance),
        replace(plain, finance=replace(finance, price_level=())),
    )
    found, d = optimum(problem)
    if d is None:
        assert optimum(same)[1] is None
        return
    risen, level = make_accounts(problem, d).flows, make_accounts(same, d).flows
    for flow, base in zip(risen, level, strict=True):
        factor = LEVEL[flow.quarter] if flow.group in RUNNING and flow.line != "energy" else 1.0
        assert flow.usd == pytest.approx(base.usd * factor, rel=1e-12)
    other = optimum(same)
    assert found.objective >= other[0].objective - 1e-9
    rate = problem.finance.discount_rate
    if (
        other[1] is not None
    ):  # at the plan of today's prices, the model loses no more than the audit
        there = make_accounts(problem, other[1]).flows
        more = npv_usd(there, rate) - npv_usd(make_accounts(same, other[1]).flows, rate)
        assert (found.objective - other[0].objective) * 1e6 <= more + 1.0


def test_a_sampled_scenario_without_a_change_costs_what_the_plan_does() -> None:
    for seed in range(6):
        plain = tiny_menu(seed)
        finance = replace(plain.finance, price_level=LEVEL[: plain.quarters])
        problem = replace(plain, finance=finance)
        d = optimum(problem)[1]
        if d is None:
            continue
        books = make_accounts(problem, d)
        found = Evaluator(problem, d, books).simulated_outcome(SampledScenario())
        assert found.npv_usd == pytest.approx(npv_usd(books.flows, 0.1), rel=1e-6)


TEXT = """
dcplan: 1
name: rising
horizon: {start: 2027-Q1, quarters: 6}
finance: {inflation_frac_per_year: 0.04}
sites:
  - id: s
    location: de-frankfurt
    utility_mw: 4
    energy: {usd_per_kwh: 0.1, demand_usd_per_kw_month: 8}
    staff: {people: 2, usd_per_person_year: 120000}
    halls: [{id: air, existing: true, racks: 60, rack_kw_max: 34, it_mw: 1.8, cooling: [air-chiller]}]
systems: [mi325x-8]
fabrics: [eth-400]
workloads:
  capacity:
    - {id: research, pflops_delivered: [0, 40, 60, 60, 60, 60], utilization_frac: 0.6,
       reference: {model: llama-3.1-70b, seq_len: 8192}}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "rising.yaml"
    path.write_text(TEXT, encoding="utf-8")
    return path


def test_staff_by_hand(file: Path) -> None:
    """2 x 120,000 / 4 x 1.04 ^ (t / 4) USD, in the quarters in which the site is in use."""
    found = plan(str(file))
    staff = [r for r in found.tables["flows"].records() if r["line"] == "staff"]
    names = ["2027-Q1", "2027-Q2", "2027-Q3", "2027-Q4", "2028-Q1", "2028-Q2"]
    assert len(staff) >= 5
    for row in staff:
        t = names.index(str(row["quarter"]))
        assert row["usd"] == pytest.approx(60_000 * 1.04 ** (t / 4), rel=1e-12)


def test_prices_by_quarter_are_not_raised_again(file: Path) -> None:
    prices = "sites.s.energy.usd_per_kwh=[0.1,0.1,0.1,0.1,0.1,0.1]"
    given, plain = plan(str(file), sets=[prices]), plan(str(file))
    flat = plan(str(file), sets=["finance.inflation_frac_per_year=0"])

    def energy(result: object) -> float:
        rows = result.tables["flows"].records()  # type: ignore[attr-defined]
        return sum(float(str(r["usd"])) for r in rows if r["line"] == "energy")

    assert energy(given) == pytest.approx(energy(flat), rel=1e-6)
    assert energy(plain) > 1.01 * energy(flat)


def test_the_workbook_is_live(file: Path, tmp_path: Path) -> None:
    """Recalculated it is the plan; at another inflation it is another run with the same decisions."""
    made, book = plan(str(file), gap=0.0), tmp_path / "book.xlsx"
    book.write_bytes(workbook(made))
    for key, value in summary(recalculated(zeroed(book))).items():
        assert value == pytest.approx(made.metrics[key].value, rel=1e-9), key
    key = "finance.inflation_frac_per_year"
    assert key in editable(book)
    there = plan(str(file), sets=[f"{key}=0.09"], fix_decisions=made)
    found = summary(recalculated(edited(book, {key: 0.09})))
    assert found["cost.npv_usd"] == pytest.approx(there.metrics["cost.npv_usd"].value, rel=1e-9)
