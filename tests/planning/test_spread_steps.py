"""Runs over several halls from a scenario: steps, links, refusals."""

from __future__ import annotations

from pathlib import Path

import pytest

import dcplan
from dcplan.answers.plan.tables.network import span_notes
from dcplan.catalog.loader import load as load_catalog
from dcplan.errors import InputError
from dcplan.inputs.log import InputLog
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.build import build
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.problem.terms.links import LinkTerms
from dcplan.planning.problem.work.spans import spans_of
from dcplan.planning.problem.work.targets import Target
from dcplan.planning.problem.work.terms import RunOption
from dcplan.scenario.load import load
from dcplan.scenario.schema import Job
from tests.planning.small import small_menu

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


def test_the_train_command_of_a_run_names_the_config_from_the_working_folder(
    tmp_path: Path, repo: Path
) -> None:
    config = (repo / "scenarios" / "models" / "moe-2t.json").read_text(encoding="utf-8")
    (tmp_path / "moe.json").write_text(config, encoding="utf-8")
    question = load(written(tmp_path, SCENARIO.replace("model: llama-3.1-405b", "model: moe.json")))
    run = next(x for x in build(question).problem.run_options if x.part and x.leads)
    (note,) = span_notes(Decisions(runs=[run]), question)
    assert f"`dcplan train {tmp_path / 'moe.json'} --system gb200-nvl72 " in note
