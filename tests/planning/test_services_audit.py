"""The audit finds a plan of services with one replica, one prefill pool or one site too few."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dcplan.planning.audit.work.services import service_checks
from dcplan.planning.check_ids import CheckId
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.problem.work.terms import TOKENS, DemandTerms, PoolPair, ReplicaTerms
from tests.planning.tiny_services import plain_hall, plain_site, rack, services_menu

KEPT = 0.5
PREFILL, DECODE = "chat@prefill1", "chat@decode1"


def two_sites() -> PlanningProblem:
    """10 units of chat: replicas of 4 in both halls serve 1 unit each accelerator, two pools in s."""
    rng = np.random.default_rng(0)
    placed = [rack(f"{site}/h", "alpha", rng, most=2, size=8) for site in ("s", "r")]
    four = ReplicaTerms(4, "tp4", "engine", "fp8", 1.0)
    halls = [(p.hall, p.system) for p in placed]
    chat = DemandTerms(
        "chat",
        (10.0, 10.0),
        dict.fromkeys(halls, 1.0),
        unit=TOKENS,
        replica=dict.fromkeys(halls, four),
        spare_replicas=1,
        kept_frac_without_site=KEPT,
    )
    pool = replace(
        chat,
        wanted=(0.0, 0.0),
        each={halls[0]: 2.0},
        replica={halls[0]: four},
        row="chat",
        kept_frac_without_site=0.0,
    )
    return replace(
        services_menu(0),
        sites=tuple(plain_site(s, rng) for s in ("s", "r")),
        halls=tuple(plain_hall(s, 2) for s in ("s", "r")),
        placements=tuple(placed),
        demands=(chat, replace(pool, id=PREFILL, share=0.0), replace(pool, id=DECODE, share=1.0)),
        offers=(),
        periods=(1.0,),
        pairs=(PoolPair(PREFILL, DECODE),),
    )


def plan(own: float, pooled: float, replicas: int = 3) -> Decisions:
    """Chat has own accelerators in r; its pools in s have 4 accelerators for ``pooled`` units."""
    found = Decisions()
    for t in (0, 1):
        at = ("r/h", "cool", "alpha", t)
        found.serving["chat", *at] = own
        found.replicas["chat", *at] = replicas
        for name in (PREFILL, DECODE):
            there = (name, "s/h", "cool", "alpha", t)
            found.serving[there] = pooled / 2.0
            found.replicas[there] = 2
    return found


def broken(d: Decisions) -> set[CheckId]:
    return {c.id for c in service_checks(two_sites(), d) if not c.holds}


def test_a_plan_within_all_limits_passes() -> None:
    """r serves 5 units on 2 x 4 accelerators and a spare, s serves 5 on 2.5 of 4: half without each."""
    assert broken(plan(own=5.0, pooled=5.0)) == set()


def test_a_missing_replica_or_spare_is_found() -> None:
    """5 units need two replicas of 4, so three with the spare."""
    assert broken(plan(own=5.0, pooled=5.0, replicas=2)) == {CheckId.REPLICAS_BUSY}


def test_a_prefill_pool_that_is_too_small_is_found() -> None:
    d = plan(own=5.0, pooled=5.0)
    d.serving[PREFILL, "s/h", "cool", "alpha", 1] = 2.4
    (check,) = (c for c in service_checks(two_sites(), d) if not c.holds)
    assert (check.id, check.quarter) == (CheckId.POOLS_BALANCE, 1)
    assert (check.used, check.limit) == pytest.approx((5.0, 4.8))


@pytest.mark.parametrize(("own", "pooled", "site"), [(6.0, 4.0, "r"), (4.0, 6.0, "s")])
def test_a_site_that_serves_too_much_is_found(own: float, pooled: float, site: str) -> None:
    """Without r the pools serve 4 of the 5 kept units; prefill and decode are one service."""
    checks = [c for c in service_checks(two_sites(), plan(own, pooled)) if not c.holds]
    assert {(c.id, c.where) for c in checks} == {(CheckId.DEMAND_WITHOUT_SITE, f"chat {site}")}
    assert all(c.used == pytest.approx(5.0) and c.limit == pytest.approx(4.0) for c in checks)


def test_unserved_demand_counts_for_a_lost_site() -> None:
    """1 unit given up in both quarters: 4 of the other 4 remain without r."""
    d = plan(own=5.0, pooled=4.0)
    assert broken(d) == {CheckId.DEMAND_WITHOUT_SITE}
    d.unmet = {("chat", t): 1.0 for t in (0, 1)}
    assert broken(d) == set()
