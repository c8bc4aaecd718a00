"""Programs that HiGHS calls "infeasible or unbounded": the answer says which of the two they are.

The program is min -x + y with x - y <= 1, x and y at least 0. Both may grow together, so with a cost
of -1 for x and 0 for y the cost falls without limit. With y <= 2 the best x is 3, and with 5 <= y <= 2
there is no solution.
"""

from __future__ import annotations

import math

import highspy
import numpy as np
import pytest

from dcplan.errors import InputError
from dcplan.planning.keys import Key
from dcplan.planning.solve.highs import loaded, relaxation, solve
from dcplan.planning.solve.matrix import Matrix, Row
from dcplan.planning.solve.status import SolveStatus, UnboundedError, settled

KINDS = highspy.HighsModelStatus
COLUMNS = (Key("rented", ("offer", 0)), Key("sold"))


def program(*, integer: bool, least: float = 0.0, most: float = math.inf) -> Matrix:
    none = np.zeros(0)
    matrix = Matrix(
        cost=np.array([-1.0, 0.0]),
        offset=0.0,
        lower=np.zeros(2),
        upper=np.full(2, np.inf),
        integer=np.array([integer, False]),
        columns=list(COLUMNS),
        row_lower=none,
        row_upper=none,
        rows=[],
        start=np.zeros(3, dtype=np.int32),
        index=none.astype(np.int32),
        value=none,
    )
    rows = [Row(Key("together"), {0: 1.0, 1: -1.0}, upper=1.0)]
    if least > 0.0:
        rows.append(Row(Key("least"), {1: 1.0}, lower=least))
    if most < math.inf:
        rows.append(Row(Key("most"), {1: 1.0}, upper=most))
    return matrix.with_rows(rows)


def test_highs_does_not_tell_the_two_apart() -> None:
    """The test of the others: with presolve HiGHS leaves open which of the two it is."""
    matrix = program(integer=True)
    solver = loaded(matrix, matrix.integer, matrix.lower, matrix.upper)
    solver.run()
    assert solver.getModelStatus() == KINDS.kUnboundedOrInfeasible
    assert settled(solver) == KINDS.kUnbounded
    assert solver.getOptionValue("presolve")[1] == "choose"


@pytest.mark.parametrize("integer", [False, True])
@pytest.mark.parametrize("presolve", [None, True, False])
def test_an_unbounded_program_is_an_error_that_names_the_amounts(
    integer: bool, presolve: bool | None
) -> None:
    matrix = program(integer=integer)
    with pytest.raises(UnboundedError) as caught:
        solve(matrix, gap=0.0, time_limit_s=10.0, presolve=presolve)
    (problem,) = caught.value.problems
    assert isinstance(caught.value, InputError)
    assert problem.code == "DC015"
    assert "the cost falls without limit" in problem.cause
    assert "rented[offer,0]" in problem.cause
    assert "sold" not in problem.cause  # it has no cost, so it makes no money
    with pytest.raises(UnboundedError):
        relaxation(matrix)


@pytest.mark.parametrize("integer", [False, True])
@pytest.mark.parametrize("presolve", [None, True, False])
def test_a_program_without_a_solution_is_infeasible(integer: bool, presolve: bool | None) -> None:
    matrix = program(integer=integer, least=5.0, most=2.0)
    found = solve(matrix, gap=0.0, time_limit_s=10.0, presolve=presolve)
    assert found.status is SolveStatus.INFEASIBLE
    assert relaxation(matrix) is None


def test_a_limit_makes_the_program_bounded() -> None:
    found = solve(program(integer=True, most=2.0), gap=0.0, time_limit_s=10.0)
    assert found.status is SolveStatus.OPTIMAL
    assert found.objective == pytest.approx(-3.0, abs=1e-9)  # x = 1 + y = 3
