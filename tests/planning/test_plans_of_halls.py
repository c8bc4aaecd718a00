"""When the racks of a solution of the program of halls are good enough."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from dcplan.planning.solve.large.plans import Plans


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
    session = SimpleNamespace(gap=0.01, reporter=reporter, request=request)
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
    plans, found = begun(Asked()), SimpleNamespace(value=100.0)
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
