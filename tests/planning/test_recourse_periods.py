"""With periods of the week, pools and spare replicas, a plan in an unchanged future costs what the
audit says, and its recourse serves no more than the plan can."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from dcplan.economics.cash_flow import npv_usd
from dcplan.planning.audit.accounts import make_accounts
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.work.terms import TOKENS, DemandTerms, ReplicaTerms
from dcplan.planning.uncertainty.replicas import serving_limits
from dcplan.planning.uncertainty.simulation import Evaluator, SampledScenario
from tests.planning.optimum import optimum
from tests.planning.test_best_mix import mix_menu
from tests.planning.tiny_services import rack, services_menu

MENUS = {
    **{f"services {seed}": lambda s=seed: services_menu(s) for seed in range(30)},
    **{f"mix {seed}": lambda s=seed: mix_menu(s) for seed in range(15)},
}


@pytest.mark.parametrize("name", list(MENUS))
def test_an_unchanged_future_costs_what_the_audit_says(name: str) -> None:
    problem = MENUS[name]()
    found, d = optimum(problem)
    if d is None:
        assert math.isinf(found.objective)
        return
    books = make_accounts(problem, d)
    future = Evaluator(problem, d, books).simulated_outcome(SampledScenario())
    audited = npv_usd(books.flows, problem.finance.discount_rate)
    assert future.npv_usd == pytest.approx(audited, rel=1e-6, abs=0.1)


def test_idle_accelerators_hold_complete_replicas_in_every_hour() -> None:
    """A rack of 16: 4 for a service of all hours, 8 with a spare for one that is only in the second
    period. Four are idle in the second period: one more replica of the first service, of which it is
    the turn, or of the second one, whose replica of 2 would leave room for no other of 4."""
    problem = services_menu(0)
    place = rack("s/h", "alpha", np.random.default_rng(0), most=2, size=16)
    key = ("s/h", "alpha")

    def service(name: str, size: int, period: int | None, spares: int) -> DemandTerms:
        replica = {key: ReplicaTerms(size, f"tp{size}", "engine", "fp8", 1.0)}
        return DemandTerms(
            *(name, (1.0, 1.0), {key: 1.0}, TOKENS),
            period=period,
            replica=replica,
            spare_replicas=spares,
        )

    demands = (service("all", 4, None, 0), service("later", 2, 1, 1), service("none", 2, 0, 0))
    problem = replace(
        problem, placements=(replace(place, lead=0),), demands=demands, pairs=(), periods=(0.5, 0.5)
    )
    at = ("s/h", "cool", "alpha")
    d = Decisions(
        ordered={(*at, 0): 1},
        replicas={("all", *at, 0): 1, ("later", *at, 0): 4, ("later", *at, 1): 7},
    )
    found = serving_limits(problem, d)
    assert found["all", at, 0] == 8.0
    assert found["later", at, 0] == 6.0
    assert found["later", at, 1] == 14.0  # 7 and one more replica, without the spare
    assert found["all", at, 1] == 0.0
    assert found["none", at, 0] == found["none", at, 1] == 0.0
