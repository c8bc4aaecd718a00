"""Small models are solved with and without presolve; the better plan and the lower bound count."""

from __future__ import annotations

import math

import numpy as np

from dcplan.planning.solve.highs import Outcome, _agreed
from dcplan.planning.solve.status import SolveStatus


def outcome(status: SolveStatus, objective: float, bound: float) -> Outcome:
    values = None if math.isinf(objective) else np.zeros(1)
    return Outcome(status, objective, bound, values, 1.0, 2)


def test_better_plan_and_lower_bound_count() -> None:
    """One solve claims 10 as proven, the other finds 9: the plan is 9, and its bound is at most 9."""
    wrong = outcome(SolveStatus.OPTIMAL, 10.0, 10.0)
    right = outcome(SolveStatus.OPTIMAL, 9.0, 8.9)
    for found in (_agreed(wrong, right), _agreed(right, wrong)):
        assert (found.objective, found.bound, found.seconds, found.nodes) == (9.0, 8.9, 2.0, 4)


def test_the_higher_bound_counts_where_no_plan_contradicts_it() -> None:
    loose = outcome(SolveStatus.OPTIMAL, 10.0, 9.7)
    tight = outcome(SolveStatus.OPTIMAL, 10.0, 9.95)
    assert _agreed(loose, tight).bound == _agreed(tight, loose).bound == 9.95


def test_infeasible_needs_both() -> None:
    none = outcome(SolveStatus.INFEASIBLE, math.inf, math.inf)
    plan = outcome(SolveStatus.OPTIMAL, 5.0, 5.0)
    assert _agreed(none, plan).status is SolveStatus.OPTIMAL
    assert _agreed(none, none).status is SolveStatus.INFEASIBLE


def test_bound_of_an_unfinished_solve_does_not_count() -> None:
    late = outcome(SolveStatus.LIMIT, 12.0, 1.0)
    assert _agreed(outcome(SolveStatus.OPTIMAL, 10.0, 9.9), late).bound == 9.9
