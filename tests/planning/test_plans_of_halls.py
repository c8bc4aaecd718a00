"""When the racks of a solution of the program of halls are good enough."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from dcplan.planning.decision_specs import FABRIC, FITTED
from dcplan.planning.solve.large.plans import Plans
from dcplan.planning.solve.request import Clock


class Asked:
    """A stage without plans, which keeps the cost at which each search of racks may end."""

    def __init__(self) -> None:
        self.enough: list[float] = []

    def plan(self, chosen: Mapping[Any, float], enough: float = -math.inf) -> None:
        self.enough.append(enough)


def begun(stage: Asked) -> Plans:
    """Plans of a search with a gap of 1 %."""
    reporter = SimpleNamespace(proved=lambda bound: None)
    request = SimpleNamespace(screen=False, stop=None)
    clock = Clock(8.0, Clock(10.0))
    session = SimpleNamespace(
        gap=0.01, reporter=reporter, request=request, clock=clock, stopped=False
    )
    return Plans(stage, session)  # type: ignore[arg-type]


@pytest.mark.parametrize(("by_site", "enough"), [(True, -math.inf), (False, 100.0)])
def test_racks_end_where_the_bound_proves_the_gap_unless_sites_follow(
    by_site: bool, enough: float
) -> None:
    """A plan of 100 is 1 % above the bound 99: (100 - 99) / 100."""
    stage = Asked()
    plans = begun(stage)
    plans.prove(99.0)
    outcome = SimpleNamespace(objective=99.5, values=np.zeros(1))
    program = SimpleNamespace(columns=["x"])
    plans.take(program, outcome, by_site=by_site)  # type: ignore[arg-type]
    assert stage.enough == pytest.approx([enough])


def test_a_bound_above_a_plan_is_left_out() -> None:
    """A plan of 100 proves bounds of 101 and 107 wrong, before it is found and after; 90 is the relaxation's."""
    plans = begun(Asked())
    found = SimpleNamespace(value=100.0, integer_values={})
    plans.relax(90.0)
    plans.prove(101.0)
    plans.keep(found, 95.0)  # type: ignore[arg-type]
    assert plans.bound == 90.0
    assert not plans.proved
    plans.prove(107.0)
    assert plans.bound == 90.0
    plans.prove(99.5)
    assert plans.bound == 99.5
    assert plans.proved


def test_the_first_plan_gives_the_search_the_rest_of_the_time() -> None:
    """8 of 10 s are for a first plan, and the other 2 s for another method that finds one."""
    plans = begun(Asked())
    plans.keep(None, 95.0)
    assert plans.session.clock.limit_s == 8.0
    plans.keep(SimpleNamespace(value=100.0, integer_values={}), 95.0)  # type: ignore[arg-type]
    assert plans.session.clock.limit_s == pytest.approx(10.0, abs=0.1)


def test_halls_that_have_a_plan_get_no_second_one() -> None:
    """Two units of a hall have the plan of 100; three units are searched, and so is another fabric."""
    stage = Asked()
    plans = begun(stage)
    hall, fabric = FITTED.key("h", "air", 0), FABRIC.key("h", "eth")
    found = SimpleNamespace(value=100.0, integer_values={hall: 2.0, fabric: 1.0})
    plans.keep(found, 95.0)  # type: ignore[arg-type]
    plans.others = [
        (90.0, {hall: 2.0, fabric: 1.0, FABRIC.key("h", "ib"): 0.0}),
        (91.0, {hall: 3.0, fabric: 1.0}),
        (92.0, {hall: 2.0, FABRIC.key("h", "ib"): 1.0}),
    ]
    plans.slack = 0.0
    plans.make_others(by_site=False)
    assert len(stage.enough) == 2
