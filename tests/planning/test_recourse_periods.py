"""With periods of the week, pools and spare replicas, a plan in an unchanged future costs what the
audit says, and its recourse serves no more than the plan can."""

from __future__ import annotations

import math

import pytest

from dcplan.economics.cash_flow import npv_usd
from dcplan.planning.audit.accounts import make_accounts
from dcplan.planning.uncertainty.simulation import Evaluator, SampledScenario
from tests.planning.test_best_mix import mix_menu
from tests.planning.test_services_brute import planned
from tests.planning.tiny_services import services_menu

MENUS = {
    **{f"services {seed}": lambda s=seed: services_menu(s) for seed in range(30)},
    **{f"mix {seed}": lambda s=seed: mix_menu(s) for seed in range(15)},
}


@pytest.mark.parametrize("name", list(MENUS))
def test_an_unchanged_future_costs_what_the_audit_says(name: str) -> None:
    problem = MENUS[name]()
    found, d = planned(problem)
    if d is None:
        assert math.isinf(found.objective)
        return
    books = make_accounts(problem, d)
    future = Evaluator(problem, d, books).simulated_outcome(SampledScenario())
    audited = npv_usd(books.flows, problem.finance.discount_rate)
    assert future.npv_usd == pytest.approx(audited, rel=1e-6, abs=0.1)
