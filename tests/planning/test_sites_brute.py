"""Plans of two sites against the enumeration of all integer decisions, with integer switch counts.

The instances combine tranches, commitments, plants, assets, orders, a job and demands.
"""

from __future__ import annotations

import math
from collections import Counter
from functools import cache

import pytest

from dcplan.economics.cash_flow import npv_usd
from dcplan.planning.audit import run as audit_run
from dcplan.planning.audit.accounts import make_accounts
from dcplan.planning.audit.checks import all_checks
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.solve import strategy
from dcplan.planning.solve.request import SolveRequest
from dcplan.planning.solve.solved import Solved
from dcplan.planning.solve.status import SolveStatus
from dcplan.scenario.load import Question, load
from tests.planning.brute_sites import Best, Enumeration
from tests.planning.tiny_sites import sites_menu

ALL, FEW = range(200), range(20)
SAMPLE = 5
"""Further points of each instance whose cost and limits the audit recomputes."""
REL, ABS_USD = 1e-6, 0.1
AUDIT_REL = 1e-5
"""A limit of the audit holds within 1e-6, at least 1 W of power, so a plan may cost a little less
than the enumeration: 6e-6 less in 1,800 instances."""


@cache
def enumerated(seed: int) -> Best:
    return Enumeration(sites_menu(seed)).best(SAMPLE)


@pytest.fixture(scope="module")
def question() -> Question:
    return load("retrofit-air-hall")


@pytest.fixture(autouse=True)
def _systems_in_no_catalog(monkeypatch: pytest.MonkeyPatch) -> None:
    """The catalog does not know the systems of tiny menus; all other checks of the audit stay."""
    monkeypatch.setattr(audit_run, "differences", lambda *_: [])


def solved(seed: int, question: Question) -> Solved:
    request = SolveRequest(gap=REL, time_limit_s=60.0)
    return strategy.solve_problem(sites_menu(seed), question, request)


def agrees(found: Solved, best: Best) -> None:
    """The bound is not above the optimum, the plan not below it and within the proven gap of it."""
    least = best.usd
    assert found.bound_usd <= least + REL * abs(least) + ABS_USD or math.isinf(least)
    if math.isinf(least):
        assert found.decisions is None
        switches = found.status is SolveStatus.ROUNDING and math.isfinite(found.bound)
        assert found.status is SolveStatus.INFEASIBLE or switches
        return
    assert found.audit is not None
    assert found.audit.passed
    usd = 1e6 * found.value
    assert usd >= least - AUDIT_REL * abs(least) - ABS_USD
    assert usd - least <= found.gap_frac * abs(usd) + REL * abs(least) + ABS_USD


def audited_usd(problem: PlanningProblem, d: Decisions) -> float:
    books = make_accounts(problem, d)
    assert [c for c in all_checks(problem, d, books) if not c.holds] == []
    return npv_usd(books.flows, problem.finance.discount_rate)


def audit_agrees(seed: int) -> None:
    """The audit accepts the optimum and other points of the enumeration at the same cost."""
    problem, best = sites_menu(seed), enumerated(seed)
    points = [*best.others, *([(best.usd, best.decisions)] if best.decisions else [])]
    for usd, d in points:
        assert d is not None
        assert audited_usd(problem, d) == pytest.approx(usd, rel=REL, abs=ABS_USD)


@pytest.mark.parametrize("seed", FEW)
def test_plans_agree_with_the_enumeration(seed: int, question: Question) -> None:
    audit_agrees(seed)
    agrees(solved(seed, question), enumerated(seed))


@pytest.mark.slow
@pytest.mark.parametrize("seed", ALL[len(FEW) :])
def test_all_plans_agree_with_the_enumeration(seed: int, question: Question) -> None:
    audit_agrees(seed)
    agrees(solved(seed, question), enumerated(seed))


@pytest.mark.parametrize("seed", FEW[:8])
def test_the_search_of_large_models_agrees(
    seed: int, question: Question, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(strategy, "SMALL_COLUMNS", 0)
    agrees(solved(seed, question), enumerated(seed))


@pytest.mark.slow
@pytest.mark.parametrize("seed", ALL[8:])
def test_the_search_of_large_models_agrees_everywhere(
    seed: int, question: Question, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(strategy, "SMALL_COLUMNS", 0)
    agrees(solved(seed, question), enumerated(seed))


def parts_of(problem: PlanningProblem, d: Decisions) -> set[str]:
    """Parts of the model that the decisions use."""
    sites = {problem.hall(h).site for (h, *_) in d.ordered}
    gone = {i for i, _ in d.disposed}
    used = {
        "owned at two sites": len(sites) == 2,
        "two halls of a site": {"r/h", "r/i"} <= {h for h, *_ in d.ordered},
        "two systems": len({k for _, _, k, _ in d.ordered}) == 2,
        "tranche": bool(d.paused),
        "plant": bool(d.onsite_mw),
        "commitment": bool(d.committed),
        "asset kept": any(x.in_service and x.id not in gone for x in problem.existing),
        "asset sold": "old" in gone,
        "order kept": any(not x.in_service and x.id not in gone for x in problem.existing),
        "order cancelled": "new" in gone,
        "run owned": any(not r.on_cloud for r in d.runs),
        "run in the cloud": any(r.on_cloud for r in d.runs),
        "unserved": bool(d.unmet),
        "budget": problem.finance.budget_usd is not None,
        "carbon cap": any(s.max_t_per_year is not None for s in problem.sites),
        "power blocks": bool(d.blocks),
    }
    return {name for name, there in used.items() if there}


@pytest.mark.slow
def test_instances_use_every_part_of_the_model_and_several_together() -> None:
    """Each part is in two optimal plans at least; in half of all plans, four parts are together."""
    seen: Counter[str] = Counter()
    together = []
    for seed in ALL:
        best = enumerated(seed)
        if best.decisions is not None:
            used = parts_of(sites_menu(seed), best.decisions)
            seen.update(used)
            together.append(len(used))
    assert len(seen) == 16
    assert min(seen.values()) >= 2, seen
    assert sum(n >= 4 for n in together) >= len(together) / 2
    assert 100 <= len(together) < len(ALL)
