"""Two systems that share a hall may have more NIC ports than a hall full of either.

An air-cooled rack fills the air of the hall and a liquid-cooled rack its liquid loop, so the hall holds
one of each: 16 + 16 ports, while either alone has 16.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from dcplan.planning.audit import run as audit_run
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.problem.work.terms import DemandTerms
from dcplan.planning.solve import strategy
from dcplan.planning.solve.request import SolveRequest
from dcplan.planning.solve.status import SolveStatus
from dcplan.scenario.load import load
from tests.planning.brute_sites import Enumeration
from tests.planning.tiny_sites import sites_menu


def complementary() -> PlanningProblem:
    """Hall s/h: 50 kW of air and 50 kW of liquid, a rack of 40 kW air and one of 40 kW liquid with
    4 kW air."""
    seed = next(
        s for s in range(100) if len(sites_menu(s).placements) == 4 and not sites_menu(s).existing
    )
    base = sites_menu(seed)
    cool = replace(base.halls[0].coolings[0], air_mw=0.05, liquid_mw=0.05)
    hall = replace(base.halls[0], racks=4, it_mw=0.2, available_from=0, coolings=(cool,))
    site = replace(
        base.sites[0],
        utility_mw=(1.0,) * base.quarters,
        tranches=(),
        onsite=(),
        max_t_per_year=None,
        block_lead=0,
    )
    heat = {"alpha": (40.0, 0.0), "beta": (4.0, 40.0)}
    placed = [
        replace(
            p,
            rated_kw=sum(heat[p.system]),
            air_kw=heat[p.system][0],
            liquid_kw=heat[p.system][1],
            accelerators=16,
            nodes=2,
            ports=16,
            slots=1,
            lead=0,
            max_racks_unit=1,
        )
        for p in base.placements
        if p.hall == hall.id
    ]
    others = [p for p in base.placements if p.hall != hall.id]
    each = {(p.hall, p.system): 0.1 for p in placed}
    demand = DemandTerms("d0", (3.2,) * base.quarters, each)  # 32 accelerators: one rack of each
    return replace(
        base,
        sites=(site, base.sites[1]),
        halls=(hall, *base.halls[1:]),
        placements=(*placed, *others),
        demands=(demand,),
        jobs=(),
        run_options=(),
        supply=(),
        finance=replace(base.finance, budget_usd=None),
    )


def test_a_hall_holds_one_rack_of_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit_run, "differences", lambda *_: [])
    problem = complementary()
    best = Enumeration(problem).best()
    assert best.decisions is not None
    found = strategy.solve_problem(
        problem, load("retrofit-air-hall"), SolveRequest(gap=1e-6, time_limit_s=60.0)
    )
    assert found.status is SolveStatus.OPTIMAL
    assert found.bound_usd <= best.usd * (1.0 + 1e-6)
    assert 1e6 * found.value == pytest.approx(best.usd, rel=1e-5)
