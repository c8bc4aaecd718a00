"""Runs over several halls: their parts, the links between them, and the choice to spread or not."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

import dcplan
from dcplan.catalog.loader import load as load_catalog
from dcplan.errors import InputError
from dcplan.inputs.log import InputLog
from dcplan.planning.audit.accounts import make_accounts
from dcplan.planning.audit.checks import all_checks
from dcplan.planning.check_ids import CheckId
from dcplan.planning.decision_specs import BUY
from dcplan.planning.decision_table import columns_of, to_table
from dcplan.planning.decisions import Decisions
from dcplan.planning.goal import EarlierPlan
from dcplan.planning.problem.build import build
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.problem.terms.links import LinkTerms
from dcplan.planning.problem.work.parts import RunPart
from dcplan.planning.problem.work.spans import spans_of
from dcplan.planning.problem.work.targets import Target
from dcplan.planning.problem.work.terms import RunOption
from dcplan.scenario.load import load
from dcplan.scenario.schema import Job
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


SCENARIO = """
dcplan: 1
name: campus
horizon: {start: 2027-Q1, quarters: 6}
sites:
  - id: east
    location: us-ashburn
    utility_mw: 30
    energy: {usd_per_kwh: 0.06}
    halls:
      - {id: h1, racks: 60, rack_kw_max: 140, it_mw: 2, cooling: [direct-liquid-dry-cooler]}
      - {id: h2, racks: 60, rack_kw_max: 140, it_mw: 2, cooling: [direct-liquid-dry-cooler]}
  - id: west
    location: us-phoenix
    utility_mw: 30
    energy: {usd_per_kwh: 0.06}
    halls:
      - {id: h1, racks: 60, rack_kw_max: 140, it_mw: 2, cooling: [direct-liquid-dry-cooler]}
      - {id: h2, racks: 60, rack_kw_max: 140, it_mw: 2, cooling: [direct-liquid-dry-cooler]}
links:
  - {id: campus, joins: [east/h1, east/h2], km: 0.6, gbps: 100000}
  - {id: far-campus, joins: [west/h1, west/h2], km: 0.6, gbps: 100000}
  - {id: coast, joins: [east/h1, west/h1], km: 4200, gbps: 3200, lead_quarters: 1}
systems: [gb200-nvl72]
fabrics: [eth-800]
workloads:
  training:
    - id: base
      model: llama-3.1-405b
      tokens: 4e12
      seq_len: 8192
      global_batch_tokens: 16e6
      precision: [bf16]
      deadline_days: 120
      over: [campus, far-campus, coast]
      local_steps: 50
      extra_tokens_frac: 0.02
