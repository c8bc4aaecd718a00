"""Bounds that similar programs take over: never above the enumerated optimum, and equal at the same program."""

from __future__ import annotations

import math
import time
from dataclasses import replace

import numpy as np
import pytest

from dcplan.planning.keys import Key
from dcplan.planning.solve.highs import relaxation
from dcplan.planning.solve.large.aggregate import without
from dcplan.planning.solve.large.branch import proof
from dcplan.planning.solve.large.branch.node_program import Known
from dcplan.planning.solve.large.branch.proof import ProofTree, evaluated, row_scales
from dcplan.planning.solve.large.screening import Proof
from dcplan.planning.solve.matrix import Matrix, Row
from tests.planning.test_tree import FREE, WHOLES, _enumerated, _program

CASES = 40


def never(_: float) -> bool:
    """No bound is enough."""
    return False


def tree(matrix: Matrix) -> ProofTree:
    """Tree of a program, whose first columns are whole."""
    return ProofTree(matrix, matrix.integer, until_s=time.monotonic() + 60)


def similar(matrix: Matrix, seed: int) -> Matrix:
    """The program with other right sides, costs and coefficients, each by up to a tenth."""
    draw = np.random.default_rng(1000 + seed)

    def moved(x: np.ndarray) -> np.ndarray:
        return x * draw.uniform(0.9, 1.1, size=len(x))

    return replace(
        matrix,
        cost=moved(matrix.cost),
        row_lower=moved(matrix.row_lower),
        upper=np.where(matrix.integer, matrix.upper, moved(matrix.upper)),
        value=_moved_needs(matrix, draw),
    )


def _moved_needs(matrix: Matrix, draw: np.random.Generator) -> np.ndarray:
    """Coefficients of all rows but the last one, which the enumeration knows."""
    factor = draw.uniform(0.9, 1.1, size=len(matrix.value))
    return np.where(matrix.index == len(matrix.rows) - 1, matrix.value, matrix.value * factor)


@pytest.mark.parametrize("seed", range(CASES))
def test_a_bound_that_is_taken_over_is_never_above_the_optimum(seed: int) -> None:
    """Also where one free column has no upper bound; without an optimum, the bound is infinite."""
    matrix = _program(seed)
    if seed % 2:
        matrix = replace(
            matrix, upper=np.where(np.arange(WHOLES + FREE) == WHOLES, np.inf, matrix.upper)
        )
    first = tree(matrix)
    bound, best = first.grown(never), _enumerated(matrix)
    assert bound == pytest.approx(best, rel=1e-9) or bound <= best
    same = evaluated(first.leaves, matrix)
    assert same == pytest.approx([x.bound for x in first.leaves], rel=1e-7, abs=1e-7)
    for n in range(3):
        other = similar(matrix, 100 * seed + n)
        best = _enumerated(other)
        assert evaluated(first.leaves, other).min() <= best + 1e-7 * abs(best)
        second = tree(other)
        taken = second.taken_over(first.leaves, never)
        assert taken <= best + 1e-7 * abs(best)
        assert taken == pytest.approx(best, rel=1e-7) or second.nodes >= proof.MORE_NODES


@pytest.mark.parametrize("seed", range(CASES))
def test_a_tree_branches_by_the_gains_of_a_restricted_program(seed: int) -> None:
    """Without its last two columns a program costs more; its gains choose columns of the complete one."""
    matrix = _program(seed)
    few = tree(without(matrix, [WHOLES + FREE - 2, WHOLES + FREE - 1]))
    few.grown(never)
    point, best = relaxation(matrix), _enumerated(matrix)
    if point is None:
        assert math.isinf(best)
        return
    known = Known(point.basis, point.iterations, point.seconds)
    until_s = time.monotonic() + 60
    whole = ProofTree(matrix, matrix.integer, until_s=until_s, costs=few.costs, trials=0)
    assert whole.grown(never, known=known) == pytest.approx(best, rel=1e-7)
    late = ProofTree(matrix, matrix.integer, until_s=until_s, stop=lambda: True)
    assert late.grown(never, known=known) <= best + 1e-7 * abs(best)


def test_leaves_have_all_values_of_a_program_with_other_bounds() -> None:
    """max x, that is min 100 - x, with x <= 2.5 + y / 4: the leaves divide x at 2 and 3 of 0 to 4.

    With y up to 22, x may be 8 where its bound is 8: 92, which leaves with an end at 4 would not have. With
    x of at least 5, the leaf of at most 2 has no values; with x of at most 2, the other one has none.
    """
    matrix = replace(_pair(), cost=np.array([-1.0, 0.0]), offset=100.0, upper=np.array([4.0, 1.0]))
    matrix = matrix.with_rows([Row(Key("most"), {0: 1.0, 1: -0.25}, upper=2.5)])
    first = tree(matrix)
    assert first.grown(never) == pytest.approx(98.0)
    kept = Proof(frozenset(), matrix, False, tuple(first.leaves), first.costs, 0.0)
    for lower, upper, most, best in (
        (0.0, 8.0, 22.0, 92.0),
        (5.0, 8.0, 22.0, 92.0),
        (0.0, 2.0, 22.0, 98.0),
    ):
        own = np.array([lower, 0.0])
        other = replace(matrix, lower=own, upper=np.array([upper, most]))
        assert kept.fits(other)
        assert evaluated(first.leaves, other).min() <= best + 1e-9
        second = tree(other)
        assert second.taken_over(first.leaves, never) == pytest.approx(best)
        back = tree(matrix)
        assert back.taken_over(second.leaves, never) == pytest.approx(98.0)


