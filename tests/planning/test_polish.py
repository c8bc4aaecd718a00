"""The last step of a search: later and fewer purchases, never a more expensive plan."""

from __future__ import annotations

import functools
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from dcplan.answers.plan.tables.limits import point
from dcplan.planning.audit.measures import measured
from dcplan.planning.audit.run import audit
from dcplan.planning.keys import Key
from dcplan.planning.problem.build import build
from dcplan.planning.solve import strategy
from dcplan.planning.solve.polish.purchases import kept_s, polished
from dcplan.planning.solve.request import SolveRequest, SolveSession
from dcplan.planning.solve.solved import Solved
from dcplan.planning.solve.strategy import solve_problem
from dcplan.scenario.load import Question, load
from tests.bench.instances import instance

Size = tuple[int, ...]
CASES: list[tuple[Size, int]] = [
    ((1, 4, 3, 2, 2), 1),
    ((2, 4, 4, 2, 3), 0),
    ((1, 6, 4, 2, 3), 0),
    ((), 0),
]
"""Sites, quarters, systems, fabrics and workloads of generated scenarios, or none of the smallest
example, and the seed of the search."""
GAP = 0.03


@functools.cache
def _question(size: Size) -> Question:
    if not size:
        return load("train-405b-in-90-days")
    file = Path(tempfile.mkdtemp()) / "generated.yaml"
    file.write_text(yaml.safe_dump(instance(*size)), encoding="utf-8")
    return load(str(file))


@functools.cache
def _before_and_after(size: Size, seed: int) -> tuple[Solved, Solved]:
    """The plan of a search without its last step, and with it."""
    question = _question(size)
    kept: list[Solved] = []

    def recorded(found: Solved, session: SolveSession) -> Solved:
        kept.append(found)
        return polished(found, session)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(strategy, "polished", recorded)
        request = SolveRequest(gap=GAP, time_limit_s=120.0, seed=seed)
        after = solve_problem(build(question).problem, question, request)
    return kept[-1], after


@pytest.mark.parametrize(("size", "seed"), CASES)
def test_a_polished_plan_passes_its_audit_and_costs_no_more(size: Size, seed: int) -> None:
    before, after = _before_and_after(size, seed)
    assert after.audit is not None
    assert after.audit.passed
    assert after.value <= before.value
    assert after.bound == pytest.approx(before.bound, rel=1e-9)
    assert after.bound <= after.value


@pytest.mark.parametrize(("size", "seed"), CASES)
def test_no_power_block_may_be_bought_a_quarter_later(size: Size, seed: int) -> None:
    _, after = _before_and_after(size, seed)
    decisions = after.decisions
    assert decisions is not None
    for (site, t), blocks in decisions.blocks.items():
        less = decisions.blocks.get((site, t - 1), 0)
        if blocks == less:
            continue
        for fewer in {less, blocks - 1}:
            later = replace(decisions, blocks={**decisions.blocks, (site, t): fewer})
            assert not audit(after.problem, later, _question(size)).passed


@pytest.mark.parametrize(("size", "seed"), CASES)
def test_the_integers_of_a_polished_plan_are_a_solution_of_its_program(
    size: Size, seed: int
) -> None:
    """Shadow prices and the next search begin with them."""
    _, after = _before_and_after(size, seed)
    values = point(after, 0.0, 60.0, None)
    assert values is not None
    objective = float(after.matrix.cost @ values) + after.matrix.offset
    assert 0.99 * after.value <= objective <= after.value * (1 + 1e-9)


def _is_of_racks(key: Key, count: float) -> bool:
    return key.name in {"buy", "racks"} and count > 0


@pytest.mark.parametrize("racks", [0, 1])
def test_purchases_too_early_and_too_many_are_taken_back(racks: int) -> None:
    """Three blocks more than are ever needed, in the first quarter, and one rack more: none is kept."""
    size, seed = CASES[3]
    _, best = _before_and_after(size, seed)
    question = _question(size)
    assert best.decisions is not None
    last = best.problem.quarters - 1
    site = next(s for s in best.problem.sites if best.decisions.blocks.get((s.id, last)))
    more = {
        (site.id, t): best.decisions.blocks[site.id, last] + 3
        for t in range(site.block_lead, last + 1)
    }
    ordered = {key: n + racks for key, n in best.decisions.ordered.items()}
    decisions = replace(best.decisions, blocks={**best.decisions.blocks, **more}, ordered=ordered)
    checked = audit(best.problem, decisions, question)
    assert checked.passed
    worse = replace(
        best,
        decisions=decisions,
        audit=checked,
        integer_values={
            key: more.get(key.ids, n) if key.name == "blocks" else n + racks * _is_of_racks(key, n)
            for key, n in best.integer_values.items()
        },
    )
    assert worse.value > best.value
    session = SolveSession.of(question, SolveRequest(gap=GAP, time_limit_s=60.0))
    found = polished(worse, session)
    assert found.decisions is not None
    assert found.decisions.blocks == best.decisions.blocks
    assert found.decisions.ordered == best.decisions.ordered
    assert found.audit is not None
    assert found.value == pytest.approx(best.value, rel=1e-9)
    recomputed = measured("cost", found.problem, found.decisions, found.audit.books)
    assert found.value == pytest.approx(recomputed)


@pytest.mark.parametrize(
    "request_",
    [
        SolveRequest(gap=GAP, time_limit_s=60.0, screen=True),
        SolveRequest(gap=GAP, time_limit_s=60.0, stop=lambda: True),
        SolveRequest(gap=GAP, time_limit_s=0.0),
    ],
    ids=["screening", "stopped", "no time"],
)
def test_the_last_step_needs_time_and_a_search(request_: SolveRequest) -> None:
    before, _ = _before_and_after(*CASES[0])
    session = SolveSession.of(_question(CASES[0][0]), request_)
    assert polished(before, session) is before


def test_the_time_of_the_last_step_is_part_of_the_time_limit() -> None:
    assert kept_s(600.0) == kept_s(60.0) == pytest.approx(3.0)
    assert kept_s(5.0) == pytest.approx(0.5)
