"""Branch and bound over strategic integers: equal to the enumeration, and its bound never above it."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from dcplan.planning.keys import Key
from dcplan.planning.solve.highs import Point, Watch, relaxation
from dcplan.planning.solve.large.branch import node_program, tree
from dcplan.planning.solve.large.branch.node_program import End, Guard, NodeProgram
from dcplan.planning.solve.large.branch.pseudo_costs import PseudoCosts
from dcplan.planning.solve.large.branch.tree import Grown, Tree
from dcplan.planning.solve.large.sums import known_with_sums
from dcplan.planning.solve.matrix import Matrix, Row
from dcplan.planning.solve.status import SolveStatus

WHOLES, FREE, ROWS, MOST = 5, 4, 5, 2
CASES, BIG = 40, 21
"""Number of programs, and one with many nodes."""
MANY = (6, 14, 18, 21, 22, 27, 29, 35, 37, 39)
"""Programs with at least 8 nodes."""


def _program(seed: int, offset: float = 17.0) -> Matrix:
    """A covering program with 5 integers from 0 to 2 and 4 continuous columns from 0 to 3."""
    draw = np.random.default_rng(seed)
    count = WHOLES + FREE
    entries = draw.integers(0, 4, size=(ROWS, count)) * draw.uniform(0.5, 1.5, size=(ROWS, count))
    need = entries.sum(axis=1) * draw.uniform(0.4, 1.9, size=ROWS)
    matrix = Matrix(
        cost=np.concatenate([draw.uniform(3, 9, WHOLES), draw.uniform(4, 12, FREE)]),
        offset=offset,
        lower=np.zeros(count),
        upper=np.array([float(MOST)] * WHOLES + [3.0] * FREE),
        integer=np.array([True] * WHOLES + [False] * FREE),
        columns=[Key("x", (i,)) for i in range(count)],
        row_lower=np.zeros(0),
        row_upper=np.zeros(0),
        rows=[],
        start=np.zeros(count + 1, dtype=np.int32),
        index=np.zeros(0, dtype=np.int32),
        value=np.zeros(0),
    )
    rows = [Row(Key("need", (r,)), dict(enumerate(entries[r])), lower=need[r]) for r in range(ROWS)]
    return matrix.with_rows([*rows, Row(Key("most"), dict.fromkeys(range(WHOLES), 1.0), upper=7.0)])


def _enumerated(matrix: Matrix) -> float:
    """Smallest objective over all values of the integers; the rest is a linear program."""
    best = math.inf
    for values in itertools.product(range(MOST + 1), repeat=WHOLES):
        lower, upper = matrix.lower.copy(), matrix.upper.copy()
        lower[:WHOLES] = upper[:WHOLES] = values
        if matrix.activity(np.where(matrix.integer, upper, 0.0))[-1] > 7.0:
            continue
        point = relaxation(replace(matrix, lower=lower, upper=upper))
        best = best if point is None else min(best, point.objective)
    return best


@pytest.fixture(scope="module")
def optima() -> dict[int, float]:
    return {seed: _enumerated(_program(seed)) for seed in range(CASES)}


def _grown(matrix: Matrix, gap: float = 0.0, **options: object) -> Grown:
    watch = options.pop("watch", Watch())
    start = options.pop("start", None)
    assert isinstance(watch, Watch)
    limit_s = float(str(options.pop("time_limit_s", 60.0)))
    grower = Tree(matrix, matrix.integer, gap=gap, time_limit_s=limit_s, watch=watch)
    return grower.grown(start if isinstance(start, dict) else None)


@pytest.mark.parametrize("seed", range(CASES))
def test_the_optimum_is_that_of_the_enumeration(seed: int, optima: dict[int, float]) -> None:
    matrix, found = _program(seed), _grown(_program(seed)).outcome
    best = optima[seed]
    if math.isinf(best):
        assert found.status is SolveStatus.INFEASIBLE
        assert found.values is None
        return
    assert found.status is SolveStatus.OPTIMAL
    assert found.objective == pytest.approx(best, rel=1e-7)
    assert found.bound == pytest.approx(best, rel=1e-7)
    assert found.values is not None
    assert np.abs(found.values[:WHOLES] - np.round(found.values[:WHOLES])).max() < 1e-6
    assert matrix.cost @ found.values + matrix.offset == pytest.approx(best, rel=1e-7)


def test_enough_of_the_programs_have_nodes_and_some_have_no_solution(
    optima: dict[int, float],
) -> None:
    nodes = [_grown(_program(seed)).outcome.nodes for seed in range(CASES)]
    assert sum(n > 5 for n in nodes) > CASES / 4
    assert 0 < sum(math.isinf(x) for x in optima.values()) < CASES / 2


@pytest.mark.parametrize("seed", range(CASES))
def test_a_gap_gives_a_bound_below_the_optimum_and_a_solution_within_it(
    seed: int, optima: dict[int, float]
) -> None:
    best, found = optima[seed], _grown(_program(seed), gap=0.05).outcome
    if math.isinf(best):
        assert found.status is SolveStatus.INFEASIBLE
        return
    assert found.bound <= best + 1e-7 * best
    assert best - 1e-7 * best <= found.objective
    assert found.objective - found.bound <= 0.05 * found.objective + 1e-7


@pytest.mark.parametrize("seed", MANY)
def test_a_request_to_end_leaves_a_valid_bound(seed: int, optima: dict[int, float]) -> None:
    """Each search ends after another number of reports of its bound; none is above the optimum."""
    for ended in range(1, 8):
        seen: list[float] = []

        def proved(bound: float, seen: list[float] = seen, ended: int = ended) -> bool:
            seen.append(bound)
            return len(seen) >= ended

        found = _grown(_program(seed), watch=Watch(proved=proved)).outcome
        assert max(seen) <= optima[seed] + 1e-6
        assert found.bound <= optima[seed] + 1e-6
        assert found.objective >= optima[seed] - 1e-6


def test_no_time_leaves_no_solution_and_no_bound() -> None:
    found = _grown(_program(1), time_limit_s=0.0).outcome
    assert found.status is SolveStatus.LIMIT
    assert found.values is None
    assert found.bound == -math.inf


def test_a_request_to_stop_interrupts(optima: dict[int, float]) -> None:
    calls = []

    def stop() -> bool:
        calls.append(True)
        return len(calls) > 20

    found = _grown(_program(BIG), watch=Watch(stop=stop)).outcome
    assert found.status is SolveStatus.INTERRUPTED
    assert found.bound <= optima[BIG] + 1e-6


def test_a_partial_start_gives_the_first_solution() -> None:
    seen: list[np.ndarray] = []
    start = {i: float(MOST) if i < 3 else 0.0 for i in range(3)}
    _grown(_program(0), start=start, watch=Watch(improved=seen.append))
    assert seen
    assert seen[0][:3] == pytest.approx([2.0, 2.0, 2.0])


@pytest.mark.parametrize("seed", MANY)
@pytest.mark.parametrize("gap", [0.0, 0.02])
def test_nodes_that_are_put_off_change_no_optimum(
    seed: int, gap: float, optima: dict[int, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With one iteration for a try, most nodes are put off up to four times, and then solved from nothing."""
    monkeypatch.setattr(node_program, "PART_SHARE", 1.0 / node_program.LEAST_ROOT_ITERATIONS)
    off: list[tree._Node] = []
    put_off = Tree._put_off

    def seen(self: Tree, node: tree._Node, found: node_program.Linear) -> None:
        off.append(node)
        put_off(self, node, found)

    monkeypatch.setattr(Tree, "_put_off", seen)
    outcome = _grown(_program(seed), gap).outcome
    assert off
    assert max(node.delays for node in off) < node_program.MOST_DELAYS
    assert outcome.bound <= optima[seed] + 1e-6
    assert outcome.objective - optima[seed] <= gap * outcome.objective + 1e-6


