"""Queues of jobs in a plan: sizes by brute force, nights, spot, refusals, and a second simulation."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from dcplan.answers.plan.answer import plan
from dcplan.demand.classes import JobClass
from dcplan.demand.simulation import simulate, span_hours
from dcplan.errors import InputError
from dcplan.inputs.log import InputLog
from dcplan.planning.audit.work.queue import queue_states
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.build import build
from dcplan.planning.problem.queue.pools import pools_of
from dcplan.planning.problem.queue.sizing import SEARCH_JOBS, SEED
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.result import Result
from dcplan.scenario.load import load
from tests.demand.plain import Cluster, random_jobs

HEAD = """\
dcplan: 1
name: queue
horizon: {start: 2027-Q1, quarters: 1}
sites:
  - id: ashburn
    location: us-ashburn
    utility_mw: 14
    halls: [{id: h, existing: true, racks: RACKS, rack_kw_max: 12, it_mw: 1, cooling: [air-chiller]}]
systems: [dgx-h200]
fabrics: [ib-ndr-400]
supply: [{system: dgx-h200, lead_quarters: 0}]
"""
MIX = """\
workloads:
  queue:
    - {id: notebooks, accelerators: 0.25, hours: 2, jobs_per_day: 48, wait_h: 0.2, priority: 2}
    - {id: tunes, accelerators: 4, hours: 5, hours_cv: 0.5, jobs_per_day: 24, wait_h: 1, priority: 1}
    - {id: batch, accelerators: 2, hours: 3, jobs_per_day: 24, wait_h: 8, preemptible: true, loss_h: 0.5}
"""
GANGS = """\
workloads:
  queue:
    - {id: small, accelerators: 1, hours: 2, jobs_per_day: 120, wait_h: 2}
    - {id: large, accelerators: 8, hours: 4, hours_cv: 0.5, jobs_per_day: 9, wait_h: 6}
"""
DAY = """\
workloads:
  inference:
    - id: chat
      tokens_per_s: 36000
      tokens_per_s_per_accelerator: {dgx-h200: 1000}
      shape: [0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0.2, 0.2, 0.2, 0.2]
