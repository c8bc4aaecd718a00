"""Plans of services equal enumeration on random tiny instances, and their audit agrees."""

from __future__ import annotations

import math
from collections import Counter

import pytest

from dcplan.economics.cash_flow import npv_usd
from dcplan.planning.audit.accounts import make_accounts
from dcplan.planning.audit.checks import all_checks
from dcplan.planning.solve.status import SolveStatus
from tests.planning.brute_services import best_cost
from tests.planning.optimum import optimum
from tests.planning.tiny_services import services_menu

SEEDS = range(60)


@pytest.mark.parametrize("seed", SEEDS)
def test_services_equal_enumeration_and_the_audit(seed: int) -> None:
    """Tolerance: 1e-6 of the cost, or 1 USD of costs near 100,000 USD."""
    problem = services_menu(seed)
    expected = best_cost(problem)
    outcome, d = optimum(problem)
    if math.isinf(expected):
        assert outcome.status == SolveStatus.INFEASIBLE
        return
    assert outcome.status == SolveStatus.OPTIMAL
    assert outcome.objective * 1e6 == pytest.approx(expected, rel=1e-6, abs=0.1)
    assert d is not None
    books = make_accounts(problem, d)
    audited = npv_usd(books.flows, problem.finance.discount_rate)
    assert audited == pytest.approx(expected, rel=1e-6, abs=0.1)
    assert [c for c in all_checks(problem, d, books) if not c.holds] == []


def test_instances_have_every_part() -> None:
    """The sample has plans without and with each part of the model."""
    seen: Counter[str] = Counter()
    for seed in SEEDS:
        problem = services_menu(seed)
        _, d = optimum(problem)
        if d is None:
            seen["infeasible"] += 1
            continue
        hosts = [problem.demand(k[0]) for k in d.replicas]
        seen["feasible"] += 1
        seen["owned and rented"] += bool(d.replicas and d.rented)
        seen["committed"] += bool(d.committed)
        seen["unmet"] += bool(d.unmet)
        seen["spares"] += any(x.spare_replicas for x in hosts)
        seen["all hours"] += any(x.period is None for x in hosts)
        seen["pools"] += any(x.row for x in hosts)
        seen["two sites"] += any(x.kept_frac_without_site for x in hosts)
    assert min(seen.values()) >= 3
    assert seen["infeasible"] + seen["feasible"] == len(SEEDS)
    assert len(seen) == 9
