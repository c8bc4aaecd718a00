"""Plans of a campus of two halls and a second site, with a battery and a contract for power, against the
enumeration of all integer decisions, with integer switch counts."""

from __future__ import annotations

import math
from collections import Counter
from functools import cache
from itertools import islice

import pytest

from dcplan.economics.cash_flow import npv_usd
from dcplan.planning.audit import run as audit_run
from dcplan.planning.audit.accounts import make_accounts
from dcplan.planning.audit.checks import all_checks
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.solve import strategy
from dcplan.planning.solve.request import SolveRequest
from dcplan.scenario.load import Question, load
from tests.planning.brute_sites import Best, Enumeration
from tests.planning.test_sites_brute import REL, agrees
from tests.planning.tiny_campus import campus_menus

FEW, COUNT = 40, 80
SAMPLE = 5
"""Further points of each instance whose cost and limits the audit recomputes."""


@cache
def menus() -> tuple[PlanningProblem, ...]:
    return tuple(islice(campus_menus(), COUNT))


@cache
def enumerated(number: int) -> Best:
    return Enumeration(menus()[number]).best(SAMPLE)


@pytest.fixture(scope="module")
def question() -> Question:
    return load("retrofit-air-hall")


@pytest.fixture(autouse=True)
def _systems_in_no_catalog(monkeypatch: pytest.MonkeyPatch) -> None:
    """The catalog does not know the systems of tiny menus; all other checks of the audit stay."""
    monkeypatch.setattr(audit_run, "differences", lambda *_: [])


@pytest.mark.parametrize(
    "number", [*range(FEW), *(pytest.param(x, marks=pytest.mark.slow) for x in range(FEW, COUNT))]
)
def test_plans_of_a_campus_agree_with_the_enumeration(number: int, question: Question) -> None:
    """The audit accepts the optimum and other points at the same cost, and the search finds the optimum."""
    problem, best = menus()[number], enumerated(number)
    points = [*best.others, *([(best.usd, best.decisions)] if best.decisions else [])]
    for usd, d in points:
        assert d is not None
        books = make_accounts(problem, d)
        assert [c for c in all_checks(problem, d, books) if not c.holds] == []
        found = npv_usd(books.flows, problem.finance.discount_rate)
        assert found == pytest.approx(usd, rel=REL, abs=0.1)
    request = SolveRequest(gap=REL, time_limit_s=60.0)
    agrees(strategy.solve_problem(problem, question, request), best)


@pytest.mark.slow
def test_instances_have_plans_with_every_part_and_several_together() -> None:
    """Of 80 instances, 40 have a plan; each part is in three optimal plans at least."""
    seen: Counter[str] = Counter()
    for number, problem in enumerate(menus()):
        d = enumerated(number).decisions
        if d is None:
            assert math.isinf(enumerated(number).usd)
            continue
        places = {h for h, *_ in d.ordered} | {x.key[0] for x in problem.existing}
        parts = {
            "battery": any(o == "cells" for _, o, _ in d.onsite),
            "shaved peak": any(o == "cells" and mw for (_, o, _), mw in d.onsite_mw.items()),
            "carried interruptions": bool(d.bridged),
            "contract": bool(d.contracted),
            "two halls of a site": {"r/h", "r/i"} <= places,
            "two sites": len({h.partition("/")[0] for h in places}) == 2,
            "run": bool(d.runs),
        }
        seen["plan"] += 1
        seen.update(name for name, there in parts.items() if there)
        seen["battery and contract"] += parts["battery"] and parts["contract"]
    assert seen.pop("plan") >= 40
    assert len(seen) == 8
    assert min(seen.values()) >= 3, seen
