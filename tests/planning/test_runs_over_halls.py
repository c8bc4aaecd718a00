"""Runs over several halls: their parts, the links between them, and the choice to spread or not."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import replace

import pytest

from dcplan.planning.audit.accounts import make_accounts
from dcplan.planning.audit.checks import all_checks
from dcplan.planning.check_ids import CheckId
from dcplan.planning.decision_specs import BUY
from dcplan.planning.decision_table import columns_of, to_table
from dcplan.planning.decisions import Decisions
from dcplan.planning.goal import EarlierPlan
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.problem.terms.links import LinkTerms
from dcplan.planning.problem.work.parts import RunPart
from dcplan.planning.problem.work.terms import RunOption
from dcplan.training.wide_area import Span, WideArea
from tests.planning.optimum import optimum, planned
from tests.planning.small import HALL, small_menu

PAIR = ("s/east", "s/west")


def parts(run: RunOption, link: str = "campus", name: str = "job#1") -> list[RunOption]:
    """A run as two equal parts in two halls, over a link."""
    halls = WideArea(2, 1, 1e5, 4.0, 1e-5)
    return [
        replace(
            run,
            place=hall,
            accelerators=run.accelerators // 2,
            part=RunPart(name, hall, PAIR, (link,), Span(halls)),
        )
        for hall in PAIR
    ]


def two_halls(
    racks: int, link_usd: float, *, second_usd: float = 0.0, jobs: int = 1
) -> PlanningProblem:
    """The small menu with two halls of a few racks; a job of 64 accelerators fits one hall, or both.

    A hall holds as many racks of 16 accelerators, less those of its network.
    """
    menu = small_menu()
    hall = replace(menu.hall(HALL), racks=racks, count=1)
    halls, placed, fabrics = [], [], []
    for name, more in zip(PAIR, (0.0, second_usd), strict=True):
        coolings = tuple(replace(c, building_usd=c.building_usd + more) for c in hall.coolings)
        halls.append(replace(hall, id=name, coolings=coolings))
        placed += [replace(p, hall=name) for p in menu.placements if p.system == "a"]
        fabrics += [replace(f, hall=name) for f in menu.fabrics]
    alone = replace(menu.run_options[0], accelerators=64, used=64)
    options, terms = [], []
    for n in range(jobs):
        name = f"job{n}"
        terms.append(replace(menu.jobs[0], id=name))
        own = replace(alone, job=name)
        options += [replace(own, place=hall) for hall in PAIR]
        options += parts(own, name=f"{name}#1")
    link = LinkTerms("campus", PAIR, 1e5, 2e-5, link_usd, 3_000.0, 2.0, 0)
    return replace(
        menu,
        halls=tuple(halls),
        placements=tuple(placed),
        fabrics=tuple(fabrics),
        jobs=tuple(terms),
        run_options=tuple(options),
        demands=(),
        offers=(),
        supply=(),
        orderable=frozenset({"a"}),
        links=(link,),
        finance=replace(menu.finance, budget_usd=None),
    )


def audited(problem: PlanningProblem) -> tuple[Decisions, float]:
    """The audited decisions of the optimum, and their cost in USD."""
    d, usd, _ = planned(problem)
    return d, usd


def broken(problem: PlanningProblem, d: Decisions) -> set[str]:
    books = make_accounts(problem, d)
    return {c.name for c in all_checks(problem, d, books) if not c.holds}


def choices(problem: PlanningProblem) -> Iterable[PlanningProblem]:
    """The problem with one complete run of each job only, for every choice of a job's run."""
    runs: list[list[RunOption]] = []
    for run in problem.run_options:
        if run.part is None:
            runs.append([run])
        elif run.leads:
            runs.append([x for x in problem.run_options if x.part and x.part.run == run.part.run])
    for chosen in runs:
        yield replace(problem, run_options=tuple(chosen))


@pytest.mark.parametrize(
    ("racks", "link_usd", "over"),
    [
        (6, 10_000.0, 1),  # the job fits one hall: one network and one building less
        (4, 10_000.0, 2),  # it fits no hall alone: 4 racks of hardware, and the network takes space
        (4, 900_000.0, 2),
    ],
)
def test_the_plan_spreads_a_run_only_where_that_is_cheapest(
    racks: int, link_usd: float, over: int
) -> None:
    problem = two_halls(racks, link_usd, second_usd=50_000.0)
    d, cost = audited(problem)
    costs = []
    for one in choices(problem):
        outcome, found = optimum(one)
        costs += [outcome.objective] if found is not None else []
    assert costs
    best, _ = optimum(problem)
    assert best.objective == pytest.approx(min(costs), rel=1e-6)
    assert best.bound <= min(costs) * (1 + 1e-6)
    assert len(d.runs) == over
    assert [run.accelerators for run in d.whole_runs] == [64]
    # both ends from the quarter of the run on, or none
    first = d.runs[0].start_month // 3
    ends = {("campus", hall, t) for hall in PAIR for t in range(first, 2)}
    assert set(d.links) == (ends if over > 1 else set())
    assert cost > 0


