"""Costs that accompany rent in a plan: by hand, against enumeration, and equal to those of `tco`."""

from __future__ import annotations

import dataclasses
import itertools
from pathlib import Path

import pytest

from dcplan.answers.plan.answer import plan
from dcplan.answers.tco.answer import tco
from dcplan.economics.cash_flow import npv_usd
from dcplan.inputs.cloud_prices import RentExtras
from dcplan.planning.audit.accounts import make_accounts
from dcplan.planning.audit.allocation import allocate
from dcplan.planning.audit.checks import all_checks
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.uncertainty.simulation import Evaluator, SampledScenario
from tests.planning.optimum import best_plan
from tests.planning.test_cloud_terms import HOURS, rented_menu
from tests.research import BOTH

EXTRAS = RentExtras(
    support_frac=0.1,
    storage_usd_per_month=40.0,
    network_usd_per_month=2.0,
    cpu_nodes_usd_per_month=8.0,
    set_up_usd=800.0,
    debugging_usd_per_month=700.0,
    egress_usd_per_month=300.0,
)


def with_extras(problem: PlanningProblem, extras: RentExtras = EXTRAS) -> PlanningProblem:
    offers = tuple(dataclasses.replace(o, extras=extras) for o in problem.offers)
    return dataclasses.replace(problem, offers=offers)


def by_line(problem: PlanningProblem, d: Decisions) -> dict[tuple[str, int], float]:
    found: dict[tuple[str, int], float] = {}
    for flow in make_accounts(problem, d).flows:
        key = (flow.line.split(" of ")[0], flow.quarter)
        found[key] = found.get(key, 0.0) + flow.usd
    return found


def test_each_cost_by_hand() -> None:
    """4, 6 and 5 accelerators in three quarters, a node of 8 committed in the second and third.

    Storage: 40 USD x 3 months x accelerators. Support: 10 % of all rent and of 50 USD x 3 months x
    accelerators. Set-up: 800 USD x (4, 2, 0). Debugging 700 USD and egress 300 USD x 3 months.
    """
    problem = with_extras(rented_menu((0.8, 1.2, 1.0)))
    rented = {("research", "o", t): n for t, n in enumerate((4.0, 6.0, 5.0))}
    d = Decisions(rented=rented, committed={("o", "reserved-1y", 1): 1})
    found = by_line(problem, d)
    for t, n in enumerate((4.0, 6.0, 5.0)):
        assert found["storage", t] == pytest.approx(40 * 3 * n)
        assert found["network", t] == pytest.approx(2 * 3 * n)
        assert found["cpu-nodes", t] == pytest.approx(8 * 3 * n)
        assert found["debugging", t] == pytest.approx(2100.0)
        assert found["egress", t] == pytest.approx(900.0)
    assert found["support", 0] == pytest.approx(0.1 * (4 * 3.0 * HOURS + 50 * 3 * 4))
    assert found["support", 1] == pytest.approx(0.1 * (8 * 2.0 * HOURS + 50 * 3 * 6))
    assert found["set-up", 0] == pytest.approx(3200.0)
    assert found["set-up", 1] == pytest.approx(1600.0)
    assert ("set-up", 2) not in found


def test_support_of_a_commitment_is_paid_after_the_horizon_too() -> None:
    problem = with_extras(rented_menu((0.0, 0.8)))
    d = Decisions(rented={("research", "o", 1): 4.0}, committed={("o", "reserved-1y", 1): 1})
    found = by_line(problem, d)
    assert found["support", 2] == pytest.approx(0.1 * 8 * 2 * HOURS)
    assert ("debugging", 0) not in found


def two_offers(wanted: tuple[float, ...]) -> PlanningProblem:
    """Offer o at 3 USD/h without extras; offer p at 2 USD/h with set-up, egress and debugging."""
    problem = rented_menu(wanted)
    plain = dataclasses.replace(problem.offers[0], committed=(), max_accelerators=1000)
    low = dataclasses.replace(
        plain, id="p", usd_per_accelerator_hour=(2.0,) * len(wanted), extras=EXTRAS
    )
    each = {("cloud:o", "chip"): 0.2, ("cloud:p", "chip"): 0.2}
    demand = dataclasses.replace(problem.demands[0], each=each)
    return dataclasses.replace(problem, offers=(plain, low), demands=(demand,))


def enumerated_usd(problem: PlanningProblem) -> float:
    """Return the lowest cost of all splits at which set-up or the fixed cost changes."""
    use = [x / 0.2 for x in problem.demands[0].wanted]
    cut = sorted({0.0, *use})
    factor = [1.1 ** -((t + 0.5) / 4) for t in range(len(use))]
    plain, low = problem.offers
    best = float("inf")
    for taken in itertools.product(*[[x for x in cut if x <= u] for u in use]):
        usd, done = 0.0, 0.0
        for t, x in enumerate(taken):
            cost = (use[t] - x) * plain.usd_per_accelerator_hour[t] * HOURS
            cost += x * (low.usd_per_accelerator_hour[t] * HOURS + 50 * 3) * 1.1
            cost += max(x - done, 0.0) * 800.0 + (3000.0 if x else 0.0)
            done = max(done, x)
            usd += factor[t] * cost
        best = min(best, usd)
    return best


