"""Plans whose runs share spare nodes, against all pairs of runs with their pools by hand."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from dcplan.planning.audit import run as audit_run
from dcplan.planning.audit.accounts import make_accounts
from dcplan.planning.audit.checks import all_checks
from dcplan.planning.check_ids import CheckId
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.problem.work.terms import RunOption
from dcplan.planning.solve import strategy
from dcplan.planning.solve.request import SolveRequest
from dcplan.reliability.spares import PoolRule
from dcplan.scenario.load import load
from dcplan.units import DAYS_PER_MONTH
from tests.planning.optimum import judged, optimum, planned
from tests.planning.small import HALL, small_menu

MENUS = range(30)
NODE = 8
"""Accelerators of a node; a rack has two nodes."""


def menu(seed: int) -> PlanningProblem:
    """Two or three jobs with a few sizes and starts each, on one system of a hall in two quarters."""
    rng, base = np.random.default_rng(seed), small_menu()
    rule = PoolRule(NODE, float(rng.choice([0.004, 0.02, 0.06])), 0.99)
    names = ("job", "second", "third")[: int(rng.integers(2, 4))]
    options = []
    for name in names:
        for _ in range(int(rng.integers(1, 4))):
            nodes, start = int(rng.integers(1, 6)), int(rng.integers(0, 5))
            days = float(rng.uniform(20.0, (6 - start) * DAYS_PER_MONTH))
            own = replace(base.run_options[0], job=name, accelerators=NODE * nodes, days=days)
            options.append(replace(own, start_month=start, pooled_nodes=nodes, pool=rule))
    site = replace(base.sites[0], utility_mw=(2.0, 2.0))
    placed = tuple(replace(p, lead=0, max_racks_unit=6) for p in base.placements if p.system == "a")
    finance = replace(base.finance, budget_usd=None)
    return replace(
        base,
        sites=(site,),
        placements=placed,
        finance=finance,
        jobs=tuple(replace(base.jobs[0], id=x) for x in names),
        run_options=tuple(options),
        orderable=frozenset({"a"}),
        supply=(),
    )


def spares_by_hand(nodes: int, share: float) -> int:
    """The fewest spares that cover the nodes in repair 99 % of the time, term by term."""
    total = 0.0
    for k in range(nodes + 1):
        total += math.comb(nodes, k) * share**k * (1.0 - share) ** (nodes - k)
        if total >= 0.99:
            return k
    return nodes


def with_pools_as_runs(problem: PlanningProblem, runs: tuple[RunOption, ...]) -> PlanningProblem:
    """The problem with given runs, and one further run for the spares of each month."""
    share = max(r.pool.down_frac for r in problem.run_options if r.pool)
    plain = [replace(r, pooled_nodes=0, pool=None) for r in runs]
    for month in range(6):
        active = [r for r in runs if r.start_month <= month < r.start_month + r.months]
        spares = spares_by_hand(sum(r.accelerators // NODE for r in active), share)
        if spares:
            pool = replace(plain[0], job=f"spares {month}", accelerators=NODE * spares)
            plain.append(replace(pool, start_month=month, days=DAYS_PER_MONTH))
    jobs = tuple(replace(problem.jobs[0], id=r.job) for r in plain)
    return replace(problem, jobs=jobs, run_options=tuple(plain))


def choices(problem: PlanningProblem) -> Iterator[tuple[RunOption, ...]]:
    by_job = [[r for r in problem.run_options if r.job == j.id] for j in problem.jobs]
    return itertools.product(*by_job)


def enumerated(problem: PlanningProblem) -> tuple[float, tuple[RunOption, ...]]:
    """The least cost over all choices of runs, in M USD, and the runs."""
    costs = [
        (found.objective, runs)
        for runs in choices(problem)
        for found, d in [optimum(with_pools_as_runs(problem, runs))]
        if d is not None
    ]
    return min(costs, key=lambda x: x[0], default=(math.inf, ()))


@pytest.mark.parametrize("seed", MENUS)
def test_plans_agree_with_the_enumeration_of_runs_and_pools(seed: int) -> None:
    problem = menu(seed)
    least, _ = enumerated(problem)
    found, d = optimum(problem)
    if math.isinf(least):
        assert d is None
        return
    assert d is not None
    assert found.objective == pytest.approx(least, rel=1e-6)
    settled, _, broken = judged(problem, d)
    assert broken == []
    assert len({r.job for r in settled.runs}) == len(problem.jobs)


@pytest.mark.parametrize("seed", MENUS[:8])
def test_the_search_of_large_models_agrees(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither search proves a bound above the audited plan of the other."""
    monkeypatch.setattr(audit_run, "differences", lambda *_: [])
    question, request = load("retrofit-air-hall"), SolveRequest(gap=1e-6, time_limit_s=60.0)
    small = strategy.solve_problem(menu(seed), question, request)
    monkeypatch.setattr(strategy, "SMALL_COLUMNS", 0)
    large = strategy.solve_problem(menu(seed), question, request)
    assert (small.decisions is None) == (large.decisions is None)
    if small.audit is None or large.audit is None:
        return
    assert small.audit.passed
    assert large.audit.passed
    assert small.bound <= large.value * (1 + 1e-6)
    assert large.bound <= small.value * (1 + 1e-6)
    assert large.value <= small.value * 1.02


def pair(nodes: int, start: int) -> PlanningProblem:
    """Two runs of 60 days and equal nodes at 2 %, the second one ``start`` months after the first."""
    base = menu(0)
    rule = PoolRule(NODE, 0.02, 0.99)
    run = replace(
        base.run_options[0], accelerators=NODE * nodes, days=60.0, pooled_nodes=nodes, pool=rule
    )
    runs = (replace(run, job="job", start_month=0), replace(run, job="second", start_month=start))
    jobs = tuple(replace(base.jobs[0], id=r.job) for r in runs)
    return replace(base, jobs=jobs, run_options=runs, demands=())


def racks(d: Decisions) -> int:
    return sum(d.ordered.values())


def test_runs_at_the_same_time_share_spares_by_hand() -> None:
    """Six nodes at 2 %: 0.98^6 + 6 x 0.02 x 0.98^5 = 0.9943, one spare. Twelve: 0.7847 + 0.1922 = 0.9769 with
    one, 0.9985 with two. So 14 nodes, 7 racks, for both at once. Four and four: 8 nodes need two, 5 racks;
    one after the other, 4 nodes and one spare, 3 racks.
    """
    assert [spares_by_hand(n, 0.02) for n in (4, 6, 8, 12)] == [1, 1, 2, 2]
    assert racks(planned(pair(6, 0))[0]) == 7
    assert racks(planned(pair(4, 0))[0]) == 5
    assert racks(planned(pair(4, 3))[0]) == 3


def test_the_audit_refuses_a_plan_without_the_shared_spares() -> None:
    """The plan of the runs alone has 4 racks for 8 nodes, and the audit counts 10."""
    problem = pair(4, 0)
    without = tuple(replace(r, pooled_nodes=0, pool=None) for r in problem.run_options)
    d, _, _ = planned(replace(problem, run_options=without))
    assert racks(d) == 4
    d.runs = list(problem.run_options)
    checks = [c for c in all_checks(problem, d, make_accounts(problem, d)) if not c.holds]
    assert {c.id for c in checks} == {CheckId.ACCELERATORS_FOR_JOBS, CheckId.TRAINING_BOOKED}
    (busiest,) = [c for c in checks if c.id is CheckId.ACCELERATORS_FOR_JOBS]
    assert (busiest.used, busiest.limit, busiest.where) == (80, 64, f"{HALL} a")