def test_a_link_costs_its_price_lease_and_power_less_what_is_left() -> None:
    dear, free = two_halls(4, 100_000.0), two_halls(4, 0.0)
    (d, cost), (_, cheap) = audited(dear), audited(free)
    t = min(q for _, _, q in d.links)
    # two ends of 100 kUSD in quarter t, at mid-quarter; the menu keeps 0.7 or 0.9 of it at the end
    left = dear.finance.hardware_residual_frac[t]
    by_hand = 2 * 100_000.0 * (1.1 ** -((t + 0.5) / 4) - left * 1.1**-0.5)
    assert cost - cheap == pytest.approx(by_hand, rel=1e-9)
    lease = [f for f in make_accounts(dear, d).flows if f.line == "links between halls"]
    assert sum(f.usd for f in lease) == pytest.approx(2 * 3_000.0 * len({f.quarter for f in lease}))
    kw = make_accounts(dear, d).halls["s/east", t].rated_kw
    dark = replace(dear, links=(replace(dear.links[0], kw=0.0),))
    assert kw - make_accounts(dark, d).halls["s/east", t].rated_kw == pytest.approx(2.0)


def test_the_audit_finds_a_missing_part_a_dark_link_and_two_runs_on_one_end() -> None:
    problem = two_halls(4, 10_000.0)
    d, _ = audited(problem)
    assert CheckId.PARTS_OF_RUN in broken(problem, dataclasses.replace(d, runs=d.runs[:1]))
    assert CheckId.RUNS_ON_LINK in broken(problem, dataclasses.replace(d, links={}))
    more = parts(replace(problem.run_options[0], job="job0"), name="job0#2")
    twice = dataclasses.replace(d, runs=[*d.runs, *more])
    assert {CheckId.RUNS_ON_LINK, CheckId.JOB_RUNS_ONCE} <= broken(problem, twice)
    dark = {("campus", hall, t): 1 - t for hall in PAIR for t in (0, 1)}
    assert CheckId.LINK_STAYS in broken(problem, dataclasses.replace(d, links=dark))
    late = replace(problem, links=(replace(problem.links[0], first=2),))
    assert CheckId.LINK_BEFORE_LEAD_TIME in broken(late, d)


def test_two_runs_never_share_the_end_of_a_link() -> None:
    # each run needs both halls, and both start in the same month: one link is not enough
    problem = two_halls(10, 10_000.0, jobs=2)
    spread = tuple(x for x in problem.run_options if x.part is not None)
    _, found = optimum(replace(problem, run_options=spread))
    assert found is None
    second = replace(problem.links[0], id="other")
    other = tuple(
        replace(x, part=replace(x.part, links=("other",))) if x.part and x.job == "job1" else x
        for x in spread
    )
    both = replace(problem, run_options=other, links=(problem.links[0], second))
    d, _ = audited(both)
    assert {link for link, _, _ in d.links} == {"campus", "other"}


def test_a_run_without_all_its_parts_is_no_choice() -> None:
    problem = two_halls(4, 10_000.0)
    kept = tuple(x for x in problem.run_options if x.part is None or x.place == "s/west")
    _, found = optimum(replace(problem, run_options=kept))
    assert found is None  # 4 racks of one hall do not hold the run, and half of it is not a run


def test_a_kept_run_over_two_halls_counts_as_no_change() -> None:
    problem = two_halls(5, 10_000.0)
    spread = tuple(x for x in problem.run_options if x.part is not None)
    problem = replace(problem, run_options=spread)
    plain, d = optimum(problem)
    assert d is not None
    wanted, _ = columns_of(problem, to_table(d))
    order = next(key for key in wanted if key.name == BUY.variable)
    more = {**wanted, order: wanted[order] + 1}  # a rack that no work needs
    kept, _ = optimum(replace(problem, earlier=EarlierPlan(more, -1, 0)))
    dropped, _ = optimum(replace(problem, earlier=EarlierPlan(more, -1, 1)))
    # one change drops the rack; none keeps it, although the run keeps both of its parts
    assert dropped.objective == pytest.approx(plain.objective, rel=1e-6)
    assert kept.objective > plain.objective * 1.01


def test_decisions_of_a_spread_run_return_from_their_table() -> None:
    problem = two_halls(4, 10_000.0)
    d, _ = audited(problem)
    wanted, wrong = columns_of(problem, to_table(d))
    assert wrong == []
    runs = {key.ids[0] for key in wanted if key.name == "run"}
    assert [problem.run_options[i] for i in sorted(runs)] == d.runs