def test_leaves_are_taken_over_by_the_same_columns_alone() -> None:
    matrix = replace(_pair(), cost=np.array([3.0, 5.0]), upper=np.array([10.0, 1.0]))
    matrix = matrix.with_rows([Row(Key("need"), {0: 1.0, 1: 1.0}, lower=2.5)])
    first = tree(matrix)
    first.grown(never)
    kept = Proof(frozenset(), matrix, False, tuple(first.leaves), first.costs, 0.0)
    assert kept.fits(replace(matrix, cost=2 * matrix.cost))
    assert not kept.fits(replace(matrix, integer=np.array([False, False])))
    assert not kept.fits(replace(matrix, columns=matrix.columns[::-1]))


def test_a_column_that_is_no_integer_is_not_divided() -> None:
    """min x + y, x + y >= 1.5, of which only x is whole: 1.5, whatever is asked to be whole."""
    matrix = _pair().with_rows([Row(Key("need"), {0: 1.0, 1: 1.0}, lower=1.5)])
    every = ProofTree(matrix, np.array([True, True]), until_s=time.monotonic() + 60)
    assert every.grown(never) == pytest.approx(1.5)


def test_a_bound_by_hand() -> None:
    """min 3 x + 5 y, x whole, x + y >= d, y <= 1.

    With d = 2.5 the leaves are x <= 2 with x = 2, y = 0.5 (8.5, price 5) and x >= 3 (9, price 0). With
    d = 2.75 the price of 5 gives 5 * 2.75 - (5 - 3) * 2 = 9.75, and the other leaf 9: the bound is 9,
    which is the optimum x = 3.
    """
    matrix = replace(_pair(), cost=np.array([3.0, 5.0]), upper=np.array([10.0, 1.0]))
    rows = [Row(Key("need"), {0: 1.0, 1: 1.0}, lower=2.5)]
    first = tree(matrix.with_rows(rows))
    assert first.grown(never) == pytest.approx(8.5)
    assert sorted(x.bound for x in first.leaves) == pytest.approx([8.5, 9.0])
    more = replace(rows[0], lower=2.75)
    assert sorted(evaluated(first.leaves, matrix.with_rows([more]))) == pytest.approx([9.0, 9.75])


def test_a_small_reduced_cost_counts_where_the_column_has_a_bound() -> None:
    """A cost of -5e-8 for each of up to 1e6 of y lowers the bound by 0.05; without an end it is noise."""
    matrix = replace(_pair(), upper=np.array([1.0, 1e6]))
    matrix = matrix.with_rows([Row(Key("need"), {0: 1.0}, lower=1.0)])
    first = tree(matrix)
    assert first.grown(never) == pytest.approx(1.0)
    cheaper = replace(matrix, cost=np.array([1.0, -5e-8]))
    assert evaluated(first.leaves, cheaper).min() == pytest.approx(0.95)
    endless = replace(cheaper, upper=np.array([1.0, np.inf]))
    assert evaluated(first.leaves, endless).min() == pytest.approx(1.0)


def test_a_leaf_without_a_solution_is_one_only_where_its_ray_proves_it() -> None:
    """x + y >= d with x, y <= 1: none for d = 3, and one for d = 1.5, of which the ray says nothing."""
    matrix = _pair()
    rows = [Row(Key("need"), {0: 1.0, 1: 1.0}, lower=3.0)]
    first = tree(matrix.with_rows(rows))
    assert first.grown(never) == math.inf
    leaves = first.leaves
    assert evaluated(leaves, matrix.with_rows([replace(rows[0], lower=2.5)])).tolist() == [math.inf]
    fewer = matrix.with_rows([replace(rows[0], lower=1.5)])
    assert evaluated(leaves, fewer).tolist() == [-math.inf]
    assert tree(fewer).taken_over(leaves, never) == pytest.approx(1.5)


def test_the_price_of_a_row_in_other_units_is_that_of_the_same_row() -> None:
    """A row times 4 has a quarter of the price: the bound is equal to the last digit but rounding."""
    matrix = replace(_pair(), upper=np.array([1.0, np.inf]))
    need = Row(Key("need"), {0: 1.0, 1: 2.0}, lower=3.0)
    first = tree(matrix.with_rows([need]))
    bound = first.grown(never)
    times = Row(need.key, {0: 4.0, 1: 8.0}, lower=12.0)
    assert evaluated(first.leaves, matrix.with_rows([times])).min() == pytest.approx(bound)
    assert row_scales(matrix.with_rows([times])).tolist() == [8.0]


def _pair() -> Matrix:
    """Two columns of cost 1 from 0 to 1, without rows."""
    return Matrix(
        cost=np.ones(2),
        offset=0.0,
        lower=np.zeros(2),
        upper=np.ones(2),
        integer=np.array([True, False]),
        columns=[Key("x"), Key("y")],
        row_lower=np.zeros(0),
        row_upper=np.zeros(0),
        rows=[],
        start=np.zeros(3, dtype=np.int32),
        index=np.zeros(0, dtype=np.int32),
        value=np.zeros(0),
    )