"""
BATCH = (
    "  queue: [{id: batch, accelerators: 2, hours: 3, jobs_per_day: 60, wait_h: 24, loss_h: 0.25, "
    "preemptible: true, any_hours: ANY}]\n"
)


def written(folder: Path, text: str, racks: int = 40) -> Path:
    file = folder / "queue.yaml"
    file.write_text(HEAD.replace("RACKS", str(racks)) + text, encoding="utf-8")
    return file


def problem_of(folder: Path, text: str) -> PlanningProblem:
    return build(load(written(folder, text))).problem


def classes_of(folder: Path, text: str) -> tuple[JobClass, ...]:
    question = load(written(folder, text))
    return pools_of(question, InputLog(question.catalog))[0].quarters[0]


def accelerators(found: Result) -> float:
    value = found.metrics["accelerators.total"].value
    assert isinstance(value, int | float)
    return float(value)


@pytest.mark.slow
@pytest.mark.parametrize("text", [MIX, GANGS])
def test_the_plan_has_the_smallest_number_of_racks_that_keeps_the_targets(
    tmp_path: Path, text: str
) -> None:
    """A rack is one server of 8: 12 kW hold one DGX H200 of 10.2 kW."""
    classes = classes_of(tmp_path, text)
    load_of = sum(c.jobs_per_h * c.hours * c.held for c in classes)
    racks = int(load_of // 8)
    while True:
        found = simulate(classes, 8 * racks, seed=SEED, jobs=SEARCH_JOBS).classes
        if all(x.meets(c) for c, x in zip(classes, found, strict=True)):
            break
        racks += 1
    answer = plan(written(tmp_path, text))
    assert answer.exit_code == 0
    assert accelerators(answer) == 8 * racks
    assert 8 * racks > load_of + 8


def independent(classes: tuple[JobClass, ...], week: list[int]) -> dict[str, tuple[float, float]]:
    """Mean wait and the wait at the quantile of each class in the plain simulation."""
    hours, waits = span_hours(list(classes), 12_000), {c.id: [] for c in classes}
    for seed in range(4):
        jobs = random_jobs(list(classes), hours, seed)
        Cluster(week, fifo=False).run(jobs, hours)
        for job in jobs:
            if 0.15 * hours < job.arrival < 0.9 * hours:
                waits[job.kind.id].append(job.wait)
    return {
        c.id: (float(np.mean(waits[c.id])), float(np.quantile(waits[c.id], c.wait_quantile)))
        for c in classes
    }


@pytest.mark.slow
@pytest.mark.parametrize("text", [MIX, GANGS])
def test_a_second_simulation_finds_the_stated_waits(tmp_path: Path, text: str) -> None:
    """Within 10 %, or three standard errors of the simulation of the plan, and 2 minutes."""
    answer = plan(written(tmp_path, text))
    rows = answer.tables["queue"].rows
    columns = answer.tables["queue"].columns
    stated = [dict(zip(columns, row, strict=True)) for row in rows]
    pool = int(stated[0]["pool_accelerators"] + 1e-6)
    theirs = independent(classes_of(tmp_path, text), [pool])
    for row in stated:
        mean, quantile = theirs[row["class"]]
        room = 0.1 * quantile + 3.0 * row["wait_se_h"] + 1 / 30
        assert abs(row["wait_h"] - quantile) < room, (row, theirs)
        assert abs(row["wait_mean_h"] - mean) < 0.1 * mean + 3.0 * row["wait_se_h"] + 1 / 30
    assert max(x["wait_mean_h"] for x in stated) > 0.3  # the jobs do wait


@pytest.mark.slow
def test_a_queue_at_night_beside_a_service_needs_fewer_accelerators(tmp_path: Path) -> None:
    """The day has 12 of 24 hours at full load, so the mean is 0.6 of the peak: 36 / 0.6 = 60.

    Side by side, 60 and the pool of the queue. At night the service leaves 48: a mean of 24, and
    the queue holds 60 x 3 x 2 / 24 = 15 on average.
    """
    apart = plan(written(tmp_path, DAY + BATCH.replace("ANY", "false")))
    nights = plan(written(tmp_path, DAY + BATCH.replace("ANY", "true")))
    assert apart.exit_code == nights.exit_code == 0
    assert accelerators(nights) == 64  # the service alone, in full servers
    assert accelerators(apart) >= 60 + 15
    wait = nights.metrics["queue.batch.wait_h"].value
    assert isinstance(wait, int | float)
    assert 1.0 < wait <= 24.0
    use = nights.metrics["queue.shared.utilization_frac"].value
    assert isinstance(use, int | float)
    assert 0.4 < use < 0.9


def test_a_wait_shorter_than_the_day_needs_accelerators_in_all_hours(tmp_path: Path) -> None:
    text = DAY + BATCH.replace("ANY", "true").replace("wait_h: 24", "wait_h: 1")
    problem = problem_of(tmp_path, text)
    assert [x.id for x in problem.demands if x.workload_id == "shared"] == ["shared"]
    assert any("accelerators in all hours" in x for x in problem.warnings)


CLOUD = "cloud: {offers: [aws-p5en-48xlarge], terms: [on-demand, spot], max_accelerators: 64}\n"
SPOT = ("cloud:aws-p5en-48xlarge/spot", "h200-sxm")


def test_spot_serves_preemptible_classes_alone(tmp_path: Path) -> None:
    """1 / (1 + reclaims x (wait + loss)) of an instance makes lasting progress."""
    firm = problem_of(tmp_path, MIX + CLOUD).demand("shared")
    assert SPOT not in firm.each
    lines = MIX.splitlines(keepends=True)
    problem = problem_of(tmp_path, "".join([*lines[:2], lines[-1]]) + CLOUD)
    offer = next(x for x in problem.offers if x.term == "spot")
    lost = offer.reclaims_per_instance_h * (offer.wait_h + 0.5)
    assert problem.demand("shared").each[SPOT] == pytest.approx(1.0 / (1.0 + lost), rel=1e-12)
    assert problem.demand("shared").each["cloud:aws-p5en-48xlarge", "h200-sxm"] == 1.0


def test_a_mixed_pool_has_a_part_for_any_hours(tmp_path: Path) -> None:
    """Classes that may wait use what the others leave idle; their own part is the rest."""
    lines = MIX.splitlines(keepends=True)
    batch = (
        lines[-1].replace("wait_h: 8", "wait_h: 24").replace("loss_h", "any_hours: true, loss_h")
    )
    problem = problem_of(tmp_path, DAY + "".join([*lines[1:-1], batch]) + CLOUD)
    ids = [x.id for x in problem.demands if x.workload_id == "shared"]
    assert ids == ["shared", "shared@any", "shared@any.p1", "shared@any.p2"]
    assert SPOT not in problem.demand("shared").each
    assert set(problem.demand("shared@any").each) == {SPOT, (SPOT[0].split("/")[0], SPOT[1])}
    assert set(problem.demand("shared@any.p1").each) == {("ashburn/h", "dgx-h200")}
    firm = problem_of(tmp_path, "".join(lines[:-1]))
    assert problem.demand("shared").wanted == firm.demand("shared").wanted
    whole = problem_of(tmp_path, MIX.replace("wait_h: 8", "wait_h: 24")).demand("shared")
    both = problem.demand("shared").wanted[0] + problem.demand("shared@any").wanted[0]
    assert both >= whole.wanted[0] - 1


def test_pools_that_wait_for_the_same_nights_divide_each_hour(tmp_path: Path) -> None:
    """A solver may give one pool all hours of one period, and another pool those of the next.

    96 accelerators; the service takes 60, 30 and 15 of them in 12, 6 and 6 hours of the day, so 36,
    66 and 81 are left: a mean of 54.75. Pool q1 has period 2, q2 period 3: means of 16.5 and 20.25.
    """
    two = "  queue:\n" + "".join(
        f"    - {{id: b{i}, pool: q{i}, accelerators: 2, hours: 3, jobs_per_day: 40, wait_h: 24, "
        "loss_h: 0.25, preemptible: true, any_hours: true}\n"
        for i in (1, 2)
    )
    shape = "[0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.5, 0.5, 1,"
    day = DAY.replace("[0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 1,", shape).replace(
        "0.2, 0.2, 0.2, 0.2]", "0.5, 0.5, 0.5, 0.5]"
    )
    question = load(written(tmp_path, day + two))
    problem = build(question).problem
    key = next(p.key for p in problem.placements)
    load_of = dict(zip((1, 2, 3), (60.0, 30.0, 15.0), strict=True))
    d = Decisions(ordered={(*key, 0): 12})
    d.serving = {(f"chat@p{p}", *key, 0): x for p, x in load_of.items()}
    d.serving |= {("q1@p2", *key, 0): 66.0, ("q2@p3", *key, 0): 81.0}
    first, second = queue_states(problem, d, question)
    assert first.accelerators + second.accelerators == pytest.approx(54.75)
    assert first.accelerators / second.accelerators == pytest.approx(16.5 / 20.25)
    assert sorted({a + b for a, b in zip(first.week, second.week, strict=True)}) == pytest.approx(
        [36.0, 66.0, 81.0]
    )


def test_a_faster_accelerator_counts_for_more(tmp_path: Path) -> None:
    """With a reference job, an H200 counts by its rate against an H100; without one, it counts 1."""
    text = GANGS.replace("hours: 2,", "hours: 2, reference: {model: llama-3.1-8b, seq_len: 8192},")
    mixed = problem_of(tmp_path, text).demand("shared").each["ashburn/h", "dgx-h200"]
    both = text.replace("hours: 4,", "hours: 4, reference: {model: llama-3.1-8b, seq_len: 8192},")
    alone = problem_of(tmp_path, both).demand("shared").each["ashburn/h", "dgx-h200"]
    # 120 x 2 / 24 = 10 and 9 x 4 x 8 / 24 = 12 accelerators: harmonic mean of the rate and 1
    assert mixed == pytest.approx(22.0 / (10.0 / alone + 12.0), rel=1e-9)
    assert alone > 1.0


def spawn(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "COLUMNS": "200", "NO_COLOR": "1"}
    return subprocess.run(
        [sys.executable, "-m", "dcplan", *arguments],
        capture_output=True,
        text=True,
        cwd=cwd,
        env=environment,
        check=False,
    )


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("accelerators: 0.25", "accelerators: 0.4", "the nearest size is 0.5 (1/2)"),
        ("accelerators: 4", "accelerators: 4.5", "the nearest size is 4"),
        ("hours: 5,", "hours: 5, most_accelerators: 3,", "the smallest quota is 4"),
        ("accelerators: 4", "accelerators: 400", "the largest size is 320"),
        (
            "hours: 5,",
            "hours: 5, most_accelerators: 12,",
            "on average than the quota of their class",
        ),
        ("hours: 5,", "hours: 5, most_accelerators: 24,", "the quota does not keep the wait"),
        ("id: batch", "id: tunes", "the id 'tunes' occurs twice"),
        ("preemptible: true", "any_hours: true", "any_hours needs preemptible"),
        ("preemptible: true", "priority: 0", "loss_h needs preemptible"),
        ("wait_h: 1,", "wait_h: 1, usd_per_unmet_quarter: 9,", "notebooks, batch has none"),
    ],
)
def test_a_class_that_cannot_be_packed_is_refused(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    assert old in MIX
    written(tmp_path, MIX.replace(old, new))
    ran = spawn("plan", "queue.yaml", "-q", cwd=tmp_path)
    assert ran.returncode == 2, ran.stdout + ran.stderr
    assert said in ran.stderr
    if "most_accelerators: 12" in new or "most_accelerators: 24" in new:
        assert "a quota of " in ran.stderr


def test_a_pool_larger_than_all_supply_is_no_plan(tmp_path: Path) -> None:
    answer = plan(written(tmp_path, MIX, racks=2))
    assert answer.exit_code == 3
    assert "shared: " in answer.headline
    assert "accelerators of the queue required in 2027-Q1" in answer.headline


def test_two_workloads_may_not_share_an_id(tmp_path: Path) -> None:
    text = DAY + BATCH.replace("ANY", "true").replace("{id: batch", "{pool: chat, id: batch")
    with pytest.raises(InputError, match="has the id of another workload"):
        load(written(tmp_path, text))