"""


def written(folder: Path, text: str = SCENARIO) -> str:
    file = folder / "campus.yaml"
    file.write_text(text)
    return str(file)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> PlanningProblem:
    return build(load(written(tmp_path_factory.mktemp("campus")))).problem


def test_a_step_over_halls_and_sites_has_the_exchanges_by_hand(built: PlanningProblem) -> None:
    options = [x for x in built.run_options + built.later if x.part and x.leads]
    halls = {x.part.places for x in options if x.part}
    assert halls == {
        ("east/h1", "east/h2"),
        ("west/h1", "west/h2"),
        ("east/h1", "west/h1"),
        ("east/h1", "east/h2", "west/h1", "west/h2"),
    }
    four = next(x for x in options if x.parts == 4)
    assert four.part
    inner, outer = four.part.exchange.halls, four.part.exchange.sites
    assert inner
    assert outer
    assert (inner.sites, outer.sites, outer.local_steps) == (2, 2, 50)
    assert four.whole.accelerators == 4 * four.accelerators
    # 4,200 km of fiber: 20.6 ms one way at 4.897 us a km, and the equipment of 53 spans
    assert outer.latency_s == pytest.approx(4200 * 4.897e-6, rel=0.02)
    near = next(x for x in options if x.part and x.part.places == ("east/h1", "east/h2"))
    assert near.part
    assert near.part.links == ("campus",)


def test_a_step_is_that_of_a_hall_and_the_exchanges_by_hand(tmp_path: Path) -> None:
    text = SCENARIO.replace("local_steps: 50", "local_steps: 2")
    problem = build(load(written(tmp_path, text))).problem
    four = next(x for x in problem.run_options if x.parts == 4 and x.leads).whole
    assert four.part
    assert four.part.exchange.sites
    alone = dcplan.train(
        "llama-3.1-405b",
        system="gb200-nvl72",
        accelerators=(four.accelerators - four.spares) // 4,
        tokens=1e12,
        seq_len=8192,
        global_batch_tokens=4e6,
        precision="bf16",
        start="2027-Q1",
        layout=",".join(f"{k}={v}" for k, v in four.layout.items() if v not in (None, "")),
    ).value("train.step_time_s")
    # 405.85 B parameters at 4 B, 2 (n - 1) / n of 1,623.4 GB: between halls at 12.5 TB/s each step,
    # between sites at 400 GB/s every second one, with two latencies of the sites
    between = 1623.4 / 12_500 + (1623.4 / 400 + 2 * four.part.exchange.sites.latency_s) / 2
    assert between == pytest.approx(2.18, abs=0.01)
    assert four.step_time_s == pytest.approx(alone + between, rel=0.01)


def test_train_and_plan_agree_on_a_run_over_two_halls(built: PlanningProblem) -> None:
    run = next(
        x.whole
        for x in built.run_options
        if x.part and x.leads and x.part.places == ("east/h1", "east/h2")
    )
    assert run.part
    assert run.part.exchange.halls
    layout = {k: v for k, v in run.layout.items() if v not in (None, "")}
    answer = dcplan.train(
        "llama-3.1-405b",
        system="gb200-nvl72",
        accelerators=run.accelerators - run.spares,
        tokens=4e12,
        seq_len=8192,
        global_batch_tokens=16e6,
        precision="bf16",
        start="2027-Q1",
        halls=2,
        hall_gbps=run.part.exchange.halls.gbps,
        hall_rtt_ms=2e3 * run.part.exchange.halls.latency_s,
        layout=",".join(f"{k}={v}" for k, v in layout.items()),
    )
    assert answer.value("train.step_time_s") == pytest.approx(run.step_time_s, rel=0.01)
    assert answer.value("train.days_p50") == pytest.approx(run.days_p50, rel=0.01)


def test_extra_tokens_count_only_over_sites(built: PlanningProblem) -> None:
    def steps(x: RunOption) -> float:
        return x.days_p50 * 86400 * x.outlook["goodput_frac"] / x.step_time_s

    near = [x for x in built.run_options if x.part and x.part.exchange.sites is None]
    far = [x for x in built.run_options if x.part and x.part.exchange.sites is not None]
    # 4 T tokens in steps of 16 M are 250,000; a layout may round the batch by up to 10 %
    assert min(map(steps, far)) / max(map(steps, near)) > 1.0
    assert {x.part.exchange.extra_tokens_frac for x in far if x.part} == {0.02}
    assert {x.part.exchange.extra_tokens_frac for x in near if x.part} == {0.0}


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("joins: [east/h1, east/h2]", "joins: [east/h1, east/h3]", "no hall 'east/h3'"),
        ("over: [campus, far-campus, coast]", "over: [campus, coast]", "no training run spreads"),
        ("over: [campus, far-campus, coast]", "over: [campos]", 'did you mean "campus"'),
        ("joins: [east/h1, west/h1]", "joins: [east/h1, west/h1, west/h2]", "one hall of each"),
        ("joins: [east/h1, east/h2]", "joins: [east/h1, east/h1]", "occurs twice"),
        ("local_steps: 50\n", "local_steps: 1\n", "extra_tokens_frac needs local_steps"),
        ("over: [campus, far-campus, coast]", "over: [campus, far-campus]", "counts between sites"),
        ("gbps: 100000}", "gbps: 100000, available_from: 2031-Q1}", "outside the horizon"),
        ("gbps: 100000}", "gbps: 100000, lead_quarters: 6}", "serves after 6 quarters"),
        ("local_steps: 50", "local_steps: 250001", "the run has 250,000 steps"),
        ("local_steps: 50", "local_steps: 50\n      sites: [east]", "where it may not run"),
        (
            "gbps: 100000}",
            "gbps: 100000, usd: 1, usd_per_year: 1, mw: 0.1, rtt_ms: 1, span_km: 80}",
            "span_km has no effect",
        ),
    ],
)
def test_wrong_links_are_named_with_their_place(
    tmp_path: Path, old: str, new: str, words: str
) -> None:
    with pytest.raises(InputError) as caught:
        load(written(tmp_path, SCENARIO.replace(old, new, 1)))
    assert words in str(caught.value)
    assert "campus.yaml:" in str(caught.value)


def test_as_many_local_steps_as_the_run_has_are_allowed(tmp_path: Path) -> None:
    text = SCENARIO.replace("local_steps: 50", "local_steps: 250000")
    job = load(written(tmp_path, text)).scenario.workloads.training[0]
    assert job.local_steps == 250_000


def test_a_link_with_own_values_needs_no_optic_that_reaches(tmp_path: Path) -> None:
    """Three halls over 500 km: no line system joins three, and a quote does not need one."""
    name = "{id: h2, racks: 60, rack_kw_max: 140, it_mw: 2, cooling: [direct-liquid-dry-cooler]}"
    text = SCENARIO.replace(f"- {name}", f"- {name}\n      - {name.replace('h2', 'h3')}", 1)
    text = text.replace(
        "joins: [east/h1, east/h2], km: 0.6", "joins: [east/h1, east/h2, east/h3], km: 500"
    )
    with pytest.raises(InputError, match="joins two places, not 3"):
        build(load(written(tmp_path, text)))
    own = "gbps: 3300, usd: 6e6, usd_per_year: 3e5, mw: 0.03, rtt_ms: 5}"
    link = build(load(written(tmp_path, text.replace("gbps: 100000}", own, 1)))).problem.links[0]
    assert (link.gbps, link.usd, link.usd_per_quarter) == (3300.0, 2e6, 25e3)
    assert (link.kw, link.rtt_s) == (pytest.approx(10.0), pytest.approx(5e-3))


def test_a_batch_too_small_for_its_halls_is_an_excluded_option(tmp_path: Path) -> None:
    text = SCENARIO.replace("global_batch_tokens: 16e6", "global_batch_tokens: 16384")
    problem = build(load(written(tmp_path, text))).problem
    reasons = {x.reason for x in problem.excluded if x.where.count("+") == 3}
    assert reasons == {"global_batch_tokens has less than one sequence for each of its 4 halls"}


def test_a_link_to_a_hall_without_the_system_is_an_excluded_option(tmp_path: Path) -> None:
    """A rack of GB200 has 132 kW; h2 of the east takes 60."""
    near = "{id: h2, racks: 60, rack_kw_max: 140"
    text = SCENARIO.replace(near, near.replace("140", "60"), 1)
    problem = build(load(written(tmp_path, text))).problem
    [found] = [x for x in problem.excluded if "same network link" in x.reason]
    assert (found.id, found.where) == ("base", "east/h1 + east/h2")
    assert not any("campus" in x.part.links for x in problem.run_options if x.part)
    assert any("coast" in x.part.links for x in problem.run_options if x.part)


def test_a_span_takes_neighbors_of_a_link_only() -> None:
    job = Job.model_validate(
        {
            "id": "j",
            "model": "m",
            "precision": ["bf16"],
            "tokens": 1e12,
            "seq_len": 4096,
            "global_batch_tokens": 4e6,
            "over": ["x"],
        }
    )
    ends = tuple(f"a/h{n}" for n in range(4))
    link = LinkTerms("x", ends, 1e5, 1e-5, 0.0, 0.0, 0.0, 0)
    alone = [
        Target(end, "k", "chip", 8, 64, 50.0, small_menu().run_options[0].link) for end in ends
    ]
    found = [t.halls for t in spans_of(job, alone, [link], InputLog(load_catalog()), [])]
    assert len(found) == 6  # 3 pairs, 2 of three halls, 1 of all
    assert ("a/h0", "a/h2") not in found
    assert {len(t) for t in found} == {2, 3, 4}