@pytest.mark.parametrize(
    "wanted", [(4.0, 4.0, 4.0), (0.2, 0.2, 0.2), (8.0, 1.0, 8.0), (0.2, 6.0, 0.2), (1.0, 0.0, 3.0)]
)
def test_the_optimum_equals_enumeration(wanted: tuple[float, ...]) -> None:
    problem = two_offers(wanted)
    d, cost_musd = best_plan(problem)
    books = make_accounts(problem, d)
    assert cost_musd * 1e6 == pytest.approx(enumerated_usd(problem), rel=1e-7)
    assert npv_usd(books.flows, 0.1) == pytest.approx(cost_musd * 1e6, rel=1e-7)
    assert [c.name for c in all_checks(problem, d, books) if not c.holds] == []


def test_the_cases_of_the_enumeration_choose_both_offers() -> None:
    chosen = [
        {offer for _, offer, _ in best_plan(two_offers(wanted))[0].rented}
        for wanted in ((8.0, 8.0, 8.0), (0.2, 0.2, 0.2))
    ]
    assert chosen == [{"p"}, {"o"}]


def test_a_sampled_scenario_without_a_change_costs_what_the_plan_does() -> None:
    problem = with_extras(rented_menu((0.8, 1.2, 1.0)))
    d, _ = best_plan(problem)
    books = make_accounts(problem, d)
    found = Evaluator(problem, d, books).simulated_outcome(SampledScenario())
    assert found.npv_usd == pytest.approx(npv_usd(books.flows, 0.1), rel=1e-7)


def test_workloads_bear_every_accompanying_cost() -> None:
    problem = with_extras(rented_menu((0.8, 1.2, 1.0)))
    d, _ = best_plan(problem)
    books = make_accounts(problem, d)
    borne = allocate(problem, d, books).present_usd()
    total = sum(usd for parts in borne.values() for usd in parts.values())
    assert total == pytest.approx(npv_usd(books.flows, 0.1), rel=1e-9)


def test_costs_left_out_are_not_paid(tmp_path: Path) -> None:
    file = tmp_path / "x.yaml"
    text = BOTH
    file.write_text(text + "  leave_out: [set-up, debugging, network-and-egress]\n", "utf-8")
    found = plan(file, sets=["systems=[]", "fabrics=[]"])
    lines = {str(row["line"]).split(" of ")[0] for row in found.tables["cost"].records()}
    assert {"support", "storage", "cpu-nodes"} <= lines
    assert not {"set-up", "debugging", "network", "egress"} & lines


@pytest.mark.parametrize("egress", ["", "  egress_tb_per_month: 20\n"])
def test_plan_and_tco_have_one_cost(tmp_path: Path, egress: str) -> None:
    """The plan with the lowest cost after taxes, and the hybrid of tco: 1e-9 relative."""
    file = tmp_path / "x.yaml"
    text = BOTH
    file.write_text("objective: min_after_tax_cost\n" + text + egress, encoding="utf-8")
    planned = plan(file, gap=0.0).metrics["cost.after_tax_npv_usd"].value
    hybrid = tco(file, gap=0.0).metrics["hybrid.npv_usd"].value
    assert planned == pytest.approx(hybrid, rel=1e-9)


def test_the_most_expensive_egress_of_the_offers_in_use_counts() -> None:
    problem = two_offers((8.0,))
    other = dataclasses.replace(EXTRAS, egress_usd_per_month=900.0)
    plain = dataclasses.replace(problem.offers[0], extras=other)
    problem = dataclasses.replace(problem, offers=(plain, problem.offers[1]))
    rented = {("research", "o", 0): 1.0, ("research", "p", 0): 39.0}
    found = by_line(problem, Decisions(rented=rented))
    assert found["egress", 0] == pytest.approx(2700.0)
    assert found["debugging", 0] == pytest.approx(2100.0)


def test_an_hour_by_use_has_its_share_of_the_month_and_support() -> None:
    """(3 + 50 / 730.5) x 1.1 USD."""
    offer = with_extras(rented_menu((1.0,))).offers[0]
    assert offer.usd_per_used_hour(0) == pytest.approx((3.0 + 50.0 / 730.5) * 1.1)


def test_two_offers_together_serve_what_neither_has() -> None:
    """5 accelerators, of which each offer has 3 and pays debugging."""
    problem = two_offers((1.0,))
    offers = tuple(
        dataclasses.replace(o, extras=EXTRAS, max_accelerators=3) for o in problem.offers
    )
    d, _ = best_plan(dataclasses.replace(problem, offers=offers))
    assert sum(d.rented.values()) == pytest.approx(5.0)
    assert max(d.rented.values()) <= 3.0 + 1e-6