@pytest.mark.parametrize("seed", MANY)
def test_solves_that_never_end_from_a_basis_are_done_from_nothing(
    seed: int, optima: dict[int, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With no call allowed, the guard ends every solve from a basis at its first iteration."""
    cold = []
    run = NodeProgram._run

    def counted(self: NodeProgram, cutoff: float, **how: object) -> node_program.Linear:
        cold.append(bool(how.get("cold")))
        return run(self, cutoff, **how)  # type: ignore[arg-type]

    monkeypatch.setattr(node_program, "STALLED_CALLS", 0)
    monkeypatch.setattr(NodeProgram, "_run", counted)
    found = _grown(_program(seed)).outcome
    assert found.objective == pytest.approx(optima[seed], rel=1e-7)
    assert found.bound == pytest.approx(optima[seed], rel=1e-7)
    assert sum(cold) > 3


def test_a_guard_ends_a_solve_without_iterations_and_no_other() -> None:
    ended = []

    def event(count: int) -> SimpleNamespace:
        data = SimpleNamespace(simplex_iteration_count=count)
        return SimpleNamespace(data_out=data, interrupt=lambda end: ended.extend([count] * end))

    guard = Guard()
    guard.begin(watched=True)
    for n in range(1_000):
        guard.check(event(n))
    assert not ended
    for _ in range(node_program.STALLED_CALLS):
        guard.check(event(999))
    assert ended
    ended.clear()
    guard.begin(watched=False)
    for _ in range(1_000):
        guard.check(event(5))
    assert not ended


def test_a_cutoff_ends_a_program_at_its_objective_and_not_below() -> None:
    """The offset is part of the objective that the cutoff is compared with."""
    matrix = _program(0)
    program = NodeProgram(matrix, until_s=math.inf)
    root = program.root()
    basis = program.basis()
    low = {0: (2.0, 2.0)}
    found = program.solve(low, basis, math.inf)
    assert found.end is End.OPTIMAL
    assert found.objective > root.objective
    assert program.solve(low, basis, found.objective + 1e-6).end is End.OPTIMAL
    cut = program.solve(low, basis, found.objective - 1e-6)
    assert (cut.end, cut.objective) == (End.CUT, math.inf)


def test_columns_get_their_own_bounds_back() -> None:
    program = NodeProgram(_program(0), until_s=math.inf)
    root, basis = program.root(), program.basis()
    for i in range(WHOLES):
        program.solve({i: (2.0, 2.0)}, basis, math.inf)
    assert program.solve({}, basis, math.inf).objective == pytest.approx(root.objective)


def test_a_known_basis_needs_no_iterations_of_the_root() -> None:
    """That of the program without sums is one of the program with them."""
    plain = _program(2)
    point = relaxation(plain)
    assert isinstance(point, Point)
    summed = plain.with_integers([Key("sum", (0,))], [10.0])
    row = Row(Key("sum", (0,)), {0: 1.0, 1: 1.0, WHOLES + FREE: -1.0}, 0.0, 0.0)
    summed = summed.with_rows([row])
    known = known_with_sums(point, plain, summed)
    program = NodeProgram(summed, until_s=math.inf)
    root = program.root(known)
    assert root.objective == pytest.approx(point.objective)
    assert root.iterations == 0
    grown = Tree(summed, summed.integer, gap=0.0, time_limit_s=60.0).grown(known=known)
    assert grown.outcome.objective == pytest.approx(_enumerated(plain), rel=1e-7)


def test_a_program_that_highs_cannot_solve_ends_the_tree_as_slow(
    optima: dict[int, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every solve after the root is interrupted, from a basis and from nothing."""
    begin = Guard.begin
    monkeypatch.setattr(Guard, "begin", lambda self, *, watched: begin(self, watched=True))
    root = NodeProgram.root

    def then_lost(
        self: NodeProgram, known: node_program.Known | None = None
    ) -> node_program.Linear:
        found = root(self, known)
        monkeypatch.setattr(node_program, "STALLED_CALLS", 0)
        return found

    monkeypatch.setattr(NodeProgram, "root", then_lost)
    found = _grown(_program(BIG))
    assert found.slow
    assert found.outcome.status is SolveStatus.LIMIT
    assert found.outcome.bound <= optima[BIG] + 1e-6


def test_a_slow_tree_ends_with_a_valid_bound_and_says_so(
    optima: dict[int, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tree, "SLOW_SHARE", 0.0)
    found = _grown(_program(BIG))
    assert found.slow
    assert found.outcome.nodes <= tree.SLOW_NODES + 1
    assert found.outcome.bound <= optima[BIG] + 1e-6


def test_gains_of_one_program_count_once_in_the_next() -> None:
    """Gains of 2 and 4 per unit have the mean 3; with one of 9 that counts once, (3 + 9) / 2 = 6."""
    costs, key = PseudoCosts(), Key("x")
    for gain in (2.0, 4.0):
        costs.learn(key, gain, 1.0, up=False)
    next_ = costs.carried()
    assert next_.gains(key, 0.5)[0] == pytest.approx(1.5)
    next_.learn(key, 9.0, 1.0, up=False)
    assert next_.gains(key, 0.5)[0] == pytest.approx(3.0)
    assert not next_.is_known(key)
