"""Rows of firm power and of pauses in the smaller relaxation of large models."""

from __future__ import annotations

import dataclasses

import pytest

from dcplan.planning.model.build import build_model
from dcplan.planning.solve import highs
from dcplan.planning.solve.large.aggregate import with_work
from dcplan.planning.solve.matrix import compile_model
from tests.planning.interrupted import KEEPS, PAUSES, menu


@pytest.mark.parametrize("called", [False, True])
def test_runs_become_work_although_their_firm_power_differs(called: bool) -> None:
    """The relaxation of large models ignores the rows of firm power and of pauses: a run that pauses
    and one that keeps its power are one share of work, and its bound is not above the exact one."""
    problem = menu(0.1, KEEPS, PAUSES, called=called)
    base = compile_model(build_model(dataclasses.replace(problem, margin_factor=0.0))[0])
    names = {row.name for row in base.rows}
    assert {"runs_pause", "called_load" if called else "firm_power"} <= names
    relaxed = with_work(base, problem)
    assert not [key for key in relaxed.columns if key.name == "run"]
    assert not {row.name for row in relaxed.rows} & {"runs_pause", "called_load", "firm_power"}
    rough, exact = highs.relaxation(relaxed), highs.relaxation(base)
    assert rough is not None
    assert exact is not None
    assert rough.objective <= exact.objective + 1e-9
